/* What a user should know although nothing failed, and the verdict it leads to.
 *
 * Whoever notices something adds a sentence: the reader of a model file and the check of the model
 * to the system made of it, assembly to its report, a run to its own. A run gathers them all; the
 * worst of them is the verdict on its result (run.h). */
#ifndef BOGIE_WARNING_H
#define BOGIE_WARNING_H

#include "bogie/status.h"

BG_API_BEGIN

typedef enum bg_verdict {
    BG_GOOD = 0,     /* of a warning: a remark that casts no doubt on the result */
    BG_DOUBTFUL = 1, /* the result may not be what the user believes it to be */
    BG_BAD = 2       /* there is no result, or it is contradicted */
} bg_verdict;

/* "good", "doubtful" or "bad". */
const char *bg_verdict_get_name(bg_verdict verdict);

enum { BG_WARNING_LENGTH = 768, BG_TOPIC_LENGTH = 24 };

typedef struct bg_warning {
    bg_verdict verdict;
    char topic[BG_TOPIC_LENGTH]; /* what it is about, one word: "energy", "start", "parameter" */
    char text[BG_WARNING_LENGTH];
} bg_warning;

/* A list; zeros are an empty one. */
typedef struct bg_warnings {
    bg_warning *items; /* [count] */
    int count, capacity;
    int lost; /* not kept for want of memory */
} bg_warnings;

/* Adds a formatted sentence that names the thing and the remedy; control characters become blanks.
 * A sentence that is there already is not added again. Allocates, so not for steps. list may be
 * NULL. */
void bg_warnings_add(bg_warnings *list, bg_verdict verdict, const char *topic, const char *format,
                     ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
/* Adds all of another list. */
void bg_warnings_append(bg_warnings *list, const bg_warnings *more);
/* The worst verdict among them; BG_GOOD for an empty list. The first warning that gives it, NULL
 * where it is good, goes to *reason, which may be NULL. */
bg_verdict bg_warnings_judge(const bg_warnings *list, const bg_warning **reason);
void bg_warnings_clear(bg_warnings *list);

BG_API_END
#endif
