/* The joint types: one line each. */
#include "model/model.h"

#include <stddef.h>

extern const bg_joint_class bg_joint_fixed, bg_joint_revolute, bg_joint_prismatic,
    bg_joint_cylindrical, bg_joint_universal, bg_joint_spherical, bg_joint_planar, bg_joint_screw,
    bg_joint_free, bg_joint_cardan, bg_joint_cardan_held, bg_joint_rolling, bg_joint_distance,
    bg_joint_point_on_line, bg_joint_point_on_plane;

const bg_joint_class *const *bg_joint_get_classes(void)
{
    static const bg_joint_class *const classes[] = {
        &bg_joint_fixed,          &bg_joint_revolute,
        &bg_joint_prismatic,      &bg_joint_cylindrical,
        &bg_joint_universal,      &bg_joint_spherical,
        &bg_joint_planar,         &bg_joint_screw,
        &bg_joint_free,           &bg_joint_cardan,
        &bg_joint_cardan_held,    &bg_joint_rolling,
        &bg_joint_distance,       &bg_joint_point_on_line,
        &bg_joint_point_on_plane, NULL,
    };
    return classes;
}

int bg_joint_class_count_rows(const bg_joint_class *c)
{
    int rows = 0;
    for (int k = 0; k < c->nprimitives; k++)
        rows += c->primitive[k].kind == BG_PRIMITIVE_POINT ? 3 : 1;
    for (int k = 0; k < c->nlinks; k++)
        rows += c->link[k].kind == BG_LINK_SCREW; /* its relation of slide and angle */
    return rows;
}

int bg_joint_class_count_velocities(const bg_joint_class *c)
{
    int n = 0;
    for (int k = 0; k < c->nlinks; k++)
        n += c->link[k].kind == BG_LINK_BALL ? 3 : 1;
    return n;
}

bg_coordinate bg_joint_get_coordinate(const bg_joint *j, int k)
{
    const bool slide = j->class_->coordinate[k].kind == BG_COORDINATE_SLIDE;
    return (bg_coordinate){.kind = j->class_->coordinate[k].kind,
                           .axis = j->class_->coordinate[k].axis,
                           .back = slide && j->slides_back,
                           .a = j->a,
                           .b = j->b,
                           .reference = j->rolling,
                           .turns = -1};
}
