/* What the verb `stability` measures of a method, and its pictures. */
#ifndef BG_CLI_STABILITY_H
#define BG_CLI_STABILITY_H

#include "figure/figure.h"
#include "integrators/stability.h"

enum { BG_STABILITY_MAX = 6, BG_STABILITY_PAIRS = 25, BG_STABILITY_SPANS = 8 };

typedef struct bg_stability_limit {
    double a, b;               /* 1/s^2, 1/s */
    double expected, measured; /* s; HUGE_VAL: any step, NAN: unknown */
    double difference;         /* relative */
} bg_stability_limit;

typedef struct bg_stability_view {
    char name[64];
    bg_stability_method method;
    bg_stability_limit limits[BG_STABILITY_PAIRS];
    double worst;                       /* largest difference */
    bg_region coefficients;             /* in the plane of h^2 a and h b */
    bg_region eigenvalues;              /* h times a pair of complex eigenvalues */
    double real[BG_STABILITY_SPANS][2]; /* spans of real eigenvalues with a stable partner */
    int nreal;
} bg_stability_view;

/* The regions of a method whose `method` is set. */
bg_status bg_stability_trace(bg_stability_view *view, bg_error *err);
void bg_stability_view_clear(bg_stability_view *view);
bg_status bg_stability_draw(const bg_stability_view *views, int n, const char *path, bg_error *err);
/* Regions of the plane of h times an eigenvalue beside each other, with a line below each name. */
typedef struct bg_plane_view {
    char name[128], text[64];
    bg_region region;
} bg_plane_view;
bg_status bg_stability_draw_plane(const bg_plane_view *views, int n, const bg_window *window,
                                  const char *path, bg_error *err);

/* Whether a method is prk or one of its pairs, whose two tableaus have a region each (004 Fig. 1):
 * then prints their intervals, and draws both as path.svg unless that is NULL. */
bool bg_stability_has_pair(const char *integrator);
bg_status bg_stability_show_pair(const bg_stability_method *method, const char *path,
                                 bg_error *err);

bg_status bg_stability_write_page(const bg_stability_view *views, int n, const char *path,
                                  bg_error *err);

#endif
