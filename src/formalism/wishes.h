/* What is wanted of the start of a model, in terms of bodies and joints: the same whatever the
 * tree, the coordinates and the order of the file. */
#ifndef BG_WISHES_H
#define BG_WISHES_H

#include "formalism/multibody.h"
#include "system/starts.h"

typedef enum bg_wish_kind {
    BG_WISH_PLACE,  /* of a point of a body: 3 values, world axes */
    BG_WISH_TURN,   /* of a body: 3 values, world axes */
    BG_WISH_SCALAR, /* of a joint coordinate: 1 value */
    BG_WISH_BALL,   /* of body b against a: 3 values, world axes */
    BG_WISH_CENTRE  /* of the place of a joint on b against that on a: 3 values, world axes */
} bg_wish_kind;

/* That a velocity, or a displacement from the design position, has a value. */
typedef struct bg_wish {
    bg_wish_kind kind;
    bg_start_of of;
    bg_start_level level;
    int body;              /* PLACE, TURN */
    int joint, coordinate; /* SCALAR, BALL, CENTRE */
    double target[3];
    double weight; /* of its rows; m where they are angles, which count as far out as this */
} bg_wish;

/* One row on body level: J . (v_a, w_a, v_b, w_b) = b. */
typedef struct bg_wish_row {
    int a, b;
    double J[12], value;
} bg_wish_row;

struct bg_wishes {
    bg_wish *wish; /* [n] those given first */
    int n, ngiven;
    double length; /* m, of a typical body */
};

bg_status bg_wishes_create(const bg_model *model, struct bg_wishes **wishes, bg_error *err);
void bg_wishes_destroy(struct bg_wishes *wishes);

int bg_wish_count_rows(const bg_wish *wish);
/* Weighted rows of a wish in the world of mb. */
void bg_wish_calc_rows(const bg_multibody *mb, const bg_wish *wish, bg_wish_row rows[3]);
/* Functions of bg_starts that both forms share; after an update of the world, which is news or was
 * asked of before. */
int bg_wishes_get_given(bg_multibody *mb, bool news, int k, bg_given *out);
const char *bg_wishes_find_reversed(const bg_multibody *mb);
bool bg_wishes_are_settled(const bg_multibody *mb, bg_start_of of);

#endif
