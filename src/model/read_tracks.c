/* "tracks": segments of a line, and how fast it is travelled; and the frames that follow them.
 *
 * A body with "track" is a frame without mass. A joint of its own, whose four coordinates follow
 * signals, takes it along: x and y of the centre line, its heading, and the cant. */
#include "model/read.h"
#include "model/track.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double nearly = 1e-9; /* of a curvature or cant: the same but for rounding */

/* A number for both ends, or two. */
static void read_ends(const bg_value *v, const char *key, double out[2])
{
    const bg_value x = bg_value_member(v, key);
    if (!bg_value_exists(&x))
        return;
    if (!json_is_array(x.json)) {
        out[0] = out[1] = bg_value_get_number(&x);
        return;
    }
    double *pair = bg_value_numbers(v, key, 2, NULL);
    for (int k = 0; pair && k < 2; k++)
        out[k] = pair[k];
    free(pair);
}

static void check_jump(const bg_value *v, const char *what, double before, double behind,
                       double size)
{
    if (fabs(behind - before) > nearly * size)
        bg_value_fail(v,
                      "begins with %s %g where the segment before ends with %g; put a segment "
                      "with both ends between them",
                      what, behind, before);
}

static void read_segments(const bg_value *v, bg_track *k)
{
    static const char *const keys[] = {"length", "curvature", "cant", NULL};
    const bg_value list = bg_value_member(v, "segments");
    if (!bg_value_expect_list(&list, -1))
        return;
    const int n = bg_value_get_size(&list);
    if (n == 0)
        bg_value_fail(&list, "a track needs at least one segment");
    k->segments = bg_reader_allocate(v->reader, (size_t)n, sizeof *k->segments);
    for (int i = 0; i < n && v->reader->status == BG_OK; i++) {
        const bg_value e = bg_value_element(&list, i);
        bg_track_segment *g = &k->segments[i];
        if (!bg_value_expect_object(&e))
            return;
        bg_value_expect(&e, keys);
        g->length = bg_value_positive(&e, "length");
        read_ends(&e, "curvature", g->kappa);
        read_ends(&e, "cant", g->cant);
        const bg_value cant = bg_value_member(&e, "cant");
        for (int end = 0; end < 2; end++)
            if (fabs(g->cant[end]) >= k->base)
                bg_value_fail(&cant, "must be less than 'cant_base', %g m", k->base);
        if (i > 0) {
            const bg_track_segment *last = g - 1;
            check_jump(&e, "curvature", last->kappa[1], g->kappa[0],
                       fmax(fabs(last->kappa[1]), fabs(g->kappa[0])));
            check_jump(&e, "cant", last->cant[1], g->cant[0], k->base);
        }
        k->n = i + 1;
    }
}

static void read_progress(const bg_value *v, bg_track *k)
{
    const bg_value speed = bg_value_member(v, "speed"), distance = bg_value_member(v, "distance");
    if (bg_value_exists(&speed) == bg_value_exists(&distance)) {
        bg_value_fail(v, "needs either 'speed' or 'distance', an input with the way in m");
        return;
    }
    if (bg_value_exists(&speed)) {
        k->speed = bg_value_get_number(&speed);
        return;
    }
    const int signal = bg_value_signal(v, "distance");
    if (v->reader->status != BG_OK)
        return;
    k->distance = &v->reader->model->signals[signal];
    if (bg_signal_count_corners(k->distance) > 0)
        bg_value_fail(&distance,
                      "follows input '%s', whose speed jumps at %g s, but a train's cannot; use a "
                      "'step', a spline or an expression",
                      k->distance->name, bg_signal_get_corner(k->distance, 0));
}

static void read_track(const bg_value *v, bg_track *k)
{
    static const char *const keys[] = {"segments", "speed",     "distance", "start",
                                       "blend",    "cant_base", NULL};
    static const char *const blends[] = {"cubic", "quintic", "linear", NULL};
    const bg_value base = bg_value_member(v, "cant_base");
    if (!bg_value_expect_object(v))
        return;
    bg_value_expect(v, keys);
    k->blend = (bg_track_blend)bg_value_choice(v, "blend", blends, BG_TRACK_CUBIC);
    k->base = bg_value_exists(&base) ? bg_value_positive(v, "cant_base") : 1.5;
    k->start = bg_value_number_or(v, "start", 0);
    read_segments(v, k);
    read_progress(v, k);
    if (v->reader->status == BG_OK && bg_track_prepare(k, NULL) != BG_OK)
        bg_reader_fail_memory(v->reader);
}

void bg_read_tracks(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    const bg_value section = bg_value_member(top, "tracks");
    bg_value v;
    if (!bg_value_exists(&section) || !bg_value_expect_object(&section))
        return;
    m->tracks = bg_reader_allocate(reader, json_object_size(section.json), sizeof *m->tracks);
    for (void *i = NULL; bg_value_next(&section, &i, &v);) {
        bg_track *k = &m->tracks[m->ntracks];
        bg_reader_register(&v, BG_NAME_TRACK, v.key, m->ntracks++);
        k->name = bg_reader_copy(reader, v.key);
        if (reader->status == BG_OK)
            read_track(&v, k);
    }
}

size_t bg_read_count_frames(bg_reader *reader)
{
    bg_value section, v;
    size_t n = 0;
    for (int k = 0; bg_reader_next_section(reader, "bodies", false, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);)
            n += json_object_get(v.json, "track") != NULL;
    return n;
}

size_t bg_read_count_rolling(bg_reader *reader)
{
    bg_value section, v;
    size_t n = 0;
    for (int k = 0; bg_reader_next_section(reader, "joints", false, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);)
            n += json_object_get(v.json, "radius") != NULL;
    return n;
}

int bg_read_add_track_signal(bg_reader *reader, const char *owner, const char *part,
                             const bg_signal *signal)
{
    bg_model *m = reader->model;
    char name[160];
    if (reader->status != BG_OK)
        return -1;
    snprintf(name, sizeof name, "%.100s.%s", owner, part);
    m->signals[m->nsignals] = *signal;
    m->signals[m->nsignals].name = bg_reader_copy(reader, name);
    if (reader->status == BG_OK && bg_signal_prepare(&m->signals[m->nsignals], NULL) != BG_OK)
        bg_reader_fail_memory(reader);
    return m->nsignals++;
}

/* A place of a rail: side times half of the base from the centre line, in world axes. */
static bg_vec3 find_rail(const bg_track *k, double s, double side)
{
    bg_track_place x;
    bg_track_calc(k, s, &x);
    const double heading = x.part[BG_TRACK_HEADING][0], cant = x.part[BG_TRACK_CANT][0];
    const double across = side * 0.5 * k->base * cos(cant);
    return bg_vec3_make(x.part[BG_TRACK_X][0] - across * sin(heading),
                        x.part[BG_TRACK_Y][0] + across * cos(heading),
                        side * 0.5 * k->base * sin(cant));
}

/* A piece of a rail as a rod whose upper side is the rail's top. */
static bg_shape make_rail(bg_vec3 from, bg_vec3 to)
{
    const double radius = 0.035; /* half the width of a rail's head */
    const bg_vec3 down = {0, 0, -radius};
    bg_shape s = {.kind = BG_SHAPE_CYLINDER, .from = bg_add(from, down), .to = bg_add(to, down)};
    const bg_vec3 along = bg_sub(to, from);
    s.size[0] = radius;
    s.size[1] = bg_length(along);
    s.frame.R = bg_frame_from_z(bg_scale(1 / s.size[1], along), bg_vec3_make(0, 0, 0));
    s.frame.r = bg_scale(0.5, bg_add(s.from, s.to));
    return s;
}

/* Both rails of a track from 20 m before its beginning to 20 m behind its end; shape NULL: counted.
 */
static int draw_rails(const bg_track *k, bg_shape *shape)
{
    const bg_track_segment *last = &k->segments[k->n - 1];
    const double from = -20, to = last->s + last->length + 20;
    const int pieces = (int)ceil((to - from) / fmax(2.5, (to - from) / 2000));
    for (int i = 0; i < 2 * pieces && shape; i++) {
        const double side = i < pieces ? -1 : 1, n = i % pieces, step = (to - from) / pieces;
        shape[i] = make_rail(find_rail(k, from + n * step, side),
                             find_rail(k, from + (n + 1) * step, side));
    }
    return 2 * pieces;
}

void bg_read_rails(bg_reader *reader)
{
    bg_model *m = reader->model;
    bg_body *ground = &m->bodies[0];
    int n = ground->nshapes;
    for (int k = 0; k < m->ntracks; k++)
        n += draw_rails(&m->tracks[k], NULL);
    bg_shape *shapes = bg_reader_allocate(reader, (size_t)n, sizeof *shapes);
    if (!shapes || m->ntracks == 0) {
        free(shapes);
        return;
    }
    for (int k = 0; k < ground->nshapes; k++)
        shapes[k] = ground->shapes[k];
    for (int k = 0; k < m->ntracks; k++)
        ground->nshapes += draw_rails(&m->tracks[k], shapes + ground->nshapes);
    free(ground->shapes);
    ground->shapes = shapes;
}

/* The joint that takes the frame along. */
static void add_joint(bg_reader *reader, int body)
{
    static const char *const parts[] = {"x", "y", "heading", "cant"};
    extern const bg_joint_class bg_joint_track;
    bg_model *m = reader->model;
    const bg_body *b = &m->bodies[body];
    const bg_mat3 axes = bg_mat3_identity();
    bg_joint *j = &m->joints[m->njoints];
    char name[160];
    snprintf(name, sizeof name, "%.100s.track", b->name);
    j->name = bg_reader_copy(reader, name);
    j->class_ = &bg_joint_track;
    j->a = bg_body_make_marker(m, 0, b->pose.r, &axes);
    j->b = bg_body_make_marker(m, body, b->pose.r, &axes);
    j->x_given = true;
    j->rolling = -1;
    for (int c = 0; c < BG_TRACK_PARTS; c++) {
        const bg_signal s = {.kind = BG_SIGNAL_TRACK,
                             .track = b->track,
                             .n = c,
                             .a = b->pose.r.x,
                             .offset = c == BG_TRACK_X ? b->pose.r.x : 0};
        j->start[c].signal = bg_read_add_track_signal(reader, b->name, parts[c], &s);
    }
    reader->body_attached[0] = reader->body_attached[body] = true;
    m->njoints++;
}

void bg_read_add_frames(bg_reader *reader)
{
    for (int b = 1; b < reader->model->nbodies && reader->status == BG_OK; b++)
        if (reader->model->bodies[b].track)
            add_joint(reader, b);
}
