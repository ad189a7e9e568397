/* Rings: bodies that tyres add to the mechanism, and their joints (read_rings.c).
 *
 * Tyre NAME of a class with `ring` adds
 *   the body NAME.ring, of mass "mass" and the moments of inertia "polar" and "diametral", at the
 *     centre of the wheel, y along the wheel's axis;
 *   the joint NAME.ring between the ground and the ring, which the class names;
 *   the joint NAME.sidewall between the wheel and the ring, which restricts nothing and is never
 *     part of the tree: the ring starts at rest against the wheel, "deflection" higher than its
 *     centre and with the spin "spin". */
#ifndef BG_RINGS_H
#define BG_RINGS_H

#include "model/read.h"

enum { BG_RING_JOINTS = 2 }; /* of each */

/* How many rings the tyres of the model have. */
size_t bg_read_count_rings(bg_reader *reader);
void bg_read_ring_bodies(bg_reader *reader); /* when all other bodies are there */
void bg_read_ring_joints(bg_reader *reader);

/* Of the tyre at v: the axis it spins about, in the world of the design position; the body of its
 * ring. */
bg_vec3 bg_ring_read_axis(const bg_value *v);
int bg_ring_find_body(const bg_value *v);

#endif
