/* A study: variants of models times metrics, made into one table (docs/study.md).
 *
 *   bg_study      what the file says, read and checked; constant afterwards
 *   case k        one run: list entry x grid point x random draw, all found from k alone
 *   bg_record     what one case gave: its metrics and the curves that plots want
 *   bg_table      the records of all cases, and the columns that follow from several of them
 *
 * Cases run in worker processes (crew.h); who runs which case, and in which order, does not matter
 * for the table. */
#ifndef BG_STUDY_H
#define BG_STUDY_H

#include "bogie/run.h"
#include "bogie/study.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum bg_metric_kind {
    BG_METRIC_SUMMARY,     /* a field of the summary */
    BG_METRIC_ERROR,       /* against a reference */
    BG_METRIC_DRIFT,       /* residual of the constraints over time */
    BG_METRIC_OUTPUT,      /* maximum, minimum, ... of an output */
    BG_METRIC_EVENT,       /* time of an event, or their number */
    BG_METRIC_STABLE_STEP, /* largest stable fixed step */
    BG_METRIC_ORDER,       /* slope of another metric over a ladder: from several cases */
    BG_METRIC_RATIO,       /* another metric relative to a named variant: from several cases */
    BG_METRIC_GROUP        /* median, ... of another metric over cases that differ in a setting */
} bg_metric_kind;

typedef enum bg_take {
    BG_TAKE_MAX,
    BG_TAKE_MIN,
    BG_TAKE_END,
    BG_TAKE_RMS,
    BG_TAKE_MEAN,
    BG_TAKE_RANGE,
    BG_TAKE_RATE,
    BG_TAKE_TIME,
    BG_TAKE_COUNT,
    BG_TAKE_MEDIAN
} bg_take;

/* Names of quantities of a row: outputs by name, "q:NAME", "v:NAME", "q:*", ... */
typedef struct bg_names {
    const char **items; /* belong to the study's JSON */
    int count;
} bg_names;

typedef struct bg_metric {
    bg_metric_kind kind;
    const char *key, *label, *unit;
    bool timing; /* depends on the machine */
    bg_take take;
    const char *path;  /* SUMMARY */
    bg_names names;    /* ERROR, OUTPUT */
    int reference;     /* ERROR: which; -1: that of the variant */
    bool relative;     /* ERROR: divided by the norm of the reference */
    bool euclidean;    /* ERROR, DRIFT: 2-norm instead of the largest entry */
    char residual;     /* DRIFT: 'g' position, 'v' velocity level */
    bool at_steps;     /* DRIFT: as the method left it after each step, instead of on rows */
    const char *event; /* EVENT: name, NULL: any */
    int number;        /* EVENT: 1 first, 2 second, ..., -1 last */
    int direction;     /* EVENT: +1, -1, 0: any */
    double from, to;   /* STABLE_STEP: s; ERROR, DRIFT, OUTPUT: times between which rows count, s */
    double accuracy;   /* STABLE_STEP: relative width at which the bisection ends */
    int *limited;      /* STABLE_STEP: [nlimits] metrics ... */
    double *limits;    /* ... and the largest size they may have */
    int nlimits;
    int of;             /* ORDER, RATIO, GROUP: metric */
    int by;             /* RATIO: metric of the same case to divide by; -1: none */
    const char *over;   /* ORDER: setting, or key of a metric */
    double floor;       /* ORDER: smaller values are rounding and do not count ... */
    double ceiling;     /* ... and larger ones are not in the range of the slope */
    int last;           /* ORDER: so many of the lowest rungs count; 0: all */
    bool local;         /* ORDER: slope from the neighbour instead of a fit over the ladder */
    bg_names differing; /* GROUP: settings in which its cases differ */
    const json_t *base; /* RATIO: name of a variant, or settings that lead to it */
} bg_metric;

/* Limits: references of a study, and runs whose samples a worker keeps (so many a case may need).
 */
enum { BG_MAX_REFERENCES = 64, BG_SLOTS = 16 };

typedef enum bg_reference_kind {
    BG_REFERENCE_VALUES, /* at the end of the run */
    BG_REFERENCE_FILE,   /* a trajectory from a CSV file */
    BG_REFERENCE_VARIANT /* a run of its own */
} bg_reference_kind;

/* Samples of some quantities over time. */
typedef struct bg_trajectory {
    long rows, capacity;
    int width;
    double *t; /* [rows] s, ascending */
    double *y; /* [rows x width] */
} bg_trajectory;

typedef struct bg_reference {
    bg_reference_kind kind;
    const char *name;
    int points;             /* of the interpolation in time */
    const json_t *settings; /* VARIANT: over those of the case */
    bg_names names;         /* VALUES, FILE: its columns */
    double *values;         /* VALUES */
    bg_trajectory file;     /* FILE */
    char **columns;         /* FILE: storage of names */
} bg_reference;

/* One key of a random draw. */
typedef enum bg_distribution { BG_UNIFORM, BG_NORMAL, BG_LOGNORMAL } bg_distribution;
typedef struct bg_draw {
    const char *key;
    bg_distribution distribution;
    double a, b; /* limits; mean and deviation; median and deviation of the logarithm */
} bg_draw;

typedef struct bg_plot_curve { /* what a plot wants from every case over time */
    const char *name;          /* a quantity; "|g|" or "|Gv|": residuals */
    int points;
} bg_plot_curve;

/* The models of a study, read once (sources.c). */
typedef struct bg_sources bg_sources;

struct bg_study {
    char *path, *folder; /* of the file; folder ends with '/' or is empty */
    char *name, *title, *text;
    json_t *root;
    const json_t *base; /* settings, may be NULL */
    const json_t *list; /* array of settings with "name", or NULL */
    json_t *grid;       /* object: key -> array of values, or NULL */
    bg_draw *draws;
    int ndraws;
    long nlist, ngrid, nrandom; /* at least 1 each */
    uint64_t seed;
    long ncases;
    bg_metric *metrics;
    int nmetrics;
    bg_reference *references;
    int nreferences;
    bg_plot_curve *curves;
    int ncurves;
    const json_t *plots, *paper;
    const json_t *show; /* settings of the cases that the table lists; NULL: all */
    int repetitions;
    double time_limit; /* s of wall time per case; 0: none */
    bool timing;       /* there are metrics that depend on the machine */
    uint64_t hash;     /* of the study, its models, and the program's version */
    bg_sources *sources;
};

/* Indices of case k. */
typedef struct bg_case {
    long list, grid, draw;
} bg_case;
bg_case bg_study_find_case(const bg_study *study, long k);
/* The settings of case k, a new flat object; NULL: out of memory. */
json_t *bg_study_make_settings(const bg_study *study, long k);
/* "variant, tol=1e-06, #12"; to be released with free(). */
char *bg_study_make_name(const bg_study *study, long k);
/* The reference a metric of case k is measured against: an index. */
int bg_study_find_reference(const bg_study *study, const bg_metric *metric, long k);
/* Whether the metric comes from one case alone. */
bool bg_metric_is_own(const bg_metric *metric);
/* Whether a metric is a column: timing may be left out. */
bool bg_study_shows(const bg_study *study, int metric);
/* Whether case k is a row of the table, by `show`. */
bool bg_study_lists(const bg_study *study, long k);
/* Numbers the groups of cases that differ in nothing but the settings `without` ("draws": all that
 * are drawn): of[k] is the group of case k. Returns their number; -1: out of memory. */
int bg_study_find_groups(const bg_study *study, bg_names without, int *of);
/* Path of a file that the study names, relative to the study file. To be released with free(). */
char *bg_study_make_path(const bg_study *study, const char *name);
/* Puts the members of `from` into `into`; null removes. False: out of memory. */
bool bg_settings_merge(json_t *into, const json_t *from);

/* The value of a draw in case k: depends on seed, k and the key alone. */
double bg_draw_calc(const bg_draw *draw, uint64_t seed, uint64_t k);
/* Philox 4x32 with ten rounds (Salmon et al. 2011). */
void bg_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
uint64_t bg_hash_bytes(uint64_t hash, const void *data, size_t n); /* FNV-1a; start with 0 */
uint32_t bg_crc32(const void *data, size_t n);

bool bg_trajectory_add(bg_trajectory *tr, double t, const double *y); /* false: out of memory */
/* Interpolation in time through so many points (four in 002 section 6.2) of all columns. */
void bg_trajectory_interpolate(const bg_trajectory *tr, double t, int points, double *y);
void bg_trajectory_clear(bg_trajectory *tr);
bg_status bg_trajectory_read_csv(const char *path, bg_trajectory *tr, char ***columns, int *count,
                                 bg_error *err);

/* One entry of the table. */
typedef struct bg_cell {
    enum { BG_CELL_NONE, BG_CELL_INTEGER, BG_CELL_REAL, BG_CELL_TEXT } kind;
    long long i;
    double x;
    char *text;
} bg_cell;

/* What a case gave. */
typedef struct bg_record {
    long number; /* of the case */
    bool done, ok;
    char *reason;          /* of a failure */
    bg_cell *cells;        /* [nmetrics] */
    bg_trajectory *curves; /* [ncurves], width 1; NULL: none */
} bg_record;

bg_status bg_record_create(const bg_study *study, long k, bg_record *record);
void bg_record_clear(const bg_study *study, bg_record *record);
void bg_record_fail(bg_record *record, const char *reason);
/* One line of JSON without line break, to be released with free(); and back. */
char *bg_record_encode(const bg_study *study, const bg_record *record);
bool bg_record_decode(const bg_study *study, const char *text, size_t length, bg_record *record);
bg_cell bg_cell_from_number(double x); /* NONE where not finite */
bg_cell bg_cell_from_json(const json_t *json);
json_t *bg_cell_to_json(const bg_cell *cell);
double bg_cell_get_number(const bg_cell *cell); /* NAN: none */

struct bg_table {
    const bg_study *study;
    bg_record *rows; /* [ncases] */
};

bg_status bg_table_create(const bg_study *study, bg_table **table, bg_error *err);
/* The columns that follow from several cases: orders, ratios, groups. */
bg_status bg_table_derive(bg_table *table, bg_error *err);
bool bg_table_derive_group(bg_table *table, int column); /* false: out of memory */
/* The STUDY object of docs/study.md; NULL: out of memory. */
json_t *bg_table_make_json(const bg_table *table);
/* The slope of log y over log x through n points by least squares; NAN: fewer than two. */
double bg_slope_calc(const double *x, const double *y, int n);

#endif
