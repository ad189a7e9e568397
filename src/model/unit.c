#include "model/unit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct named_unit {
    const char *name;
    bg_unit unit;
} named_unit;

static const named_unit units[] = {
    {"m", {1, {1, 0, 0, 0}}},
    {"mm", {1e-3, {1, 0, 0, 0}}},
    {"cm", {1e-2, {1, 0, 0, 0}}},
    {"km", {1e3, {1, 0, 0, 0}}},
    {"in", {0.0254, {1, 0, 0, 0}}},
    {"ft", {0.3048, {1, 0, 0, 0}}},
    {"s", {1, {0, 0, 1, 0}}},
    {"ms", {1e-3, {0, 0, 1, 0}}},
    {"min", {60, {0, 0, 1, 0}}},
    {"h", {3600, {0, 0, 1, 0}}},
    {"kg", {1, {0, 1, 0, 0}}},
    {"g", {1e-3, {0, 1, 0, 0}}},
    {"t", {1e3, {0, 1, 0, 0}}},
    {"N", {1, {1, 1, -2, 0}}},
    {"kN", {1e3, {1, 1, -2, 0}}},
    {"MN", {1e6, {1, 1, -2, 0}}},
    {"lbf", {4.4482216152605, {1, 1, -2, 0}}},
    {"Nm", {1, {2, 1, -2, 0}}},
    {"kNm", {1e3, {2, 1, -2, 0}}},
    {"J", {1, {2, 1, -2, 0}}},
    {"kJ", {1e3, {2, 1, -2, 0}}},
    {"W", {1, {2, 1, -3, 0}}},
    {"kW", {1e3, {2, 1, -3, 0}}},
    {"Pa", {1, {-1, 1, -2, 0}}},
    {"kPa", {1e3, {-1, 1, -2, 0}}},
    {"MPa", {1e6, {-1, 1, -2, 0}}},
    {"bar", {1e5, {-1, 1, -2, 0}}},
    {"rad", {1, {0, 0, 0, 1}}},
    {"mrad", {1e-3, {0, 0, 0, 1}}},
    {"deg", {3.14159265358979323846 / 180, {0, 0, 0, 1}}},
    {"°", {3.14159265358979323846 / 180, {0, 0, 0, 1}}},
    {"rev", {2 * 3.14159265358979323846, {0, 0, 0, 1}}},
    {"rpm", {3.14159265358979323846 / 30, {0, 0, -1, 1}}},
    {"Hz", {1, {0, 0, -1, 0}}},
    {"kmh", {1 / 3.6, {1, 0, -1, 0}}},
    {"kph", {1 / 3.6, {1, 0, -1, 0}}},
    {"mph", {0.44704, {1, 0, -1, 0}}},
    {"g0", {9.80665, {1, 0, -2, 0}}},
    {"%", {1e-2, {0, 0, 0, 0}}},
    {"1", {1, {0, 0, 0, 0}}},
};
enum { UNITS = sizeof units / sizeof *units };

/* The end of a name: before a sign, a blank or a raised digit. */
static size_t find_end(const char *text)
{
    size_t n = strcspn(text, " */^");
    for (size_t k = 0; k < n; k++)
        if (strncmp(text + k, "²", 2) == 0 || strncmp(text + k, "³", 2) == 0)
            return k;
    return n;
}

static int read_power(const char **text)
{
    int power = 1;
    if (strncmp(*text, "²", 2) == 0 || strncmp(*text, "³", 2) == 0) {
        power = strncmp(*text, "²", 2) == 0 ? 2 : 3;
        *text += 2;
    } else if (**text == '^' && (*text)[1] >= '1' && (*text)[1] <= '9') {
        power = (*text)[1] - '0';
        *text += 2;
    }
    return power;
}

static const named_unit *find_unit(const char *text, size_t n)
{
    for (int k = 0; k < UNITS; k++)
        if (strlen(units[k].name) == n && strncmp(units[k].name, text, n) == 0)
            return &units[k];
    return NULL;
}

bool bg_unit_parse(const char *text, bg_unit *unit)
{
    int sign = 1;
    *unit = (bg_unit){1, {0, 0, 0, 0}};
    for (;;) {
        const size_t n = find_end(text);
        const named_unit *x = n > 0 ? find_unit(text, n) : NULL;
        if (!x)
            return false;
        text += n;
        for (int k = read_power(&text); k > 0; k--) {
            unit->factor = sign > 0 ? unit->factor * x->unit.factor : unit->factor / x->unit.factor;
            for (int d = 0; d < BG_UNIT_DIMENSIONS; d++)
                unit->power[d] += sign * x->unit.power[d];
        }
        if (*text == '\0')
            return true;
        sign = *text == '/' ? -1 : *text == ' ' ? sign : 1; /* "N m/rad s": all behind / divide */
        if (*text != '/' && *text != '*' && *text != ' ')
            return false;
        text++;
    }
}

bool bg_unit_is_alike(const bg_unit *a, const bg_unit *b)
{
    return memcmp(a->power, b->power, sizeof a->power) == 0;
}

static bool is_slide(const bg_model *m, int joint, int coordinate)
{
    return m->joints[joint].class_->coordinate[coordinate].kind == BG_COORDINATE_SLIDE;
}

/* Values of force elements by name: of all types, or of those whose names begin so; along a slide.
 */
static const struct {
    const char *type, *name, *unit, *slide;
} sensors[] = {
    {"spring", "rate", "m/s", NULL},
    {"bump", "rate", "m/s", NULL},
    {"torque", "x", "N m", NULL},
    {"torque", "y", "N m", NULL},
    {"torque", "z", "N m", NULL},
    {"torque", "magnitude", "N m", NULL},
    {"force", "x", "N", NULL},
    {"force", "y", "N", NULL},
    {"force", "z", "N", NULL},
    {"force", "magnitude", "N", NULL},
    {"bushing", "x", "m", NULL},
    {"bushing", "y", "m", NULL},
    {"bushing", "z", "m", NULL},
    {"contact", "slip", "m/s", NULL},
    {"contact", "friction", "N", NULL},
    {"controller", "output", "N m", "N"},
    {"", "rate", "rad/s", "m/s"},
    {"", "angle", "rad", "m"},
    {"", "torque", "N m", "N"},
    {"", "dry", "N m", "N"},
    {"", "deflection", "rad", "m"},
    {"", "force", "N", NULL},
    {"", "length", "m", NULL},
    {"", "stretch", "m", NULL},
    {"", "travel", "m", NULL},
    {"", "gap", "m", NULL},
    {"", "road", "m", NULL},
    {"", "gap_rate", "m/s", NULL},
    {"", "force_x", "N", NULL},
    {"", "force_y", "N", NULL},
    {"", "force_z", "N", NULL},
    {"", "torque_x", "N m", NULL},
    {"", "torque_y", "N m", NULL},
    {"", "torque_z", "N m", NULL},
    {"", "angle_x", "rad", NULL},
    {"", "angle_y", "rad", NULL},
    {"", "angle_z", "rad", NULL},
    {"", "longitudinal", "N", NULL},
    {"", "lateral", "N", NULL},
    {"", "aligning", "N m", NULL},
    {"friction", "load", "N", NULL},
    {"wheel-rail", "normal", "N", NULL},
    {"wheel-rail", "vertical", "N", NULL},
    {"wheel-rail", "spin", "1/m", NULL},
    {"wheel-rail", "normal_velocity", "m/s", NULL},
    {"wheel-rail", "position", "m", NULL},
    {"wheel-rail", "radius", "m", NULL},
    {"tyre-ring", "windup", "rad", NULL},
    {"tyre-ring", "spin", "rad/s", NULL},
    {"", "slip_angle", "rad", NULL},
    {"", "camber", "rad", NULL},
};

static const char *of_sensor(const bg_model *m, const bg_output *o)
{
    const bg_force *f = &m->forces[o->index];
    const char *name = f->class_->sensor_names[o->component];
    const char *own = f->class_->get_unit ? f->class_->get_unit(f, 'y', o->component) : NULL;
    if (own)
        return own;
    for (size_t k = 0; k < sizeof sensors / sizeof *sensors; k++)
        if (strcmp(sensors[k].name, name) == 0 &&
            strncmp(f->class_->name, sensors[k].type, strlen(sensors[k].type)) == 0) {
            const bool slide = f->class_->drive && is_slide(m, f->joint, f->coordinate);
            return slide && sensors[k].slide ? sensors[k].slide : sensors[k].unit;
        }
    return "";
}

static const char *of_coordinate(const bg_model *m, const bg_output *o)
{
    static const char *const of[2][3] = {{"rad", "rad/s", "rad/s²"}, {"m", "m/s", "m/s²"}};
    return of[is_slide(m, o->index, o->coordinate)][o->component];
}

const char *bg_output_get_si_unit(const bg_model *m, const bg_output *o)
{
    switch (o->kind) {
    case BG_OUTPUT_COORDINATE:
        return of_coordinate(m, o);
    case BG_OUTPUT_POSITION:
    case BG_OUTPUT_DISTANCE:
        return "m";
    case BG_OUTPUT_VELOCITY:
        return "m/s";
    case BG_OUTPUT_ACCELERATION:
        return "m/s²";
    case BG_OUTPUT_ANGLES:
        return "rad";
    case BG_OUTPUT_WHEEL:
        return o->component == BG_WHEEL_TRAVEL ? "m" : "rad";
    case BG_OUTPUT_ANGULAR_VELOCITY:
        return "rad/s";
    case BG_OUTPUT_ANGULAR_ACCELERATION:
        return "rad/s²";
    case BG_OUTPUT_FORCE:
        return of_sensor(m, o);
    case BG_OUTPUT_REACTION:
        return o->component < 3 ? "N" : "N m";
    case BG_OUTPUT_KINETIC:
    case BG_OUTPUT_POTENTIAL:
    case BG_OUTPUT_ENERGY:
        return "J";
    case BG_OUTPUT_SIGNAL:
        return bg_signal_get_unit(m, o->index);
    case BG_OUTPUT_FILTER:
        return bg_output_get_si_unit(m, &m->outputs[o->index]);
    default:
        return "";
    }
}

const char *bg_output_get_unit(const bg_model *m, const bg_output *o)
{
    return o->unit ? o->unit : bg_output_get_si_unit(m, o);
}

const char *bg_signal_get_unit(const bg_model *m, int signal)
{
    for (int k = 0; k < m->njoints; k++)
        for (int c = 0; c < m->joints[k].class_->ncoordinates; c++)
            if (m->joints[k].start[c].signal == signal)
                return is_slide(m, k, c) ? "m" : "rad";
    return "";
}

/* States of force elements by type, and which of them: -1 any. */
static const struct {
    const char *type;
    int state;
    const char *unit, *slide;
} states[] = {
    {"friction", -1, "rad", "m"},    {"limit", -1, "rad", NULL},    {"torsion", -1, "rad", NULL},
    {"tyre-fiala", -1, "m", NULL},   {"tyre-brush", -1, "m", NULL}, {"tyre-ring", 0, "rad", NULL},
    {"tyre-ring", 3, "rad/s", NULL},
};

const char *bg_force_get_state_unit(const bg_model *m, const bg_force *f, int state)
{
    const char *own = f->class_->get_unit ? f->class_->get_unit(f, 'z', state) : NULL;
    if (own)
        return own;
    for (size_t k = 0; k < sizeof states / sizeof *states; k++)
        if ((states[k].state < 0 || states[k].state == state) &&
            strncmp(f->class_->name, states[k].type, strlen(states[k].type)) == 0) {
            const bool slide = states[k].slide && is_slide(m, f->joint, f->coordinate);
            return slide ? states[k].slide : states[k].unit;
        }
    return "";
}
