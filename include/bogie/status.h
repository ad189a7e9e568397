/* Outcomes of calls: one list of codes, and an error that carries a sentence.
 *
 *   = 0   done
 *   > 0   a numerical outcome: the same from another point, a smaller step say, may succeed; or a
 *         stop on request. A run has tried that: bg_run returns no other of these than BG_STOPPED
 *   < 0   the call failed, and would again
 *
 * Time and state are then those before the call, but for a stop, which is an end like any other.
 * A caller's bug (a null handle, a negative length) is an assert, never a status.
 */
#ifndef BOGIE_STATUS_H
#define BOGIE_STATUS_H

#include "bogie/api.h"

BG_API_BEGIN

#define BG_STATUS_LIST(X)                                                         \
    X(BG_OK, 0, "done")                                                           \
    X(BG_STOPPED, 1, "stopped on request before the end")                         \
    X(BG_RETRY, 2, "not computable here; a smaller step may help")                \
    X(BG_NOT_FINITE, 3, "a system function returned a number that is not finite") \
    X(BG_SINGULAR, 4, "the matrix [M G'; G 0] is singular")                       \
    X(BG_NOT_CONVERGED, 5, "an iteration did not converge")                       \
    X(BG_BAD_INPUT, -1, "the input is not usable")                                \
    X(BG_NO_MEMORY, -2, "out of memory")                                          \
    X(BG_MISSING, -3, "the system does not supply a function the method needs")   \
    X(BG_NOT_ASSEMBLED, -6, "no consistent start was found")                      \
    X(BG_CONTRADICTORY, -7, "constraints contradict each other")                  \
    X(BG_REDUNDANT, -8, "constraints are redundant")                              \
    X(BG_STEP_TOO_SMALL, -9, "the step fell below its minimum")                   \
    X(BG_TOO_MANY_STEPS, -10, "the step limit was reached")                       \
    X(BG_SYSTEM_FAILED, -11, "a system function reported failure")                \
    X(BG_EVENT_STUCK, -12, "an event repeats without time advancing")             \
    X(BG_IO, -13, "a file could not be read or written")                          \
    X(BG_BROKE_DOWN, -14, "the run came to a point from which it cannot go on")

typedef enum bg_status {
#define BG_STATUS_ENUM(name, value, text) name = value,
    BG_STATUS_LIST(BG_STATUS_ENUM)
#undef BG_STATUS_ENUM
} bg_status;

/* The name of a status, e.g. "BG_SINGULAR", and its one-line meaning. Never NULL. */
const char *bg_status_name(bg_status status);
const char *bg_status_text(bg_status status);

#define BG_ERROR_LENGTH 1024

/* Why a call failed: one sentence that names the thing, the place and the remedy. */
typedef struct bg_error {
    bg_status status;
    char text[BG_ERROR_LENGTH];
} bg_error;

/* Writes a formatted sentence into err (which may be NULL) and returns status, so that a function
 * can end with `return bg_error_set(err, BG_BAD_INPUT, "...", ...)`. Too long text is cut, control
 * characters become blanks. */
bg_status bg_error_set(bg_error *err, bg_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

BG_API_END
#endif
