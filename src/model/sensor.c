/* Values and gradients of kinematic outputs.
 *
 * A gradient is put together from the responses to unit variations of the bodies
 * (forces/element.h). With the arm s from the centre of mass to the point and dR = dtheta x R,
 *
 *   position          dp  = dr + dtheta x s
 *   velocity          dp' = dv + dw x s + w x (dtheta x s)
 *   distance          dL  = e . (dp_b - dp_a),  e = (p_b - p_a) / L   (0 where both points
 * coincide) orientation       dp  = 1/2 (0, dtheta) p,  p the quaternion of the marker's axes,
 * which are those of the world in the design position joint coordinate  forces/lever.c
 *
 * A component along a direction e that turns with another body b has de = dtheta_b x e besides.
 * Roll, pitch and yaw of R = Rz(yaw) Ry(pitch) Rx(roll), the rotation of a against b seen in axes E
 * of b, change with a small rotation (x, y, z) in these axes by
 *   d pitch = c y - s x,   d roll = (c x + s y)/cos(pitch),   d yaw = z + d roll sin(pitch),
 * c and s of the yaw. */
#include "model/sensor.h"

#include "model/cardan.h"
#include "model/forces/lever.h"

const char *bg_sensor_explain(const bg_output *o)
{
    switch (o->kind) {
    case BG_OUTPUT_COORDINATE:
        if (bg_coordinate_is_cardan(&o->measured))
            return "an angle of yaw, roll, pitch or spin, which laws cannot follow";
        return o->component < 2 ? NULL : "an acceleration and follows from the forces";
    case BG_OUTPUT_ACCELERATION:
    case BG_OUTPUT_ANGULAR_ACCELERATION:
        return "an acceleration and follows from the forces";
    case BG_OUTPUT_REACTION:
        return "a reaction and follows from the forces";
    case BG_OUTPUT_FORCE:
        return "the value of a force element, on which it might depend in turn";
    case BG_OUTPUT_KINETIC:
    case BG_OUTPUT_POTENTIAL:
    case BG_OUTPUT_ENERGY:
        return "an energy and depends on every body";
    case BG_OUTPUT_WHEEL:
        return "the geometry of a wheel, which laws cannot follow";
    case BG_OUTPUT_FILTER:
        return "made of the rows of a run, which come later";
    default:
        return NULL;
    }
}

int bg_sensor_get_bodies(const bg_output *o, int body[2])
{
    const bool pair = o->kind == BG_OUTPUT_COORDINATE || o->kind == BG_OUTPUT_DISTANCE ||
                      o->kind == BG_OUTPUT_ANGLES || o->carried;
    const bool none = o->kind == BG_OUTPUT_SIGNAL;
    const bool joint = o->kind == BG_OUTPUT_COORDINATE;
    body[0] = joint ? o->measured.a.body : o->a.body;
    body[1] = joint ? o->measured.b.body : o->b.body;
    return none ? 0 : pair ? 2 : 1;
}

/* The direction of a component that is turned. */
static bg_vec3 get_direction(const bg_output *o, const bg_world *w)
{
    if (!o->carried)
        return o->direction;
    const bg_mat3 B = bg_marker_get_axes(w, &o->b);
    return bg_rotate(&B, o->direction);
}

static double pick(const bg_output *o, bg_vec3 direction, bg_vec3 x)
{
    const int k = o->component % 3;
    return o->turned ? bg_dot(direction, x) : k == 0 ? x.x : k == 1 ? x.y : x.z;
}

double bg_output_pick(const bg_output *o, const bg_world *w, bg_vec3 x)
{
    return pick(o, get_direction(o, w), x);
}

/* Roll, pitch and yaw of marker a against marker b. */
static void calc_angles(const bg_output *o, const bg_world *w, double angle[3])
{
    const bg_mat3 A = bg_marker_get_axes(w, &o->a), B = bg_marker_get_axes(w, &o->b);
    bg_vec3 column[3]; /* of the rotation in axes E */
    for (int k = 0; k < 3; k++) {
        const bg_vec3 moved = bg_rotate(&A, bg_axis(&o->axes, k));
        column[k] = bg_rotate_back(&o->axes, bg_rotate_back(&B, moved));
    }
    angle[0] = atan2(column[1].z, column[2].z);
    angle[1] = atan2(-column[0].z, hypot(column[0].x, column[0].y));
    angle[2] = atan2(column[0].y, column[0].x);
}

static double pick_part(const bg_output *o, bg_quat p)
{
    const double c[4] = {p.w, p.x, p.y, p.z};
    return o->turned ? bg_dot(o->direction, bg_vec3_load(c + 1)) : c[o->component];
}

static bg_quat calc_orientation(const bg_output *o, const bg_world *w)
{
    const bg_mat3 R = bg_marker_get_axes(w, &o->a);
    return bg_quat_from_rotation(&R);
}

static bg_vec3 calc_span(const bg_output *o, const bg_world *w)
{
    return bg_sub(bg_marker_get_position(w, &o->b), bg_marker_get_position(w, &o->a));
}

/* The vector whose component a position is. */
static bg_vec3 calc_place(const bg_output *o, const bg_world *w)
{
    const bg_vec3 p = bg_marker_get_position(w, &o->a);
    return o->carried ? bg_sub(p, w->body[o->b.body].r) : bg_world_get_place(w, p);
}

double bg_sensor_calc(const bg_output *o, const bg_world *w)
{
    switch (o->kind) {
    case BG_OUTPUT_COORDINATE:
        return o->component == 0 ? bg_coordinate_calc(w, &o->measured)
                                 : bg_coordinate_calc_rate(w, &o->measured);
    case BG_OUTPUT_POSITION:
        return bg_output_pick(o, w, calc_place(o, w)) + o->offset;
    case BG_OUTPUT_VELOCITY:
        return bg_output_pick(o, w, bg_marker_get_velocity(w, &o->a));
    case BG_OUTPUT_ORIENTATION:
        return pick_part(o, calc_orientation(o, w));
    case BG_OUTPUT_ANGULAR_VELOCITY:
        return bg_output_pick(o, w, w->body[o->a.body].w);
    case BG_OUTPUT_ANGLES: {
        double angle[3];
        calc_angles(o, w, angle);
        return angle[o->component];
    }
    case BG_OUTPUT_WHEEL:
        return bg_wheel_calc(o, w);
    case BG_OUTPUT_DISTANCE:
        return bg_length(calc_span(o, w));
    case BG_OUTPUT_SIGNAL:
        return w->u[o->index];
    default:
        return NAN;
    }
}

/* What responses to variations need, once per gradient. */
typedef struct sensor_state {
    const bg_output *o;
    bg_lever lever;
    bg_vec3 s[2], w; /* arms of the markers; angular velocity of body a */
    bg_vec3 e;       /* unit vector of a distance; direction of a component */
    bg_vec3 x;       /* vector whose component along e is measured, where e is carried */
    bg_mat3 B;       /* axes of marker b */
    double angle[3];
    bg_quat p;
} sensor_state;

static sensor_state calc_state(const bg_output *o, const bg_world *w)
{
    sensor_state y = {.o = o};
    if (o->kind == BG_OUTPUT_COORDINATE) {
        y.lever = bg_lever_calc(w, &o->measured);
        return y;
    }
    y.s[0] = bg_marker_get_arm(w, &o->a);
    y.w = w->body[o->a.body].w;
    if (o->kind == BG_OUTPUT_ORIENTATION)
        y.p = calc_orientation(o, w);
    if (o->kind == BG_OUTPUT_ANGLES) {
        y.B = bg_marker_get_axes(w, &o->b);
        calc_angles(o, w, y.angle);
        return y;
    }
    y.e = get_direction(o, w);
    if (o->carried)
        y.x = o->kind == BG_OUTPUT_POSITION   ? calc_place(o, w)
              : o->kind == BG_OUTPUT_VELOCITY ? bg_marker_get_velocity(w, &o->a)
                                              : y.w;
    if (o->kind == BG_OUTPUT_DISTANCE) {
        const bg_vec3 d = calc_span(o, w);
        const double L = bg_length(d);
        y.s[1] = bg_marker_get_arm(w, &o->b);
        y.e = L > 0 ? bg_scale(1 / L, d) : bg_vec3_make(0, 0, 0);
    }
    return y;
}

static double vary_angle(const sensor_state *y, const bg_variation d[2])
{
    const bg_mat3 *E = &y->o->axes;
    const bg_vec3 turn = bg_rotate_back(&y->B, bg_sub(d[0].dtheta, d[1].dtheta));
    const double det = bg_dot(bg_axis(E, 2), bg_cross(bg_axis(E, 0), bg_axis(E, 1)));
    const bg_vec3 x = bg_scale(det, bg_rotate_back(E, turn));
    const double c = cos(y->angle[2]), s = sin(y->angle[2]);
    const double roll = (c * x.x + s * x.y) / cos(y->angle[1]);
    return y->o->component == 0   ? roll
           : y->o->component == 1 ? c * x.y - s * x.x
                                  : x.z + roll * sin(y->angle[1]);
}

static double vary(const sensor_state *y, const bg_variation d[2])
{
    double rate;
    /* of the direction, where that turns with body b */
    const double turned = y->o->carried ? bg_dot(bg_cross(d[1].dtheta, y->e), y->x) : 0;
    switch (y->o->kind) {
    case BG_OUTPUT_COORDINATE: {
        const double dx = bg_lever_vary(&y->lever, &d[0], &d[1], &rate);
        return y->o->component == 0 ? dx : rate;
    }
    case BG_OUTPUT_POSITION:
        return turned + pick(y->o, y->e,
                             bg_sub(bg_variation_of_point(&d[0], y->s[0]),
                                    y->o->carried ? d[1].dr : bg_vec3_make(0, 0, 0)));
    case BG_OUTPUT_VELOCITY:
        return turned + pick(y->o, y->e, bg_variation_of_velocity(&d[0], y->s[0], y->w));
    case BG_OUTPUT_ORIENTATION: {
        const bg_quat half = {0, 0.5 * d[0].dtheta.x, 0.5 * d[0].dtheta.y, 0.5 * d[0].dtheta.z};
        return pick_part(y->o, bg_quat_multiply(half, y->p));
    }
    case BG_OUTPUT_ANGULAR_VELOCITY:
        return turned + pick(y->o, y->e, d[0].dw);
    case BG_OUTPUT_ANGLES:
        return vary_angle(y, d);
    case BG_OUTPUT_DISTANCE:
        return bg_dot(y->e, bg_sub(bg_variation_of_point(&d[1], y->s[1]),
                                   bg_variation_of_point(&d[0], y->s[0])));
    default:
        return 0;
    }
}

void bg_sensor_calc_gradient(const bg_output *o, const bg_world *w, double by[2][12])
{
    const sensor_state y = calc_state(o, w);
    int body[2];
    const int n = bg_sensor_get_bodies(o, body);
    for (int k = 0; k < n; k++)
        for (int c = 0; c < 12; c++) {
            bg_variation d[2] = {0};
            d[k] = bg_variation_of_unit(c);
            by[k][c] = vary(&y, d);
        }
}
