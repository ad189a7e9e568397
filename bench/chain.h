/* A chain of N rods hinged about y, that of models/n-pendulum.json, in one of the libraries
 * that are compared: together 1 m long, 1 kg each, gravity along -z, straight along x at q = 0. */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include <memory>

struct Chain {
    static constexpr double mass = 1, gravity = 9.81;
    const int n;
    const double length, across; /* of one rod; moment of inertia about its centre, across it */

    explicit Chain(int rods) : n(rods), length(1.0 / rods), across(mass * length * length / 12)
    {
    }
    virtual ~Chain() = default;
    /* Forward dynamics: a = M^{-1} f at q, v without torques at the hinges; [n] each. */
    virtual void accelerate(const double *q, const double *v, double *a) = 0;
    /* Inverse dynamics: r = M a - f, the torques that a asks for. */
    virtual void residual(const double *q, const double *v, const double *a, double *r) = 0;
};

std::unique_ptr<Chain> chain_create_bogie(int n);
std::unique_ptr<Chain> chain_create_simbody(int n);
std::unique_ptr<Chain> chain_create_dart(int n);

#endif
