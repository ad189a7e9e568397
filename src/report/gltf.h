/* The motion of a scene as binary glTF 2.0, for other programs: meshes of the bodies' shapes, tyres
 * and road, springs that stretch, and one animation. */
#ifndef BG_REPORT_GLTF_H
#define BG_REPORT_GLTF_H

#include "report/scene.h"

#include <stdio.h>

/* Write errors stay in the FILE. */
bg_status bg_gltf_write(const bg_scene *scene, const char *name, FILE *out, bg_error *err);

#endif
