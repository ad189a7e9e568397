/* The chain in Simbody. Its pins turn about z: with z for y and -y for z no joint needs a frame
 * that is turned in its body, for which Simbody has a shorter way. */
#include "chain.h"

#include <Simbody.h>
#include <algorithm>

namespace
{

class SimbodyChain final : public Chain
{
    SimTK::MultibodySystem system;
    SimTK::SimbodyMatterSubsystem matter{system};
    SimTK::GeneralForceSubsystem forces{system};
    SimTK::Force::Gravity weight{forces, matter, SimTK::Vec3(0, gravity, 0)};
    SimTK::State state;
    SimTK::Vector none, a_, r_; /* [n]: no torques; accelerations; residual */

    void load(const double *q, const double *v)
    {
        std::copy(q, q + n, &state.updQ()[0]); /* updQ makes everything from positions on invalid */
        std::copy(v, v + n, &state.updU()[0]);
    }

  public:
    explicit SimbodyChain(int rods) : Chain(rods), none(rods, 0.0), a_(rods, 0.0), r_(rods, 0.0)
    {
        using SimTK::Vec3;
        const SimTK::Inertia central(0, across, across);
        const Vec3 centre(length / 2, 0, 0);
        const SimTK::Body::Rigid rod(
            SimTK::MassProperties(mass, centre, central.shiftFromMassCenter(centre, mass)));
        forces.setNumberOfThreads(1);
        SimTK::MobilizedBody parent = matter.Ground();
        for (int k = 0; k < n; k++)
            parent = SimTK::MobilizedBody::Pin(parent, Vec3(k > 0 ? length : 0, 0, 0), rod,
                                               Vec3(0));
        state = system.realizeTopology();
        system.realizeModel(state);
    }

    void accelerate(const double *q, const double *v, double *a) override
    {
        load(q, v);
        system.realize(state, SimTK::Stage::Acceleration);
        const SimTK::Vector &found = state.getUDot();
        std::copy(&found[0], &found[0] + n, a);
    }

    void residual(const double *q, const double *v, const double *a, double *r) override
    {
        load(q, v);
        std::copy(a, a + n, &a_[0]);
        system.realize(state, SimTK::Stage::Velocity);
        matter.calcResidualForceIgnoringConstraints(state, none, weight.getBodyForces(state), a_,
                                                    r_);
        std::copy(&r_[0], &r_[0] + n, r);
    }
};

} // namespace

std::unique_ptr<Chain> chain_create_simbody(int n)
{
    return std::make_unique<SimbodyChain>(n);
}
