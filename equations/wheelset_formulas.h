/* The contact of the wheelset and its creep forces, in formulas that hold for `number` being double
 * and, for exact derivatives, double complex: equations/wheelset.c includes them once for each, and
 * says what they are. NAME makes the names of the functions; real() is the real part of a number.
 */

typedef struct NAME(contact) {
    number psi, xi, R; /* contact angle on the wheel, place along the axle, rolling radius */
    number sin_psi, cos_psi;
    number slope;        /* of the rail */
    number sin_d, cos_d; /* of the contact angle delta, towards the middle */
    number g;            /* height of the rail above the wheel */
} NAME(contact);

typedef struct NAME(place) {
    number x, y, st, ct, sf, cf, theta; /* sines and cosines of theta and phi */
} NAME(place);

static NAME(place) NAME(find_place)(const number *q)
{
    return (NAME(place)){q[X],        q[Y],        sin(q[THETA]), cos(q[THETA]),
                         sin(q[PHI]), cos(q[PHI]), q[THETA]};
}

static NAME(contact) NAME(find_contact)(const wheelset *w, const NAME(place) * o, double side)
{
    NAME(contact) c;
    const double cone = -side * tan(w->cone);
    /* cos(theta) sin(psi) + sin(theta) sin(phi) cos(psi) = R' sin(theta) cos(phi) */
    const number b = o->st * o->sf, e = cone * o->st * o->cf;
    const number length2 = o->ct * o->ct + b * b, root = sqrt(length2 - e * e);
    c.sin_psi = (o->ct * e - b * root) / length2;
    c.cos_psi = (b * e + o->ct * root) / length2;
    c.psi = atan(c.sin_psi / c.cos_psi);
    /* the rail's slope where its normal is the wheel's, and the place on the circle that has it */
    c.slope = -(cone * o->ct * o->cf - o->ct * o->sf * c.cos_psi + o->st * c.sin_psi) /
              (cone * o->sf + o->cf * c.cos_psi);
    const number T = w->rail_radius / sqrt(1.0 + c.slope * c.slope);
    const number s = side * (w->gauge + w->rail_radius * sin(w->cone)) - c.slope * T;
    /* s = x + xi cos(theta) cos(phi) + R(xi) k, and R is linear in xi */
    const double R0 = w->radius + tan(w->cone) * w->gauge;
    const number k = o->ct * o->sf * c.cos_psi - o->st * c.sin_psi;
    c.xi = (s - o->x - R0 * k) / (o->ct * o->cf + cone * k);
    c.R = R0 + cone * c.xi;
    c.g = T - w->radius - w->rail_radius * cos(w->cone) - o->y - c.xi * o->sf +
          c.R * o->cf * c.cos_psi;
    const number across = (cone * o->cf - o->sf * c.cos_psi) * o->ct + c.sin_psi * o->st;
    const number up = cone * o->sf + c.cos_psi * o->cf, length = sqrt(across * across + up * up);
    c.sin_d = -side * across / length;
    c.cos_d = up / length;
    return c;
}

/* The row of G, for x, y, z, theta and phi; beta has none. */
static void NAME(write_row)(const NAME(place) * o, const NAME(contact) * c, number *row)
{
    row[X] = c->slope;
    row[Y] = -1.0;
    row[Z] = 0.0;
    row[THETA] = c->slope * (c->R * (-o->ct * c->sin_psi - c->cos_psi * o->sf * o->st) -
                             o->cf * o->st * c->xi);
    row[PHI] = -c->cos_psi * c->R * o->sf - o->cf * c->xi +
               c->slope * (o->cf * c->cos_psi * o->ct * c->R - o->ct * o->sf * c->xi);
}

/* Loads normal to both contacts, from the multipliers: together they have the force of these. */
static void NAME(find_loads)(const NAME(contact) * c, const number *lambda, number *N)
{
    const number w1 = -(c[0].slope * lambda[0] + c[1].slope * lambda[1]);
    const number w2 = lambda[0] + lambda[1];
    const number D = -c[0].sin_d * c[1].cos_d - c[1].sin_d * c[0].cos_d;
    N[0] = (c[1].cos_d * w1 - c[1].sin_d * w2) / D;
    N[1] = (-c[0].cos_d * w1 - c[0].sin_d * w2) / D;
}

/* The creep force T on the wheel, under the load N. */
static void NAME(find_creep)(const wheelset *w, const NAME(place) * o, const NAME(contact) * c,
                             double side, const number *v, number N, number *T)
{
    if (real(N) == 0.0) {
        T[0] = T[1] = T[2] = 0.0;
        return;
    }
    const number turned = o->theta / c->cos_d, S = sin(turned), C = cos(turned);
    const number spin = w->speed / w->radius + v[BETA], R = c->R, xi = c->xi;
    const number sin_d = side * c->sin_d;
    const number w1 = -spin * R * (S * c->cos_psi + C * o->sf * c->sin_psi) + v[X] -
                      v[THETA] * (R * (S * o->sf * c->cos_psi + C * c->sin_psi) + xi * S * o->cf) -
                      v[PHI] * C * (xi * o->sf - R * o->cf * c->cos_psi);
    const number w2 = spin * R * o->cf * c->sin_psi + v[Y] +
                      v[PHI] * (xi * o->cf + R * o->sf * c->cos_psi);
    const number w3 = -spin * R * (C * c->cos_psi - S * o->sf * c->sin_psi) + w->speed + v[Z] -
                      v[THETA] * (xi * C * o->cf + R * (C * o->sf * c->cos_psi - S * c->sin_psi)) +
                      v[PHI] * S * (xi * o->sf - R * o->cf * c->cos_psi);
    const number r1 = w1 - 2.0 * v[X], r2 = w2 - 2.0 * v[Y], r3 = w3 - 2.0 * v[Z] - 2.0 * w->speed;
    const number rolling = 0.5 * sqrt(r1 * r1 + r2 * r2 + r3 * r3);
    const number creep_x = (S * w1 + C * w3) / rolling;
    const number creep_y = (C * c->cos_d * w1 + sin_d * w2 - S * c->cos_d * w3) / rolling;
    const number creep_spin = (-sin_d * spin + c->cos_d * v[THETA]) / rolling;
    /* the size of the contact ellipse after Hertz */
    const double flat = sqrt(1.0 + tan(w->cone) * tan(w->cone));
    const number curvature = 0.5 / (R * flat) + 0.5 / w->rail_radius;
    const number load = real(N) < 0.0 ? -N : N;
    const number size = pow(3.0 * load * (1.0 - w->poisson) * hertz_e /
                                (2.0 * published_pi * curvature * w->shear * sqrt(hertz_g)),
                            1.0 / 3.0);
    const number W = w->friction * N, stiffness = w->shear * size * size;
    number Tx = -W * tanh(stiffness * w->C11 * creep_x / W);
    number Ty = -W * tanh(stiffness * (w->C22 * creep_y + size * w->C23 * creep_spin) / W);
    const number T2 = Tx * Tx + Ty * Ty;
    if (real(T2) > real(W * W)) {
        const number scale = (real(W) < 0.0 ? -W : W) / sqrt(T2);
        Tx *= scale;
        Ty *= scale;
    }
    T[0] = S * Tx + C * c->cos_d * Ty;
    T[1] = sin_d * Ty;
    T[2] = C * Tx - S * c->cos_d * Ty;
}

/* f with the forces that are published, and of it what is applied: all but gravity, the springs and
 * what comes of the coordinates. */
static void NAME(find_forces)(const wheelset *w, const number *q, const number *v,
                              const number *lambda, number *f, number *applied)
{
    const NAME(place) o = NAME(find_place)(q);
    const number spin = w->speed / w->radius + v[BETA], turn = v[THETA] * v[PHI];
    const double I1 = w->I_spin, I2 = w->I_yaw;
    const number moment = -2.0 * w->arm * w->arm * w->c_z * q[THETA];
    NAME(contact) c[2];
    number N[2], around = 0.0; /* around: of theta's own axis, in the third axis of the wheelset */
    for (int k = 0; k < 2; k++)
        c[k] = NAME(find_contact)(w, &o, sides[k]);
    NAME(find_loads)(c, lambda, N);
    for (int i = 0; i < 6; i++)
        applied[i] = 0.0;
    for (int k = 0; k < 2; k++) {
        const number xi = c[k].xi, R = c[k].R, sp = c[k].sin_psi, cp = c[k].cos_psi;
        number T[3], row[6];
        NAME(find_creep)(w, &o, &c[k], sides[k], v, N[k], T);
        NAME(write_row)(&o, &c[k], row);
        applied[X] += T[0];
        applied[Y] += T[1];
        applied[Z] += T[2];
        around += -(xi * o.st + R * sp * o.ct * o.cf) * T[0] - R * sp * o.sf * T[1] +
                  (-xi * o.ct + R * sp * o.st * o.cf) * T[2];
        applied[PHI] += -(xi * o.ct * o.sf - R * cp * o.ct * o.cf) * T[0] +
                        (xi * o.cf + R * cp * o.sf) * T[1] +
                        (xi * o.st * o.sf - R * cp * o.st * o.cf) * T[2];
        applied[BETA] += -R * (cp * o.st + sp * o.ct * o.sf) * T[0] + R * sp * o.cf * T[1] -
                         R * (cp * o.ct - sp * o.st * o.sf) * T[2];
        applied[THETA] -= (o.cf - 1.0) * row[THETA] * lambda[k];
    }
    applied[BETA] += o.sf * moment;
    applied[THETA] += o.cf * (around + o.cf * moment) + o.sf * applied[BETA] - moment;
    f[X] = applied[X] - 2.0 * w->c_x * q[X];
    f[Y] = applied[Y] - w->mass * w->gravity;
    f[Z] = applied[Z] - 2.0 * w->c_z * q[Z];
    f[THETA] = applied[THETA] + moment +
               o.cf * (2.0 * I2 * turn * o.sf - I1 * v[PHI] * (spin + v[THETA] * o.sf)) -
               o.sf * I1 * turn * o.cf;
    f[PHI] = applied[PHI] + I1 * spin * v[THETA] * o.cf +
             (I1 - I2) * v[THETA] * v[THETA] * o.sf * o.cf;
    f[BETA] = applied[BETA] - I1 * turn * o.cf;
}
