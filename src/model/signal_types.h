/* What a kind of signal fills in, and what kinds share. */
#ifndef BG_SIGNAL_TYPES_H
#define BG_SIGNAL_TYPES_H

#include "model/signal.h"

typedef struct bg_signal_type {
    bg_status (*prepare)(bg_signal *s, bg_error *err);
    void (*calc)(const bg_signal *s, int piece, double t, double *out);
    int (*count_corners)(const bg_signal *s);
    double (*get_corner)(const bg_signal *s, int k); /* NULL: none, or elsewhere */
} bg_signal_type;

extern const bg_signal_type bg_signal_linear, bg_signal_spline; /* signal_tables.c */

const char *bg_signal_get_name(const bg_signal *s);
bg_status bg_signal_check_finite(const bg_signal *s, const char *what, double x, bg_error *err);
int bg_signal_count_none(const bg_signal *s);

static inline void bg_signal_set(double *out, double u, double u_t, double u_tt)
{
    out[0] = u;
    out[1] = u_t;
    out[2] = u_tt;
}

#endif
