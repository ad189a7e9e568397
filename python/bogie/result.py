"""Results: columns by name as numpy arrays, the certificate, and files of them."""
import ctypes
import json
import os
from ctypes import byref, c_int, c_long, c_void_p, create_string_buffer

import numpy as np

from ._library import bg_error, call, files, lib, need_ending, need_path, take_text

ROWS = ("q", "v", "a", "z", "lambda", "outputs")  # what a row has besides t and h
WHOLE = ("mode", "steps/order", "steps/rejected", "events/index", "events/direction")


class Units(dict):
    """Units by channel; one that is not there is refused as by the result."""

    def __missing__(self, name):
        self.result[name]
        return ""


class Result:
    """What a run computed.

    r.t, r.q, r.v, r.a, r.z, r.lambda_, r.outputs are arrays, a row for each time; r["wheel.z"] is one
    column by its name, an output before a coordinate; r["v:crank.angle"] says of which kind.
    """

    def __init__(self, arrays, names, units, summary, source):
        self._arrays, self._names, self._source = arrays, names, source
        self._units = units
        self.summary = summary

    @property
    def t(self):
        return self._arrays["t"][:, 0]

    def __getattr__(self, name):
        dataset = "lambda" if name == "lambda_" else name
        if dataset.startswith("_") or dataset not in self.__dict__.get("_arrays", {}):
            raise AttributeError(f"a result has no '{name}'")
        return self._arrays[dataset]

    def names(self, dataset="outputs"):
        """Names of the columns of a dataset."""
        return list(self._names.get(dataset, ()))

    def _find(self, name):
        kind, _, rest = name.partition(":")
        kind = {"y": "outputs"}.get(kind, kind)
        if rest and kind in self._names:
            return (kind, self._names[kind].index(rest)) if rest in self._names[kind] else None
        for kind in ("outputs", "q", "v", "z", "lambda"):
            if name in self._names.get(kind, ()):
                return kind, self._names[kind].index(name)
        return None

    @property
    def units(self):
        """{name: unit}: r.units["wheel.z"] is that of r["wheel.z"]; "" where none is known."""
        units = Units(t="s")
        units.result = self
        for kind in ("outputs", "q", "v", "a", "z", "lambda"):
            for name, unit in zip(self._names[kind], self._units[kind]):
                units[f"{'y' if kind == 'outputs' else kind}:{name}"] = unit
                if kind != "a":
                    units.setdefault(name, unit)
        return units

    def __contains__(self, name):
        return name == "t" or self._find(name) is not None

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"a channel is asked for by its name, not by {name!r}")
        if name == "t":
            return self.t
        found = self._find(name)
        if found is None:
            import difflib
            known = [n for kind in ("outputs", "q", "v", "z") for n in self._names.get(kind, ())]
            near = difflib.get_close_matches(name, known, 3)
            hint = "; did you mean " + " or ".join(map(repr, near)) + "?" if near else ""
            raise KeyError(f"the result has no channel '{name}'{hint}")
        return self._arrays[found[0]][:, found[1]]

    @property
    def certificate(self):
        return self.summary["certificate"]

    @property
    def verdict(self):
        return self.summary["verdict"]

    @property
    def events(self):
        """[(time in s, what happened)]"""
        return [(e["t"], e["name"]) for e in self.summary["events"]]

    @property
    def steps(self):
        """The history of steps: t, h, order, rejected, g, gv, ga as a dict of arrays."""
        return {name[6:]: array[:, 0] for name, array in self._arrays.items()
                if name.startswith("steps/")}

    def save(self, path):
        """Writes the result, FILE.h5 or FILE.csv, as `bogie run -o FILE` does."""
        self._source.save(need_path(path))
        return path

    def to_csv(self, path):
        return self.save(need_ending(path, ".csv"))

    def to_hdf5(self, path):
        return self.save(need_ending(path, ".h5", ".hdf5"))

    def report(self, page, title=None):
        """Writes a page with animation, plots and certificate that needs no other file."""
        from .page import report
        return report(page, self, title=title or os.path.basename(self.summary["model"]))

    def _repr_html_(self):
        from .page import make_frame
        return make_frame(self, os.path.basename(self.summary["model"]))

    def plot(self, *names, axes=None):
        """Plots channels over time (needs matplotlib); returns the axes."""
        if axes is None:
            import matplotlib.pyplot as plt
            axes = plt.figure().add_subplot()
        for name in names or self.names("outputs")[:1]:
            unit = self.units[name]
            axes.plot(self.t, self[name], label=f"{name} [{unit}]" if unit else name)
        axes.set_xlabel("t [s]")
        axes.legend()
        return axes

    def __repr__(self):
        s = self.summary
        return (f"<bogie.Result of {s['model']}: {s['integrator']}, {len(self.t)} rows to "
                f"t = {s['t_end']:g} s, {s['verdict']}>")


class Job:
    """A run in the library, which owns the arrays of its result."""

    def __init__(self, problem):
        self.problem, self.handle = problem, c_void_p()
        call(lib.bg_job_create, problem.handle, byref(self.handle))

    def run(self, watch):
        """The status and the error of the run, during which the interpreter serves other threads."""
        err = bg_error()
        lib.bg_job_watch(self.handle, watch, None)
        return lib.bg_job_run(self.handle, byref(err)), err

    def get(self, dataset):
        rows, width = c_long(), c_int()
        get = lib.bg_job_get_whole if dataset in WHOLE else lib.bg_job_get
        data = get(self.handle, dataset.encode(), byref(rows), byref(width))
        shape = (rows.value, width.value)
        if rows.value * width.value == 0:
            return np.zeros(shape)
        return np.ctypeslib.as_array(data, shape).copy()

    def save(self, path):
        with files:
            call(lib.bg_job_save, self.handle, os.fsencode(path))

    def __del__(self):
        if self.handle:
            lib.bg_job_destroy(self.handle)
            self.handle = None


def collect(job):
    """The result of a job that has run."""
    buffer = create_string_buffer(256)
    arrays = {d: job.get(d) for d in ("t", "h", *ROWS, *WHOLE, *[f"steps/{n}" for n in
                                      ("t", "h", "g", "gv", "ga")], "events/t")}
    names = {d: [lib.bg_job_get_name(job.handle, d.encode(), i, buffer, 256).decode()
                 for i in range(arrays[d].shape[1])] for d in ROWS}
    units = {d: [lib.bg_job_get_unit(job.handle, d.encode(), i).decode()
                 for i in range(arrays[d].shape[1])] for d in ROWS}
    summary = json.loads(take_text(lib.bg_job_create_summary(job.handle)))
    return Result(arrays, names, units, summary, job)


class File:
    """A result file, read whole."""

    def __init__(self, path):
        self.path = path

    def save(self, path):
        import shutil
        if os.path.splitext(path)[1] not in (".h5", ".hdf5", os.path.splitext(self.path)[1]):
            raise ValueError(f"a result that was read from '{self.path}' is copied, not converted; "
                             "run the model again to write another format")
        if os.path.lexists(path):
            raise FileExistsError(f"'{path}' exists; give another name")
        shutil.copyfile(self.path, path)


def open(path):
    """Reads a result file (HDF5) of a run."""
    path = need_path(path)
    handle, buffer = c_void_p(), create_string_buffer(256)
    with files:
        call(lib.bg_result_open, os.fsencode(path), byref(handle))
        try:
            info = lib.bg_result_get_info(handle).contents
            if not info.summary:
                raise ValueError(f"'{path}' has no summary: its run goes on, or was ended by force")
            arrays, names, units = {}, {}, {}
            for d in ("t", "h", *ROWS, *WHOLE, "steps/t", "steps/h", "steps/g", "steps/gv",
                      "steps/ga", "events/t"):
                n = info.steps if d.startswith("steps/") else \
                    info.events if d.startswith("events/") else info.rows
                width = lib.bg_result_get_width(handle, d.encode())
                arrays[d] = np.zeros((n, width))
                if n * width > 0:
                    call(lib.bg_result_read, handle, d.encode(),
                         arrays[d].ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
                if d in ROWS:
                    names[d] = [lib.bg_result_get_name(handle, d.encode(), i, buffer, 256).decode()
                                for i in range(width)]
                    units[d] = [lib.bg_result_get_unit(handle, d.encode(), i).decode()
                                for i in range(width)]
            return Result(arrays, names, units, json.loads(info.summary), File(path))
        finally:
            lib.bg_result_close(handle)
