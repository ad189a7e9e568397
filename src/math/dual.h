/* Numbers with derivatives: x and its gradient by up to BG_DUAL_MAX variables, of which the first n
 * are used (n = 0: values alone). Sums and products carry them along exactly, and are put where
 * they are asked for: a copy of a number takes longer than most of them. */
#ifndef BG_DUAL_H
#define BG_DUAL_H

enum { BG_DUAL_MAX = 25 };

typedef struct bg_dual {
    double x;
    int n;
    double d[BG_DUAL_MAX];
} bg_dual;

static inline void bg_dual_set(int n, double x, bg_dual *y)
{
    y->x = x;
    y->n = n;
    for (int i = 0; i < n; i++)
        y->d[i] = 0;
}

/* f(a) where f and its slope at a are known. */
static inline void bg_dual_chain(const bg_dual *a, double f, double slope, bg_dual *y)
{
    y->x = f;
    y->n = a->n;
    for (int i = 0; i < a->n; i++)
        y->d[i] = slope * a->d[i];
}

/* p a + q b */
static inline void bg_dual_combine(double p, const bg_dual *a, double q, const bg_dual *b,
                                   bg_dual *y)
{
    y->x = p * a->x + q * b->x;
    y->n = a->n;
    for (int i = 0; i < a->n; i++)
        y->d[i] = p * a->d[i] + q * b->d[i];
}

/* a b; y is neither. */
static inline void bg_dual_multiply(const bg_dual *a, const bg_dual *b, bg_dual *y)
{
    y->x = a->x * b->x;
    y->n = a->n;
    for (int i = 0; i < a->n; i++)
        y->d[i] = a->x * b->d[i] + b->x * a->d[i];
}

static inline void bg_dual_scale(double f, const bg_dual *a, bg_dual *y)
{
    bg_dual_chain(a, f * a->x, f, y);
}

#endif
