/* What a model is made of: bodies, the tree that carries the coordinates, and the joints that close
 * loops. */
#include "cli/cli.h"

#include "model/mechanism.h"
#include "results/check.h"

#include <stdio.h>

static void print_bodies(const bg_model *model)
{
    double centre[3], mass = bg_check_calc_mass(model, centre);
    printf("  bodies           %d, total mass %.6g kg", model->nbodies - 1, mass);
    if (mass > 0)
        printf(", centre of mass (%.6g, %.6g, %.6g) m as designed", centre[0], centre[1],
               centre[2]);
    printf("\n");
}

/* The width of the longest name of a joint, and of the longest "parent -> child". */
typedef struct column_widths {
    int name, bodies;
} column_widths;

static int longer(int a, int b)
{
    return a > b ? a : b;
}

static const char *get_name(const bg_model *model, const bg_tree_joint *t)
{
    return t->joint >= 0 ? model->joints[t->joint].name : "(none)";
}

static column_widths calc_columns(const bg_mechanism *mechanism)
{
    const bg_model *model = mechanism->model;
    column_widths width = {0};
    for (int k = 0; k < mechanism->ntree; k++) {
        const bg_tree_joint *t = &mechanism->tree[k];
        width.name = longer(width.name, snprintf(NULL, 0, "%s", get_name(model, t)));
        width.bodies = longer(width.bodies,
                              snprintf(NULL, 0, "%s -> %s", model->bodies[t->parent].name,
                                       model->bodies[t->child].name));
    }
    return width;
}

/* The coordinates of a tree joint by name, with the input that prescribes one; the links without a
 * name are translations along the axes of the joint and the quaternion of a ball. */
static void print_coordinates(const bg_mechanism *mechanism, const bg_tree_joint *t)
{
    static const char *const axes[] = {"x", "y", "z"};
    const bg_model *model = mechanism->model;
    const bg_joint *joint = t->joint >= 0 ? &model->joints[t->joint] : NULL;
    int named = joint ? joint->class_->ncoordinates : 0;
    const char *separator = ": ";
    for (int k = 0; k < named; k++, separator = ", ") {
        int input = joint->start[k].signal;
        printf("%s%s", separator, joint->class_->coordinate[k].name);
        if (input >= 0)
            printf(" (follows %s)", model->signals[input].name);
    }
    for (int k = t->first; k < t->first + t->count; k++) {
        const bg_link *link = &mechanism->links[k];
        if (link->kind == BG_LINK_BALL) {
            printf("%sorientation (quaternion)", separator);
            separator = ", ";
        } else if (named == 0) {
            printf("%s%s", separator, axes[link->axis]);
            separator = ", ";
        }
    }
    printf("\n");
}

static void print_tree(const bg_mechanism *mechanism)
{
    const bg_model *model = mechanism->model;
    column_widths width = calc_columns(mechanism);
    printf("  tree             %d joint%s, %d coordinate%s q, %d %s v\n", mechanism->ntree,
           mechanism->ntree == 1 ? "" : "s", mechanism->nq, mechanism->nq == 1 ? "" : "s",
           mechanism->nv, mechanism->nv == 1 ? "velocity" : "velocities");
    for (int k = 0; k < mechanism->ntree; k++) {
        const bg_tree_joint *t = &mechanism->tree[k];
        const char *parent = model->bodies[t->parent].name;
        int used = printf("    %-*s  %s -> %s", width.name, get_name(model, t), parent,
                          model->bodies[t->child].name);
        printf("%*s  %s", 4 + width.name + 2 + width.bodies - used, "",
               t->joint >= 0 ? model->joints[t->joint].class_->name : "free, given by Bogie");
        print_coordinates(mechanism, t);
    }
}

static void print_cuts(const bg_mechanism *mechanism)
{
    const bg_model *model = mechanism->model;
    int width = 0;
    for (int k = 0; k < mechanism->ncuts; k++)
        width = longer(width, snprintf(NULL, 0, "%s", model->joints[mechanism->cuts[k]].name));
    for (int k = 0; k < model->ncouplers; k++)
        width = longer(width, snprintf(NULL, 0, "%s", model->couplers[k].name));
    if (width == 0) {
        printf("  loops            none\n");
        return;
    }
    printf("  loops            closed by\n");
    for (int k = 0; k < mechanism->ncuts; k++) {
        const bg_joint *joint = &model->joints[mechanism->cuts[k]];
        int rows = bg_joint_class_count_rows(joint->class_);
        printf("    %-*s  %s - %s, %s: %d constraint%s\n", width, joint->name,
               model->bodies[joint->a.body].name, model->bodies[joint->b.body].name,
               joint->class_->name, rows, rows == 1 ? "" : "s");
    }
    for (int k = 0; k < model->ncouplers; k++)
        printf("    %-*s  relates %d joint coordinates: 1 constraint\n", width,
               model->couplers[k].name, model->couplers[k].n);
}

bg_status bg_topology_print(const bg_model *model, bg_error *err)
{
    bg_mechanism *mechanism;
    bg_status status = bg_mechanism_create(model, &mechanism, err);
    if (status)
        return status;
    print_bodies(model);
    print_tree(mechanism);
    print_cuts(mechanism);
    bg_mechanism_destroy(mechanism);
    return BG_OK;
}
