/* The chain in DART, twice: inverse dynamics leaves its torques in the skeleton, where forward
 * dynamics would apply them. */
#include "chain.h"

#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <string>

namespace
{

using State = Eigen::Map<const Eigen::VectorXd>;

class DartChain final : public Chain
{
    dart::dynamics::SkeletonPtr forward = create(), inverse = create();

    dart::dynamics::SkeletonPtr create() const
    {
        using namespace dart::dynamics;
        const SkeletonPtr chain = Skeleton::create("chain");
        BodyNode *parent = nullptr;
        for (int k = 0; k < n; k++) {
            RevoluteJoint::Properties hinge;
            hinge.mName = "hinge" + std::to_string(k + 1);
            hinge.mAxis = Eigen::Vector3d::UnitY();
            hinge.mT_ParentBodyToJoint.translation().x() = k > 0 ? length : 0;
            BodyNode::Properties rod;
            rod.mName = "rod" + std::to_string(k + 1);
            rod.mInertia.setMass(mass);
            rod.mInertia.setLocalCOM(Eigen::Vector3d(length / 2, 0, 0));
            rod.mInertia.setMoment(0, across, across, 0, 0, 0);
            parent = chain->createJointAndBodyNodePair<RevoluteJoint>(parent, hinge, rod).second;
        }
        chain->setGravity(Eigen::Vector3d(0, 0, -gravity));
        return chain;
    }

  public:
    using Chain::Chain;

    void accelerate(const double *q, const double *v, double *a) override
    {
        forward->setPositions(State(q, n));
        forward->setVelocities(State(v, n));
        forward->computeForwardDynamics();
        Eigen::Map<Eigen::VectorXd>(a, n) = forward->getAccelerations();
    }

    void residual(const double *q, const double *v, const double *a, double *r) override
    {
        inverse->setPositions(State(q, n));
        inverse->setVelocities(State(v, n));
        inverse->setAccelerations(State(a, n));
        inverse->computeInverseDynamics();
        Eigen::Map<Eigen::VectorXd>(r, n) = inverse->getForces();
    }
};

} // namespace

std::unique_ptr<Chain> chain_create_dart(int n)
{
    return std::make_unique<DartChain>(n);
}
