/* One instance of an FMU, the same for both versions of the standard. The skins (skin/) translate
 * its types, and say in a table in which phase each of their functions may be called.
 *
 * Nothing is global: any number of instances live in one process, each in one thread at a time. It
 * tells through the logger of whoever imports it, and never ends or prints. */
#ifndef BG_FMI_INSTANCE_H
#define BG_FMI_INSTANCE_H

#include "bogie/status.h"

#include <stdbool.h>
#include <stddef.h>

/* As both standards number them. */
typedef enum bg_fmi_status {
    BG_FMI_OK,
    BG_FMI_WARNING,
    BG_FMI_DISCARD,
    BG_FMI_ERROR,
    BG_FMI_FATAL
} bg_fmi_status;

/* Phases of an instance, as bits for tables. */
typedef enum bg_fmi_phase {
    BG_FMI_INSTANTIATED = 1 << 0,
    BG_FMI_INITIALISING = 1 << 1,
    BG_FMI_STEPPING = 1 << 2,
    BG_FMI_STOPPED = 1 << 3, /* a step was not made to its end: only a saved state leads on */
    BG_FMI_FAILED = 1 << 4,  /* by an error */
    BG_FMI_TERMINATED = 1 << 5,
    BG_FMI_ANY = (1 << 6) - 1
} bg_fmi_phase;

/* A function of the interface, and in which phases it may be called. */
typedef struct bg_fmi_entry {
    const char *name;
    unsigned phases;
} bg_fmi_entry;

/* Whom an instance tells: the status that comes with it, and a category of bg_fmi_category_name. */
typedef struct bg_fmi_host {
    void (*log)(void *self, const char *instance, bg_fmi_status status, const char *category,
                const char *text);
    void *self;
    int version; /* 2: a step that is not made to its end is discarded; 3: it is an error */
} bg_fmi_host;

typedef enum bg_fmi_category {
    BG_FMI_LOG_EVENTS,
    BG_FMI_LOG_STATUS,
    BG_FMI_CATEGORIES
} bg_fmi_category;
/* The category of a message, by its status: logEvents, logStatusWarning, ... */
const char *bg_fmi_category_get_name(bg_fmi_status status);

typedef struct bg_fmi_instance bg_fmi_instance;

/* From the resources in a folder. NULL: the host was told why. */
bg_fmi_instance *bg_fmi_instance_create(const char *name, const char *token, const char *folder,
                                        bool logging, const bg_fmi_host *host);
void bg_fmi_instance_destroy(bg_fmi_instance *x);

/* Whether a function may be called now; tells where not, and where the instance is NULL does
 * nothing. */
bool bg_fmi_instance_check(bg_fmi_instance *x, const bg_fmi_entry *entry);
/* Tells, and returns the status; after an error the instance is of no further use but for what the
 * standards allow. */
bg_fmi_status bg_fmi_instance_tell(bg_fmi_instance *x, bg_fmi_status status, const char *format,
                                   ...) __attribute__((format(printf, 3, 4)));
/* Errors are always told. Version 2: so is what else is not OK, unless categories are named that
 * leave it out, and events where logging is on. Version 3: what logging is on for; categories are
 * switched one by one, all where none is named. */
void bg_fmi_instance_set_logging(bg_fmi_instance *x, bool on, const char *const *categories,
                                 size_t n);

/* NULL: not defined. */
bg_fmi_status bg_fmi_instance_set_experiment(bg_fmi_instance *x, const double *tolerance,
                                             double t_start, const double *t_stop);
bg_fmi_status bg_fmi_instance_enter_initialisation(bg_fmi_instance *x);
bg_fmi_status bg_fmi_instance_exit_initialisation(bg_fmi_instance *x);
bg_fmi_status bg_fmi_instance_terminate(bg_fmi_instance *x);
bg_fmi_status bg_fmi_instance_reset(bg_fmi_instance *x);

/* All values are checked before the first is taken. */
bg_fmi_status bg_fmi_instance_get(bg_fmi_instance *x, const unsigned *references, size_t n,
                                  double *values);
bg_fmi_status bg_fmi_instance_set(bg_fmi_instance *x, const unsigned *references, size_t n,
                                  const double *values);
/* Time derivatives of inputs from now on, until they are set again. */
bg_fmi_status bg_fmi_instance_set_rates(bg_fmi_instance *x, const unsigned *references, size_t n,
                                        const int *orders, const double *rates);

/* How a step ended. */
typedef struct bg_fmi_step {
    double t;   /* s, the last time that was reached */
    bool ended; /* an event has ended the motion there */
    bool made;  /* the time is not the one before: of a step that was not made to its end */
} bg_fmi_step;
/* From t over h. OK, where an event ends the motion, too; DISCARD: it was refused, or could not be
 * made to its end (`made`, the instance is then at step->t and STOPPED); ERROR. */
bg_fmi_status bg_fmi_instance_step(bg_fmi_instance *x, double t, double h, bg_fmi_step *step);
double bg_fmi_instance_get_time(const bg_fmi_instance *x);
bool bg_fmi_instance_has_ended(const bg_fmi_instance *x);
bg_fmi_phase bg_fmi_instance_get_phase(const bg_fmi_instance *x);
void bg_fmi_instance_set_phase(bg_fmi_instance *x, bg_fmi_phase phase);

/* Sensitivities of unknowns (outputs) to knowns (inputs), times the seed. */
bg_fmi_status bg_fmi_instance_calc_sensitivity(bg_fmi_instance *x, const unsigned *unknowns,
                                               size_t nunknowns, const unsigned *knowns,
                                               size_t nknowns, const double *seed, double *result);

/* A saved state: everything, phase and parameters, too. */
typedef struct bg_fmi_state bg_fmi_state;
/* *state NULL: a new one, else it is written over. */
bg_fmi_status bg_fmi_instance_save(bg_fmi_instance *x, bg_fmi_state **state);
bg_fmi_status bg_fmi_instance_restore(bg_fmi_instance *x, const bg_fmi_state *state);
void bg_fmi_state_destroy(bg_fmi_state *state);
/* As bytes, which know which FMU and which machine they are of. */
size_t bg_fmi_state_get_size(const bg_fmi_state *state);
void bg_fmi_state_serialise(const bg_fmi_instance *x, const bg_fmi_state *state, void *bytes);
bg_fmi_status bg_fmi_instance_deserialise(bg_fmi_instance *x, const void *bytes, size_t size,
                                          bg_fmi_state **state);

#endif
