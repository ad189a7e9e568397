/* The pairs that Bogie knows by name.
 *
 * prk25 to prk38 are members of the closed family (prk_pair.c) for these polynomials R, whose
 * intervals on the imaginary axis follow from |R(iy)|^2 - 1, u = y^2:
 *     s = 5   beta_3.. = 3/16 1/32 1/128                       u^2 (u - 16)(u - 8)^2/16384
 *     s = 6   1/6 1/24 1/180 1/1080                            u^3 (u - 24)(u - 15)^2/1166400
 *     s = 7   19/108 1/27 2/243 1/1458 1/8748                  u^2 (u - 36)(u - 27)^2(u -
 * 9)^2/76527504 s = 8   1/6 1/24 1/144 1/864 1/12096 1/96768             u^3 (u - 48)(u^2 - 56 u +
 * 672)^2/9364045824 The third-order polynomial of prk35 has beta_4 = 0.03226178602409053 and beta_5
 * = 0.006164814281607056. prk48 was found numerically; its digits are checked by its 72 order
 * conditions. prk25-paper is Table 6 of 004, with eight digits. */
#include "integrators/prk_pair.h"

#include <string.h>

typedef struct closed {
    const char *name;
    int stages, order, middle;
    double c[BG_PRK_STAGES];
} closed;

#define C6                                              \
    {                                                   \
        0, 1.0 / 6, 2.0 / 15, 1.0 / 4, 1.0 / 3, 2.0 / 3 \
    }
#define C8                                                                \
    {                                                                     \
        0, 1.0 / 8, 1.0 / 14, 1.0 / 6, 1.0 / 6, 1.0 / 4, 1.0 / 3, 2.0 / 3 \
    }

static const closed family[] = {
    {"prk25", 5, 2, 0, {0, 1.0 / 4, 1.0 / 6, 3.0 / 8, 2.0 / 3}},
    {"prk26", 6, 2, 0, C6},
    {"prk27", 7, 2, 0, {0, 1.0 / 6, 1.0 / 12, 2.0 / 9, 4.0 / 19, 19.0 / 54, 2.0 / 3}},
    {"prk28", 8, 2, 0, C8},
    {"prk35", 5, 3, 4, {0, 0.19108719762147278, 0.1935707161445432, 1.0 / 3, 2.0 / 3}},
    {"prk36", 6, 3, 5, C6},
    {"prk36b", 6, 3, 4, C6},
    {"prk38", 8, 3, 5, C8},
};

/* A pair that is written down as a whole. */
typedef struct written {
    const char *name;
    int stages, order;
    double tolerance;
    double a[2][8][8], b[2][8];
} written;

static const written whole[] = {
    {"prk48",
     8,
     4,
     1e-12,
     {{{0},
       {0.09414607235069179},
       {0.1551502378641743},
       {0.36596852408478725},
       {0.12347016036646355, 0, 0, 0.09203925831240964},
       {-0.2493338789486953, 0, 0, 0.888094380848418},
       {0.05204182642103066, 0, 0, 0.3473719011524753, 0, 0.6133910222908995},
       {0.6799445954941932, 0, 0, -0.5982825531091528, 0, 0.9183379576149597}},
      {{0},
       {0.09414607235069179},
       {-0.20872629156320824, 0.3638765294273826},
       {-0.2535193551992523, -0.001454520497100385, 0.62094239978114},
       {0.18554079642569993, -0.06138343447752573, -0.1893662999164808, 0.28071835664717976},
       {-0.06165333994241168, 0.20944996781178585, 0.15310662478321807, 0.23191603914907605,
        0.10594121009805439},
       {0.2651349745674451, 0.3708202430732398, -0.034446822019031764, 0.3148431161323748,
        -0.35817011128146514, 0.4546233493918428},
       {0.10814056629326815, 0.21308647727132696, 0.13810337302157405, -0.09014146422564547,
        -0.11830256860066987, 0.49172471072658097, 0.2573889055135652}}},
     {{0.14014690484874018, 0, 0, 0.36536628043797337, 0, 0.35488747434792667, 0,
       0.1395993403653598},
      {0.14014690484874018, 0, 0, 0.36536628043797337, 0, 0.35488747434792667, 0,
       0.1395993403653598}}},
    {"prk25-paper",
     5,
     2,
     1e-8,
     {{{0}, {0}, {0, 0.52737769}, {0, 0.99958447}, {0, 0.52396768, 0, 0.52396768}},
      {{0},
       {0.59790623},
       {0.11732777, 0.50337891},
       {0.24343069, 0.00023846, 0.15850599},
       {0.18207389, 0.59242460, 0.04915701, 0.77296315}}},
     {{0, 0.499792148, 0, 0.50020785},
      {0.43737671, 0.04851406, 0.05112046, 0.25112462, 0.21186415}}},
};

enum { CLOSED = sizeof family / sizeof *family, WRITTEN = sizeof whole / sizeof *whole };

static void copy_written(const written *from, bg_prk_pair *p)
{
    *p = (bg_prk_pair){.stages = from->stages, .order = from->order, .tolerance = from->tolerance};
    snprintf(p->name, sizeof p->name, "%s", from->name);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < from->stages; i++) {
            memcpy(p->of[k].a[i], from->a[k][i], sizeof from->a[k][i]);
            p->of[k].b[i] = from->b[k][i];
        }
    bg_prk_pair_update(p);
}

const char *bg_prk_pair_get_name(int k)
{
    static const char *const others[] = {"dual-euler", "averaged-euler", NULL};
    return k < CLOSED                 ? family[k].name
           : k < CLOSED + WRITTEN     ? whole[k - CLOSED].name
           : k < CLOSED + WRITTEN + 2 ? others[k - CLOSED - WRITTEN]
                                      : NULL;
}

bool bg_prk_pair_find(const char *name, bg_prk_pair *p)
{
    static const double a[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3}, *b = a;
    for (int k = 0; k < CLOSED; k++)
        if (strcmp(family[k].name, name) == 0) {
            const closed *f = &family[k];
            bg_prk_pair_make_closed(p, name, f->stages, f->order, f->middle, f->c);
            return true;
        }
    for (int k = 0; k < WRITTEN; k++)
        if (strcmp(whole[k].name, name) == 0) {
            copy_written(&whole[k], p);
            return true;
        }
    if (strcmp(name, "dual-euler") == 0)
        bg_prk_pair_make_dual_euler(p, 3);
    else if (strcmp(name, "averaged-euler") == 0)
        bg_prk_pair_make_averaged_euler(p, 2.0 / 3, a, b);
    else
        return false;
    return true;
}

bool bg_prk_pair_find_single(const char *name, bg_prk_pair *p)
{
    static const double sixth = 1.0 / 6, third = 1.0 / 3;
    const bool second = strcmp(name, "rk2") == 0;
    if (!second && strcmp(name, "rk4") != 0)
        return false;
    *p = (bg_prk_pair){.stages = second ? 2 : 4, .order = second ? 2 : 4, .tolerance = 1e-12};
    snprintf(p->name, sizeof p->name, "%s", name);
    for (int k = 0; k < 2; k++) {
        bg_tableau *t = &p->of[k];
        if (second) {
            t->a[1][0] = 1;
            t->b[0] = t->b[1] = 0.5;
        } else {
            t->a[1][0] = t->a[2][1] = 0.5;
            t->a[3][2] = 1;
            t->b[0] = t->b[3] = sixth;
            t->b[1] = t->b[2] = third;
        }
    }
    bg_prk_pair_update(p);
    return true;
}
