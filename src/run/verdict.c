/* The verdict on a run: good, doubtful or bad, with the reasons.
 *
 * A run that failed is bad. One that reached its end is bad where its own books contradict it: an
 * energy error as large as the energies. It is doubtful where something was noticed that the user
 * may not be aware of. */
#include "run/verdict.h"

#include <math.h>

static void judge_end(bg_run_report *r)
{
    if (r->status == BG_STOPPED)
        bg_warnings_add(&r->warnings, BG_DOUBTFUL, "end",
                        "the run was stopped on request before its end");
    else if (r->status != BG_OK)
        bg_warnings_add(&r->warnings, BG_BAD, "end", "the run ended early: %s",
                        r->message[0] ? r->message : bg_status_text(r->status));
}

void bg_verdict_update(const bg_system *system, const bg_run_options *options,
                       bg_run_report *report)
{
    (void)options;
    judge_end(report);
    bg_warnings_append(&report->warnings, bg_system_get_warnings(system));
    bg_warnings_append(&report->warnings, &report->assembly.warnings);
    report->verdict = bg_warnings_judge(&report->warnings, NULL);
}
