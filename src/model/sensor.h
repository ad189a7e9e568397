/* Outputs as sensors of force laws: numbers that follow from poses and twists of bodies, with exact
 * gradients. Joint coordinates and their rates, positions, velocities, orientations, angular
 * velocities, distances and signals are such; what follows from forces is not. */
#ifndef BG_SENSOR_H
#define BG_SENSOR_H

#include "model/model.h"

/* NULL where a force law may use the output (an expression: itself, what it refers to is another
 * matter), else what it is and why not, to follow "which is". */
const char *bg_sensor_explain(const bg_output *output);

/* The bodies it looks at, a and b of the gradient: 0, 1 or 2. Not for expressions. */
int bg_sensor_get_bodies(const bg_output *output, int body[2]);

/* The component of a vector in world axes that the output is. */
double bg_output_pick(const bg_output *output, const bg_world *w, bg_vec3 x);
/* How a wheel stands (wheel_angles.c). */
double bg_wheel_calc(const bg_output *output, const bg_world *w);

/* Its value. Not for expressions. */
double bg_sensor_calc(const bg_output *output, const bg_world *w);

/* Derivatives by the pose (dr, dtheta) and the twist (dv, dw) of its bodies. Not for expressions.
 */
void bg_sensor_calc_gradient(const bg_output *output, const bg_world *w, double by[2][12]);

#endif
