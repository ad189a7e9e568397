/* The methods: one line each. */
#include "integrators/integrator.h"

extern const bg_integrator_class bg_mdop5, bg_mdop8, bg_hem4_class, bg_hem5, bg_euler_class,
    bg_linear_euler_class;

const bg_integrator_class *const *bg_integrator_get_classes(void)
{
    static const bg_integrator_class *const classes[] = {
        &bg_mdop5, &bg_mdop8, &bg_hem4_class, &bg_hem5, &bg_euler_class, &bg_linear_euler_class,
        NULL,
    };
    return classes;
}

const bg_integrator_info *bg_integrator_get_info(int i)
{
    const bg_integrator_class *const *classes = bg_integrator_get_classes();
    for (int k = 0; classes[k]; k++)
        if (k == i)
            return &classes[k]->info;
    return NULL;
}
