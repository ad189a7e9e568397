/* Crank drives that turn fully, as model files with single quotes. */
#ifndef TURNING_CRANKS_H
#define TURNING_CRANKS_H

/* Turns of a crank, with the rod or coupler that makes other coordinates the better ones. */
static const char slider_crank[] =
    "{'gravity': 9.81, 'bodies': {'crank': {'mass': 2, 'center': [0.15, 0, 0], 'inertia': [0.01, "
    "0.02, 0.02]}, 'rod': {'mass': 1, 'center': [0.6, 0, 0], 'inertia': [0.001, 0.03, 0.03]}, "
    "'slider': {'mass': 0.5, 'center': [0.9, 0, 0], 'inertia': [0.01, 0.01, 0.01]}}, 'joints': "
    "{'bearing': {'type': 'revolute', 'bodies': ['ground', 'crank'], 'at': [0, 0, 0], 'axis': [0, "
    "1, 0], 'initial': {'position': 0.3, 'velocity': 12, 'fixed': true, 'fixed_velocity': true}}, "
    "'pin': {'type': 'revolute', 'bodies': ['crank', 'rod'], 'at': [0.3, 0, 0], 'axis': [0, 1, "
    "0]}, "
    "'guide': {'type': 'prismatic', 'bodies': ['ground', 'slider'], 'at': [0.9, 0, 0], 'axis': [1, "
    "0, 0]}, 'eye': {'type': 'point-on-line', 'bodies': ['slider', 'rod'], 'at': [0.9, 0, 0], "
    "'axis': [0, 1, 0]}}, 'outputs': {'x': {'position': 'slider', 'component': 'x'}}}";
static const char crank_rocker[] =
    "{'gravity': 9.81, 'bodies': {'crank': {'mass': 1, 'center': [0, 0, 0.2], 'inertia': [0.02, "
    "0.02, 0.002]}, 'coupler': {'mass': 1.5, 'center': [0.428, 0, 0.537], 'inertia': [0.01, 0.1, "
    "0.1]}, 'rocker': {'mass': 1.2, 'center': [0.93, 0, 0.34], 'inertia': [0.05, 0.05, 0.01]}}, "
    "'joints': {'A': {'type': 'revolute', 'bodies': ['ground', 'crank'], 'at': [0, 0, 0], 'axis': "
    "[0, 1, 0], 'initial': {'velocity': 12, 'fixed': true, 'fixed_velocity': true}}, 'B': {'type': "
    "'revolute', 'bodies': ['crank', 'coupler'], 'at': [0, 0, 0.4], 'axis': [0, 1, 0]}, 'D': "
    "{'type': 'revolute', 'bodies': ['ground', 'rocker'], 'at': [1, 0, 0], 'axis': [0, 1, 0]}, "
    "'C': "
    "{'type': 'point-on-line', 'bodies': ['rocker', 'coupler'], 'at': [0.856, 0, 0.675], 'axis': "
    "[0, 1, 0]}}, 'outputs': {'z': {'position': 'rocker', 'component': 'z'}}}";

#endif
