"""What a model is like at one state: what it is made of, its equilibrium, A B C D, modes."""
import os
from ctypes import byref, c_int, c_void_p, pointer

import numpy as np

from ._library import call, call_aside, files, lib, need_number, need_path, take_json


class Facts(dict):
    """A dict whose keys are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no '{name}', but {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


class Check(Facts):
    """What a model is made of (docs/results.md): bodies, tree, loops, freedom, freedoms, redundant,
    start, warnings, ..."""

    def __repr__(self):
        lines = [f"{self['model']}: {self['name']}"]
        if self.get("formulation"):
            lines[0] += f", {self['formulation']} formulation"
            lines.append(f"  {len(self['bodies'])} bodies, {self['mass']:.6g} kg, "
                         f"{len(self['tree'])} joints in the tree, {len(self['loops'])} close loops")
        d = self["dimensions"]
        lines.append(f"  {d['nq']} coordinates q, {d['nv']} velocities v, {d['nz']} states z, "
                     f"{d['ng']} constraints")
        lines.append(f"  {self['freedom']} degrees of freedom")
        lines += [f"    {f['coordinate']}" + (f": {f['motion']}" if f["motion"] else "")
                  for f in self["freedoms"]]
        if self["redundant"]:
            lines.append("  redundant: " + ", ".join(self["redundant"]))
        lines += [f"  {'remark' if w['verdict'] == 'good' else 'warning'}: {w['text']}"
                  for w in self["warnings"]]
        compared = self.get("compared")
        if compared:
            # an error that is no number, None here, is the worst
            worst = max(compared, key=lambda c: np.inf if c["error"] is None else c["error"])
            supplied, differenced, t, error = (
                format(np.nan if worst[k] is None else worst[k], form) for k, form in
                (("supplied", ".9g"), ("differenced", ".9g"), ("t", "g"), ("error", ".2g")))
            said = (f"{worst['quantity']}, entry {worst['entry']}, is supplied as {supplied} and is "
                    f"{differenced} by differences at t = {t} s, error {error}")
            lines.append(f"  derivatives agree with differences; worst: {said}" if self["agree"] else
                         f"  wrong: derivatives do not agree with differences: {said}; correct the "
                         "function that supplies it")
        elif compared is not None:
            lines.append("  no derivatives to compare: the system supplies none")
        return "\n".join(lines)


class Analysis:
    """The state in the library, and the equations linearised there."""

    def __init__(self, problem, at=None, equilibrium=False):
        self._problem, self._handle, stop = problem, c_void_p(), c_int(0)
        o = lib.bg_default_analysis_options()
        if at is not None:
            o.at = need_number("at", at)
        o.equilibrium = bool(equilibrium)
        o.stop = pointer(stop)
        call_aside(stop, lib.bg_analysis_create, problem.handle, byref(o), byref(self._handle))

    def get(self, what):
        return take_json(lib.bg_analysis_create_text, self._handle, what.encode())

    def save(self, path):
        with files:
            call(lib.bg_analysis_save_matrices, self._handle, path)

    def __del__(self):
        if self._handle:
            lib.bg_analysis_destroy(self._handle)
            self._handle = None


class State:
    """A state of a motion: s.t, s.q, s.v, s.a, s.z, s.lambda_, s.outputs are arrays; s["wheel.z"] is one
    value by its name, an output before a coordinate, s["v:A.angle"] says of which kind; s.remarks say
    what was noticed on the way to it."""

    _kinds = {"outputs": "y", "q": "q", "v": "v", "a": "a", "z": "z", "lambda": "lambda"}

    def __init__(self, data):
        self.model, self.where, self.t = data["model"], data["where"], data["t"]
        self.remarks = [r["text"] for r in data["remarks"]]
        self._values, self.units = {}, {}
        for kind, prefix in self._kinds.items():
            values = [np.nan if s["value"] is None else s["value"] for s in data[kind]]
            setattr(self, "lambda_" if kind == "lambda" else kind, np.array(values))
            for signal, value in zip(data[kind], values):
                names = [f"{prefix}:{signal['name']}"]
                if kind not in ("a", "lambda"):
                    names.append(signal["name"])
                for name in names:
                    self._values.setdefault(name, value)
                    self.units.setdefault(name, signal["unit"])

    def __getitem__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise KeyError(f"the state has no value '{name}'; it has {', '.join(self._values)}"
                           ) from None

    def __contains__(self, name):
        return name in self._values

    def keys(self):
        return self._values.keys()

    def __repr__(self):
        return "\n".join([f"<bogie.State of {self.model} {self.where}>",
                          *[f"  {r}" for r in self.remarks]])


class Linearisation:
    """x' = A x + B u, y = C x + D u for changes from the values x0, u0, y0 of the states, inputs and
    outputs, whose names are l.states, l.inputs, l.outputs; l.units by name."""

    def __init__(self, analysis):
        data = analysis.get("matrices")
        self._analysis, self.model, self.where, self.t = analysis, data["model"], data["where"], \
            data["t"]
        sizes, self.units = {}, {}
        for kind, value in (("states", "x0"), ("inputs", "u0"), ("outputs", "y0")):
            setattr(self, kind, [s["name"] for s in data[kind]])
            setattr(self, value, np.array([s["value"] for s in data[kind]], float))
            self.units.update({s["name"]: s["unit"] for s in data[kind]})
            sizes[kind] = len(data[kind])
        for name, rows, columns in (("A", "states", "states"), ("B", "states", "inputs"),
                                    ("C", "outputs", "states"), ("D", "outputs", "inputs")):
            setattr(self, name, np.array(data[name], float).reshape(sizes[rows], sizes[columns]))

    def save(self, path):
        """FILE.mat, FILE.h5, FILE.csv or FILE.json, as `bogie linearise -o FILE`."""
        self._analysis.save(os.fsencode(need_path(path)))
        return path

    def __repr__(self):
        return (f"<bogie.Linearisation of {self.model} {self.where}: {len(self.states)} states, "
                f"{len(self.inputs)} inputs, {len(self.outputs)} outputs>")


class Mode:
    """One mode: eigenvalue (1/s), frequency (Hz), damping, motion in words; participation {name:
    share}, shape {name: complex} of all coordinates and states {name: complex}."""

    def __init__(self, data):
        self.eigenvalue = complex(*data["eigenvalue"])
        self.frequency, self.damping = data["frequency"], data["damping"]
        self.motion, self.participation = data["motion"], data["participation"]
        self.shape = {k: complex(*v) for k, v in data["shape"].items()}
        self.states = {k: complex(*v) for k, v in data["states"].items()}

    @property
    def oscillates(self):
        return self.eigenvalue.imag > 0

    def __repr__(self):
        share = max(self.participation.items(), key=lambda p: p[1], default=("", 0))
        damping = self.damping if abs(self.damping) > 1e-12 else 0.0
        how = (f"{self.frequency:.5g} Hz, damping {damping:.4f}" if self.oscillates else
               "grows" if self.eigenvalue.real > 0 else "decays")
        return (f"<bogie.Mode {self.eigenvalue:.6g} 1/s, {how}, {share[0]} {100 * share[1]:.0f} %"
                + (f": {self.motion}" if self.motion else "") + ">")


class Modes(tuple):
    """The modes by |eigenvalue|; m.free are directions in which nothing resists, [{name: share}],
    m.zeros counts eigenvalues that are zero, m.unstable modes that grow."""

    def __new__(cls, data):
        self = super().__new__(cls, map(Mode, data["modes"]))
        self.model, self.where, self.t = data["model"], data["where"], data["t"]
        self.zeros, self.unstable, self.free = data["zeros"], data["unstable"], data["free"]
        return self

    @property
    def eigenvalues(self):
        """Those with imag >= 0, by |eigenvalue|, 1/s."""
        return np.array([m.eigenvalue for m in self], complex)

    def __repr__(self):
        return "\n".join([f"<bogie.Modes of {self.model} {self.where}: {len(self)} modes, "
                          f"{self.zeros} zero eigenvalues>", *[f"  {m!r}" for m in self]])


def check(problem, derivatives):
    return Check(take_json(lib.bg_check_create_text, problem.handle, bool(derivatives)))
