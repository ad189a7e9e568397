/* The built-in families, in the order of `bogie list`. A new one is its file and a line here. */
#include "bogie/system.h"

#define EQUATIONS_LIST(X) \
    X(circular_track)     \
    X(car_axle)           \
    X(andrews)            \
    X(pendulum)           \
    X(slider_crank)       \
    X(chain)              \
    X(bouncing_ball)      \
    X(wheelset)           \
    X(two_masses)         \
    X(fast_pendulum)      \
    X(planar_vehicle)

#define DECLARE(name) extern const bg_equations bg_equations_##name;
EQUATIONS_LIST(DECLARE)
#undef DECLARE

const bg_equations *const *bg_equations_get_all(void)
{
#define ADDRESS(name) &bg_equations_##name,
    static const bg_equations *const all[] = {EQUATIONS_LIST(ADDRESS) NULL};
#undef ADDRESS
    return all;
}
