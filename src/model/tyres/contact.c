#include "model/tyres/contact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN = 0, CONTACT = 1, LIFTED = 2 };

/* Of a road with two tracks, that of the side on which the wheel is in the design position. */
static bg_value choose_side(const bg_value *v, const bg_value *road, const bg_marker *wheel)
{
    static const char *const keys[] = {"left", "right", NULL};
    const bg_value left = bg_value_member(road, "left"), right = bg_value_member(road, "right");
    if (!bg_value_exists(&left) && !bg_value_exists(&right))
        return *road;
    bg_value_expect(road, keys);
    const double y = bg_element_find_place(v->reader->model, wheel).y;
    const bg_value *side = y > 0 ? &left : &right;
    const bg_value place = bg_value_member(v, "wheel");
    if (y == 0)
        bg_value_fail(&place, "is in the middle, at y = 0, of a road that has a left and a right "
                              "side; give the tyre a 'road' of its own");
    if (!bg_value_exists(side))
        bg_value_fail(side, "is missing; a road with two sides needs both");
    return *side;
}

void bg_contact_read(const bg_value *v, bg_force *f, bg_contact *contact)
{
    const bg_value *top = v;
    while (top->parent)
        top = top->parent;
    if (v->scope) /* a part stands on the road of the model */
        top = v->reader->top;
    const bg_value common = bg_value_member(top, "road"), own = bg_value_member(v, "road");
    const bg_value wheel = bg_value_member(v, "wheel");
    contact->wheel = bg_value_marker(v, "wheel");
    if (v->reader->status == BG_OK && contact->wheel.body == 0)
        bg_value_fail(&wheel, "is a point of the ground, which no tyre can carry; name a point of "
                              "the body that the wheel belongs to");
    contact->radius = bg_value_positive(v, "radius");
    contact->k = bg_value_positive(v, "stiffness");
    contact->c = bg_value_not_negative_or(v, "damping", 0);
    const bg_value road = choose_side(v, bg_value_exists(&own) ? &own : &common, &contact->wheel);
    if (v->reader->status == BG_OK)
        bg_road_read(&road, contact->radius, &contact->road);
    const char *side = bg_value_exists(&road) ? road.key : "";
    contact->road.side = strcmp(side, "left") == 0 ? 1 : strcmp(side, "right") == 0 ? -1 : 0;
    f->ns = 1 + contact->road.nbreaks;
    f->nmode = contact->road.nbreaks > 0 ? 2 : 1;
}

void bg_contact_clear(bg_force *f)
{
    bg_contact *contact = f->self;
    if (contact)
        bg_road_clear(&contact->road);
    free(contact);
    f->self = NULL;
}

int bg_contact_event(const bg_force *f, int k, int direction, int *mode)
{
    (void)f;
    if (direction == 0)
        return BG_EVENT_NOTE;
    const int changes = k == 0 ? 0 : 1;
    const int now = k > 0 ? k + (direction > 0) : direction > 0 ? CONTACT : LIFTED;
    if (mode[changes] == now)
        return BG_EVENT_NOTE;
    mode[changes] = now;
    if (k > 0)
        mode[0] = OPEN;
    return BG_EVENT_CHANGED;
}

/* "tyre fl", unless the name says already what it is. */
static void write_name(const bg_force *f, char *text, size_t size)
{
    static const char *const kinds[] = {"tyre", "tire", "wheel"};
    bool said = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        said = said || strcasestr(f->name, kinds[i]);
    snprintf(text, size, "%s%.50s", said ? "" : "tyre ", f->name);
}

void bg_contact_describe(const bg_force *f, int k, int direction, bool several, char *text,
                         size_t size)
{
    const bg_contact *contact = f->self;
    char name[64], place[64];
    write_name(f, name, sizeof name);
    if (k == 0) {
        snprintf(text, size, "%s %s", name,
                 direction > 0   ? "lands"
                 : direction < 0 ? "lifts off"
                                 : "is at the limit of contact");
        return;
    }
    bg_road_describe_break(&contact->road, k - 1, direction, place, sizeof place);
    snprintf(text, size, several ? "road: %s under %s" : "road: %s", place, name);
}

void bg_contact_sides(const bg_force *f, const int *mode, int *side)
{
    (void)f;
    side[0] = mode[0] == CONTACT ? 1 : mode[0] == LIFTED ? -1 : BG_SIDE_OPEN;
}

bg_contact_state bg_contact_find_road(const bg_force *f, bg_vec3 p, bg_vec3 v, double t,
                                      const int *mode)
{
    const bg_contact *contact = f->self;
    const bg_road *road = &contact->road;
    bg_contact_state y = {.place = bg_road_calc_place(road, p.x, t), .advance = v.x + road->speed};
    const int piece = f->nmode > 1 && mode[1] > OPEN ? mode[1] - 1
                                                     : bg_road_find_piece(road, y.place);
    bg_road_height height;
    bg_road_calc(road, piece, y.place, p.y, &height);
    memcpy(y.road, height.along, sizeof y.road);
    memcpy(y.across, height.across, sizeof y.across);
    return y;
}

static double calc_switch(const bg_contact *contact, const bg_contact_state *y)
{
    return contact->k * y->delta + contact->c * fmin(0, y->delta_t);
}

void bg_contact_close(const bg_contact *contact, const int *mode, bg_contact_state *y)
{
    y->touches = mode[0] == OPEN ? calc_switch(contact, y) > 0 : mode[0] == CONTACT;
    y->F = y->touches ? contact->k * y->delta + contact->c * y->delta_t : 0;
}

void bg_contact_switching(const bg_contact *contact, const bg_contact_state *y, double *s)
{
    const bg_road *road = &contact->road;
    s[0] = calc_switch(contact, y);
    for (int k = 0; k < road->nbreaks; k++)
        s[1 + k] = y->place - road->breaks[k];
}

void bg_contact_settle(const bg_force *f, const bg_contact_state *y, int *mode)
{
    const bg_contact *contact = f->self;
    const double s = calc_switch(contact, y);
    if (f->nmode > 1 && mode[1] == OPEN)
        mode[1] = bg_road_find_piece(&contact->road, y->place) + 1;
    if (mode[0] == OPEN && s != 0)
        mode[0] = s > 0 ? CONTACT : LIFTED;
}

void bg_contact_look(const bg_force *f, bg_force_look *out)
{
    const bg_contact *s = f->self;
    *out = (bg_force_look){.nends = 1, .end = {s->wheel}, .radius = s->radius, .road = &s->road};
}
