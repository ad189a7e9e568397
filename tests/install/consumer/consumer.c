/* A program of someone else: nothing but the installed headers and library. Runs the pendulum and
 * fails unless it ends where it should, on its constraint. */
#include <bogie/bogie.h>

#include <stdio.h>

int main(void)
{
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem;
    bg_error err = {0};
    def.reference = "equations:pendulum";
    def.t_end = 1.0;
    if (bg_problem_create(&def, &problem, &err)) {
        fprintf(stderr, "consumer: %s\n", err.text);
        return 1;
    }
    bg_run_options options = bg_problem_get_run_options(problem);
    bg_run_report report;
    bg_status status = bg_run(bg_problem_get_system(problem), &options, &report, &err);
    int good = status == BG_OK && report.final->t == 1.0 && report.counters.accepted > 0 &&
               report.certificate.max_g < 1e-6;
    if (good)
        printf("bogie %s reached t = %g s in %ld steps, |g| <= %.1e\n", BG_VERSION, report.final->t,
               report.counters.accepted, report.certificate.max_g);
    else
        fprintf(stderr, "consumer: %s\n", status ? err.text : "the run ended in the wrong place");
    bg_run_report_clear(&report);
    bg_problem_destroy(problem);
    return good ? 0 : 1;
}
