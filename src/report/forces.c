/* Forces of springs and on wheels frame by frame. Each element that is drawn is asked for its
 * wrenches alone; what it does to one body is its arrow: to the wheel, to the second end of a
 * spring, or to the first where the second is on the ground. */
#include "base/memory.h"
#include "report/scene.h"

#include <math.h>
#include <stdlib.h>

static const double max_force_values = 1e6; /* forces x frames; more would make a page of 16 MB */

static bool find_place(const bg_force *f, bg_scene_force *out)
{
    bg_force_look look = {0};
    if (f->class_->look && f->class_->apply)
        f->class_->look(f, &look);
    if (look.nends == 0)
        return false;
    const bool second = look.nends == 2 && look.end[1].body != 0;
    *out = (bg_scene_force){
        .force = f->index, .wheel = look.radius > 0, .at = look.end[second ? 1 : 0]};
    return out->at.body != 0;
}

bg_status bg_scene_create_forces(bg_scene *s, bg_error *err)
{
    const bg_model *m = s->model;
    bg_scene_force found;
    for (int k = 0; k < m->nforces; k++)
        s->ndrawn += find_place(&m->forces[k], &found);
    if ((double)s->ndrawn * (double)s->frames > max_force_values) {
        s->left_out = s->ndrawn;
        s->ndrawn = 0;
    }
    s->forces = BG_NEW_ARRAY(bg_scene_force, s->ndrawn);
    s->wrench = BG_NEW_ARRAY(bg_wrench, s->nbodies);
    bool ok = s->forces && s->wrench;
    int n = 0;
    for (int k = 0; k < m->nforces && ok && n < s->ndrawn; k++)
        if (find_place(&m->forces[k], &s->forces[n])) {
            ok = (s->forces[n].f = BG_NEW_ARRAY(float, 3 * s->frames)) != NULL;
            n++;
        }
    return ok ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for the forces of a scene");
}

static bg_vec3 find_force(bg_scene *s, const bg_force *f, int body)
{
    if (f->class_->find_whole)
        return f->class_->find_whole(f, &s->mb->world);
    s->wrench[body] = (bg_wrench){{0, 0, 0}, {0, 0, 0}};
    f->class_->apply(f, &s->mb->world, s->wrench);
    return s->wrench[body].f;
}

void bg_scene_store_forces(bg_scene *s, long frame)
{
    for (int k = 0; k < s->ndrawn; k++) {
        const bg_force *f = &s->model->forces[s->forces[k].force];
        const bg_vec3 whole = find_force(s, f, s->forces[k].at.body);
        const double x[3] = {whole.x, whole.y, whole.z};
        for (int i = 0; i < 3; i++)
            s->forces[k].f[3 * frame + i] = isfinite(x[i]) ? (float)x[i] : 0;
    }
}

void bg_scene_destroy_forces(bg_scene *s)
{
    for (int k = 0; s->forces && k < s->ndrawn; k++)
        free(s->forces[k].f);
    free(s->forces);
    free(s->wrench);
}
