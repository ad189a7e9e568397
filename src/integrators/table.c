/* The methods: one line each. */
#include "integrators/integrator.h"

#define METHODS(X)           \
    X(bg_mdop5)              \
    X(bg_mdop8)              \
    X(bg_hem4_class)         \
    X(bg_hem5)               \
    X(bg_rk4)                \
    X(bg_bdf_class)          \
    X(bg_euler_class)        \
    X(bg_linear_euler_class) \
    X(bg_adams_class)        \
    X(bg_sdirk4)             \
    X(bg_trapezoidal)        \
    X(bg_sdirk4_first_order) \
    X(bg_automatic_class)    \
    X(bg_rk2)                \
    X(bg_prk)                \
    X(bg_prk25)              \
    X(bg_prk26)              \
    X(bg_prk27)              \
    X(bg_prk28)              \
    X(bg_prk35)              \
    X(bg_prk36)              \
    X(bg_prk36b)             \
    X(bg_prk38)              \
    X(bg_prk48)              \
    X(bg_prk25_paper)

#define DECLARE(name) extern const bg_integrator_class name;
#define ADDRESS(name) &name,
METHODS(DECLARE)

const bg_integrator_class *const *bg_integrator_get_classes(void)
{
    static const bg_integrator_class *const classes[] = {METHODS(ADDRESS) NULL};
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
