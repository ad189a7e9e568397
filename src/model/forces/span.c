#include "model/forces/span.h"

static const double no_length = 1e-100; /* m, below which the square of L underflows */

bg_span bg_span_calc(const bg_world *w, const bg_marker *a, const bg_marker *b)
{
    bg_span x = {.s_a = bg_marker_get_arm(w, a),
                 .s_b = bg_marker_get_arm(w, b),
                 .w_a = w->body[a->body].w,
                 .w_b = w->body[b->body].w};
    x.d = bg_sub(bg_marker_get_position(w, b), bg_marker_get_position(w, a));
    x.d_t = bg_sub(bg_marker_get_velocity(w, b), bg_marker_get_velocity(w, a));
    x.L = bg_length(x.d);
    x.directed = x.L > no_length;
    if (x.directed) {
        x.e = bg_scale(1 / x.L, x.d);
        x.L_t = bg_dot(x.e, x.d_t);
    }
    return x;
}

void bg_span_pull(const bg_span *x, const bg_world *w, const bg_marker *a, const bg_marker *b,
                  double F, bg_wrench *wrench)
{
    const bg_vec3 none = {0, 0, 0}, pull = bg_scale(F, x->e);
    bg_wrench_add(wrench, w, a->body, bg_marker_get_position(w, a), pull, none);
    bg_wrench_add(wrench, w, b->body, bg_marker_get_position(w, b), bg_scale(-1, pull), none);
}

void bg_span_calc_wrenches(const bg_span *x, double F, bg_wrench on[2])
{
    const bg_vec3 pull = bg_scale(F, x->e), back = bg_scale(-1, pull);
    on[0] = (bg_wrench){pull, bg_cross(x->s_a, pull)};
    on[1] = (bg_wrench){back, bg_cross(x->s_b, back)};
}

bg_span_variation bg_span_vary(const bg_span *x, const bg_variation d[2])
{
    bg_span_variation v = {
        .dd = bg_sub(bg_variation_of_point(&d[1], x->s_b), bg_variation_of_point(&d[0], x->s_a))};
    if (!x->directed)
        return v;
    const bg_vec3 dd_t = bg_sub(bg_variation_of_velocity(&d[1], x->s_b, x->w_b),
                                bg_variation_of_velocity(&d[0], x->s_a, x->w_a));
    v.dL = bg_dot(x->e, v.dd);
    v.dL_t = bg_dot(x->e, dd_t) + bg_dot(bg_add_scaled(x->d_t, -x->L_t, x->e), v.dd) / x->L;
    return v;
}

bg_vec3 bg_span_vary_pull(const bg_span *x, const bg_span_variation *v, double F, double dF)
{
    return bg_add_scaled(bg_scale(dF, x->e), F / x->L, bg_add_scaled(v->dd, -v->dL, x->e));
}

void bg_span_vary_wrenches(const bg_span *x, const bg_variation d[2], double F, bg_vec3 df,
                           bg_wrench dwrench[2])
{
    const bg_vec3 pull = bg_scale(F, x->e);
    dwrench[0] = bg_wrench_vary(x->s_a, bg_variation_of_arm(&d[0], x->s_a), pull, df);
    dwrench[1] = bg_wrench_vary(x->s_b, bg_variation_of_arm(&d[1], x->s_b), bg_scale(-1, pull),
                                bg_scale(-1, df));
}
