/* The tyre of the tests of ring tyres: 205/60R15 91V, H. B. Pacejka, Tire and Vehicle Dynamics, 3rd
 * ed., Appendix 3, as masses, frequencies and damping ratios of the ring, from which stiffnesses
 * and dampings follow; brush of C_Fkappa = 86748 N, C_Falpha = 53353.13 N/rad at 4 kN. */
#ifndef RING_SUPPORT_H
#define RING_SUPPORT_H

#define RING_COMMON                                                                     \
    "'radius': 0.3135, 'effective_radius': 0.304119, 'stiffness': 239068.4, "           \
    "'damping': 478.1368, 'half_length': 0.0684353, 'rolling_resistance': 0.00862014, " \
    "'ring': {'mass': 7.247, 'polar': 0.5698, 'diametral': 0.3519}, "
#define RING_SPATIAL                                                             \
    "'type': 'ring', " RING_COMMON "'tread_stiffness': [9261239, 5695994], "     \
    "'friction': [1.0422, 0.8785], 'sidewall': {'radial': [1703786, 393.5543], " \
    "'lateral': [514581.9, 142.9019], 'torsion': [78171.74, 21.10504], "         \
    "'tilt': [39748.82, 1.655769]}"
#define RING_PLANAR                                                                          \
    "'type': 'ring-planar', " RING_COMMON "'tread_stiffness': 9261239, 'friction': 1.0422, " \
    "'sidewall': {'radial': [1703786, 393.5543], 'torsion': [78171.74, 21.10504]}"

#endif
