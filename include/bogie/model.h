/* Models: mechanisms described in one JSON file (docs/model.md), made into a bg_system. */
#ifndef BOGIE_MODEL_H
#define BOGIE_MODEL_H

#include "bogie/system.h"

BG_API_BEGIN

typedef struct bg_model bg_model;

/* Reads a model file, or a text (origin names it in messages). settings override or add values by
 * path:
 * {"parameters.speed", "20"}, {"joints.a.axis", "[0,1,0]"}. A failure names the JSON path. */
bg_status bg_model_read(const char *path, const bg_setting *settings, int nsettings,
                        bg_model **model, bg_error *err);
bg_status bg_model_parse(const char *text, const char *origin, const bg_setting *settings,
                         int nsettings, bg_model **model, bg_error *err);
void bg_model_destroy(bg_model *model);

/* The model as one JSON text that needs no other file: settings applied, tables of files written
 * out, its name stated. Reading it gives the same model. To be released with free(); NULL: out of
 * memory. */
char *bg_model_create_text(const bg_model *model);

/* The equations of motion in "joint" or "cartesian" coordinates. The model must outlive the system.
 */
bg_status bg_model_create_system(const bg_model *model, const char *formulation, bg_system **system,
                                 bg_error *err);

BG_API_END
#endif
