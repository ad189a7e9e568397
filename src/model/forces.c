/* The types of force elements: one line each. */
#include "model/force.h"

#include <stddef.h>

extern const bg_force_class bg_force_spring_damper, bg_force_torsion, bg_force_bushing,
    bg_force_force, bg_force_torque, bg_force_controller, bg_force_point_mass, bg_force_wheel_rail,
    bg_force_tyre_point_follower, bg_force_tyre_fiala, bg_force_tyre_brush, bg_force_tyre_ring,
    bg_force_tyre_ring_planar;
extern const bg_force_class bg_force_limit, bg_force_friction, bg_force_bump_stop, bg_force_contact;

const bg_force_class *const *bg_force_get_classes(void)
{
    static const bg_force_class *const classes[] = {
        &bg_force_spring_damper,
        &bg_force_torsion,
        &bg_force_bushing,
        &bg_force_force,
        &bg_force_torque,
        &bg_force_controller,
        &bg_force_limit,
        &bg_force_friction,
        &bg_force_bump_stop,
        &bg_force_contact,
        &bg_force_point_mass,
        &bg_force_wheel_rail,
        &bg_force_tyre_point_follower,
        &bg_force_tyre_fiala,
        &bg_force_tyre_brush,
        &bg_force_tyre_ring,
        &bg_force_tyre_ring_planar,
        NULL,
    };
    return classes;
}
