/* A run that somebody else's clock leads: it goes on to one time after another, with inputs that
 * may be others from each of them on, and can be saved and restored anywhere.
 *
 * Steps are those that `bg_run` would make, and a time is reached by dense output, so that the
 * method keeps its steps and its history however close together times lie. What lies behind the
 * present time was computed with inputs as they are now. Where others come after all, that step is
 * given up and ends at the present time, so nothing depends on what inputs will be; as long as they
 * keep changing, steps end at the times asked for from the start. */
#ifndef BG_SESSION_H
#define BG_SESSION_H

#include "base/archive.h"
#include "bogie/run.h"

#include <stdbool.h>

typedef struct bg_session bg_session;

/* Everything but the start. The system must outlive it, and what the options point to. t_end is
 * where the session ends at the latest; where `open` is set it only says how long it may be, and
 * moves on. Of the options, resuming, checkpoints, rows and comparisons are of no meaning. */
bg_status bg_session_create(const bg_system *system, const bg_run_options *options, bool open,
                            bg_session **session, bg_error *err);
void bg_session_destroy(bg_session *session);

/* Input i is value + rate (t - now) from the present time on; before the start, from the start on.
 * Takes effect there, or with the next advance. The values must be finite. */
void bg_session_set_input(bg_session *session, int i, double value, double rate);

/* The consistent start, and the events there. */
bg_status bg_session_start(bg_session *session, bg_error *err);
/* Goes on to t, which lies ahead. *ended: an event has ended the motion, at the present time. A
 * failure leaves it at the last time that was reached. */
bg_status bg_session_advance(bg_session *session, double t, bool *ended, bg_error *err);

/* All of the present time. y [ny] are outputs. */
double bg_session_get_time(const bg_session *session);
const double *bg_session_get_outputs(const bg_session *session);
const bg_state *bg_session_get_state(const bg_session *session);
double bg_session_get_input(bg_session *session, int i); /* NAN: it cannot be evaluated */
/* What was noticed at the start, and the work done so far. */
const bg_run_report *bg_session_get_report(const bg_session *session);
bg_counters bg_session_get_counters(const bg_session *session);
/* Events of the last advance, or of the start. */
long bg_session_get_events(const bg_session *session, const bg_event **events);

/* dy [ny] <- how outputs change where inputs alone jump by du [nu] at the present time: what
 * follows them as it would, accelerations and multipliers by the equations, linearised. *moves:
 * bodies do follow, so that a start with other inputs may be another one. Makes what it needs at
 * the first call. */
bg_status bg_session_calc_sensitivity(bg_session *session, const double *du, double *dy,
                                      bool *moves, bg_error *err);
/* Whether that needs no differences of the equations. */
bool bg_session_is_exact(const bg_system *system);

/* Saves a session that has started, or loads one into a session that has not. Bit by bit: both go
 * on alike. After a failure to load the session can only be destroyed. */
bg_status bg_session_archive(bg_session *session, bg_archive *archive, bg_error *err);

#endif
