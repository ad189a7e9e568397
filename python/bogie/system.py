"""Equations of motion written in Python.

    q' = V v,  M(q) v' = f - G^T lambda,  z' = h,  0 = g(q, t)

Functions take a Point and return what numpy can make an array of. g and, where nq != nv, V have to
be given with constraints; G, gt (dg/dt at fixed q) and gamma come from differences where they are left out.
"""
from ctypes import byref, c_double, c_void_p

import numpy as np

from ._library import (bg_system_def, call, lib, make_names, outputs_function, terms_function)
from .model import Runnable

BITS = {"M": 1 << 0, "f": 1 << 1, "g": 1 << 2, "gt": 1 << 3, "G": 1 << 4, "gamma": 1 << 5,
        "V": 1 << 6, "h": 1 << 7}


class Point:
    """Where functions are evaluated: t, q, v, z."""

    __slots__ = ("t", "q", "v", "z")

    def __init__(self, p, nq, nv, nz):
        def view(pointer, n):
            return np.ctypeslib.as_array(pointer, (n,)) if n else np.zeros(0)
        self.t, self.q, self.v, self.z = p.t, view(p.q, nq), view(p.v, nv), view(p.z, nz)


class System(Runnable):
    """bogie.System(q0=[1, 0], v0=[0, 0], M=..., f=..., g=..., G=..., t_end=10)

    M may be a constant matrix. An exception in a function ends the run and comes out of it.
    """

    def __init__(self, q0, v0=None, z0=(), *, M, f, g=None, G=None, gt=None, gamma=None, V=None,
                 h=None, outputs=None, output_names=None, names=None, ng=None, t_start=0.0,
                 t_end=1.0, name="python"):
        q0, z0 = np.asarray(q0, float), np.asarray(z0, float)
        v0 = np.zeros(len(q0)) if v0 is None else np.asarray(v0, float)
        functions = {"M": M, "f": f, "g": g, "G": G, "gt": gt, "gamma": gamma, "V": V, "h": h}
        self._functions = {k: x if callable(x) else (lambda p, value=np.asarray(x, float): value)
                           for k, x in functions.items() if x is not None}
        self._error, self._handle = None, c_void_p()
        nq, nv, nz = len(q0), len(v0), len(z0)
        if g is not None and ng is None:
            start = Point.__new__(Point)
            start.t, start.q, start.v, start.z = t_start, q0, v0, z0
            ng = np.size(g(start))
        ng = ng or 0
        self._sizes = {"M": (nv, nv), "f": (nv,), "g": (ng,), "gt": (ng,), "G": (ng, nv),
                       "gamma": (ng,), "V": (nq, nv), "h": (nz,)}
        self._outputs, ny = outputs, len(output_names or ())
        if (outputs is None) != (not ny):
            raise ValueError("outputs and output_names come together: a function, and a name for "
                             "each number it returns")
        d = lib.bg_default_system_def()
        self._keep = [name.encode(), terms_function(self._calc_terms),
                      outputs_function(self._calc_outputs)]
        d.name, d.nq, d.nv, d.nz, d.ng, d.ny = self._keep[0], nq, nv, nz, ng, ny
        d.supplied = sum(BITS[k] for k in self._functions)
        d.scleronomic = 1 if gt is None and ng == 0 else 0
        d.t_start, d.t_end = t_start, t_end
        d.terms = self._keep[1]
        if ny:
            d.outputs = self._keep[2]
        for field, values in (("q0", q0), ("v0", v0), ("z0", z0)):
            array = (c_double * max(len(values), 1))(*values)
            self._keep.append(array)
            setattr(d, field, array)
        for field, words in (("q_names", names), ("y_names", output_names)):
            if words:
                self._keep.append(make_names(words))
                setattr(d, field, self._keep[-1])
        try:
            call(lib.bg_system_create, byref(d), byref(self._handle))
        finally:
            self._raise_own()

    def _guard(self, work):
        try:
            work()
            return 0
        except BaseException as error:  # nothing may pass through the library
            self._error = self._error or error
            return -1

    def _write(self, name, value, target):
        shape = self._sizes[name]
        array = np.asarray(value, float)
        if array.size != int(np.prod(shape)):
            raise ValueError(f"{name} returned {array.shape}, not {shape}")
        np.ctypeslib.as_array(target, (array.size,))[:] = array.reshape(-1)

    def _calc_terms(self, _, p, want, out):
        def work():
            point = Point(p.contents, self._sizes["V"][0], self._sizes["M"][0], self._sizes["h"][0])
            for name, function in self._functions.items():
                if want & BITS[name] and np.prod(self._sizes[name]) > 0:
                    self._write(name, function(point), getattr(out.contents, name))
        return self._guard(work)

    def _calc_outputs(self, _, p, a, lam, y):
        def work():
            point = Point(p.contents, self._sizes["V"][0], self._sizes["M"][0], self._sizes["h"][0])
            values = np.asarray(self._outputs(point), float).reshape(-1)
            np.ctypeslib.as_array(y, (values.size,))[:] = values
        return self._guard(work)

    def _raise_own(self):
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _fill(self, d):
        d.system = self._handle
        return {}

    def __del__(self):
        if getattr(self, "_handle", None):
            lib.bg_system_destroy(self._handle)
            self._handle = None
