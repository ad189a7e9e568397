"""Equations of motion written in Python.

    q' = V v,  M(q) v' = f - G^T lambda,  z' = h,  0 = g(q, t)

Functions take a Point and return what numpy can make an array of. g and, where nq != nv, V have to
be given with constraints; G, gt (dg/dt at fixed q) and gamma come from differences where they are left out.
"""
from ctypes import byref, c_double, c_void_p, string_at

import numpy as np

from ._library import (bg_system_def, call, keep_caught, lib, make_names, need_text,
                       outputs_function, terms_function)
from .model import Runnable

BITS = {"M": 1 << 0, "f": 1 << 1, "g": 1 << 2, "gt": 1 << 3, "G": 1 << 4, "gamma": 1 << 5,
        "V": 1 << 6, "h": 1 << 7}


class Point:
    """Where functions are evaluated: t, q, v, z, copies that can be kept and cannot be written."""

    __slots__ = ("t", "q", "v", "z")

    def __init__(self, p, nq, nv, nz):
        def copy(pointer, n):
            return np.frombuffer(string_at(pointer, 8 * n) if n else b"")
        self.t, self.q, self.v, self.z = p.t, copy(p.q, nq), copy(p.v, nv), copy(p.z, nz)


class System(Runnable):
    """bogie.System(q0=[1, 0], v0=[0, 0], M=..., f=..., g=..., G=..., t_end=10)

    M may be a constant matrix. An exception in a function ends the run, analysis or step that called
    it, and comes out of it.
    """

    def __init__(self, q0, v0=None, z0=(), *, M, f, g=None, G=None, gt=None, gamma=None, V=None,
                 h=None, outputs=None, output_names=None, names=None, ng=None, t_start=0.0,
                 t_end=1.0, name="python"):
        q0, z0 = np.asarray(q0, float), np.asarray(z0, float)
        v0 = np.zeros(len(q0)) if v0 is None else np.asarray(v0, float)
        if g is None and any(x is not None for x in (G, gt, gamma)):
            raise ValueError("G, gt and gamma are of constraints; give g, too")
        if names is not None and len(names) != len(q0):
            raise ValueError(f"there are {len(q0)} coordinates q, but {len(names)} names")
        functions = {"M": M, "f": f, "g": g, "G": G, "gt": gt, "gamma": gamma, "V": V, "h": h}
        self._functions = {k: x if callable(x) else (lambda p, value=np.asarray(x, float): value)
                           for k, x in functions.items() if x is not None}
        self._handle = c_void_p()
        nq, nv, nz = len(q0), len(v0), len(z0)
        if g is not None and ng is None:
            start = Point.__new__(Point)
            start.t, start.q, start.v, start.z = t_start, q0.copy(), v0.copy(), z0.copy()
            for values in (start.q, start.v, start.z):
                values.flags.writeable = False
            ng = np.size(g(start))
        ng = ng or 0
        self._sizes = {"M": (nv, nv), "f": (nv,), "g": (ng,), "gt": (ng,), "G": (ng, nv),
                       "gamma": (ng,), "V": (nq, nv), "h": (nz,)}
        self._outputs, self._ny = outputs, len(output_names or ())
        ny = self._ny
        if (outputs is None) != (not ny):
            raise ValueError("outputs and output_names come together: a function, and a name for "
                             "each number it returns")
        d = lib.bg_default_system_def()
        self._keep = [need_text("name", name), terms_function(self._calc_terms),
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
        call(lib.bg_system_create, byref(d), byref(self._handle))

    def _guard(self, work):
        try:
            work()
            return 0
        except BaseException as error:  # nothing may pass through the library
            keep_caught(error)
            return -1

    def _write(self, name, value, target):
        shape = self._sizes[name]
        array = np.asarray(value, float)
        size = int(np.prod(shape))
        # of a vector, or a matrix of one row or column, numbers in a row will do
        row = array.size == size == max(shape) == max(array.shape, default=1) and \
            not array.ndim == len(shape) == 2
        if array.shape != shape and not row:
            raise ValueError(f"{name} returned an array of shape {array.shape}, not {shape}")
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
            if values.size != self._ny:
                raise ValueError(f"outputs returned {values.size} numbers for {self._ny} names")
            np.ctypeslib.as_array(y, (values.size,))[:] = values
        return self._guard(work)

    def _fill(self, d):
        d.system = self._handle
        return {}

    def __del__(self):
        if getattr(self, "_handle", None):
            lib.bg_system_destroy(self._handle)
            self._handle = None
