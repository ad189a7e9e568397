"""Models and their runs."""
import os
import signal
import sys
import threading
from ctypes import byref, c_void_p

from . import analysis
from ._library import (OK, STOPPED, Caught, Error, call, lib, make_json, make_settings, need_dict,
                       need_number, need_path, need_text, stop_all, stoppable, watch_function)
from .realtime import RealTime
from .result import Job, collect


class Problem:
    """A system with its run options, in the library."""

    def __init__(self, definition, *alive):
        self.alive, self.handle = alive, c_void_p()
        call(lib.bg_problem_create, byref(definition), byref(self.handle))

    def __del__(self):
        if self.handle:
            lib.bg_problem_destroy(self.handle)
            self.handle = None


def integrators():
    """{name: what it is} of all methods."""
    found, i = {}, 0
    while True:
        info = lib.bg_integrator_get_info(i)
        if not info:
            return found
        found[info.contents.name.decode()] = info.contents.summary.decode()
        i += 1


class Runnable:
    """What models and systems share: they are run, offline and in real time."""

    def _fill(self, definition):
        """Says what is run; returns settings of it by name."""
        raise NotImplementedError

    def _pose(self, integrator, options, equilibrium=False, **numbers):
        d = lib.bg_default_problem_def()
        settings = self._fill(d)
        settings.update({f"integrator.{k}": v for k, v in need_dict("options", options).items()})
        array, n = make_settings(settings)
        d.settings, d.nsettings = array, n
        d.integrator = need_text("integrator", integrator)
        d.equilibrium = 1 if equilibrium else 0
        for name, value in numbers.items():
            setattr(d, name, need_number(name, value))
        return Problem(d, self)

    def run(self, integrator=None, rtol=None, atol=None, t_end=None, t_start=None, step=None,
            output_interval=None, equilibrium=False, options=None, progress=False):
        """Simulates and returns a Result; what is None is as the model says, or the default.

        options are those of the method, {"projection": "control"}. progress=True draws a line on
        stderr, a function gets (t, steps). Control-C ends the run and returns what was computed.
        """
        problem = self._pose(integrator, options, equilibrium, rtol=rtol, atol=atol, t_end=t_end,
                             t_start=t_start, step=step, output_interval=output_interval)
        job, caught = Job(problem), []

        @watch_function
        def watch(_, t, steps):
            try:
                if callable(progress):
                    progress(t, steps)
                elif progress:
                    print(f"\rt = {t:.6g} s, {steps} steps", end="", file=sys.stderr, flush=True)
                return 0
            except BaseException as error:  # nothing may pass through the library
                caught.append(error)
                return 1

        # Python runs handlers of signals in `watch`, where an exception would be lost
        main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, lambda *_: stop_all()) if main else None
        try:
            with Caught(), stoppable(lambda: lib.bg_job_stop(job.handle)):
                status, err = job.run(watch)
        finally:
            if main:
                signal.signal(signal.SIGINT, before)
            if progress is True:
                print(file=sys.stderr)
        if caught:
            raise caught[0]
        if status not in (OK, STOPPED):
            error = Error(err.text.decode(errors="replace"), lib.bg_status_name(status).decode())
            error.result = collect(job) if len(job.get("t")) else None
            raise error
        return collect(job)

    def check(self, derivatives=False):
        """What it is made of, as `bogie check` says it; derivatives=True also compares what the system
        supplies with differences."""
        problem = self._pose(None, None)
        return analysis.check(problem, derivatives)

    def _analyse(self, at, equilibrium, options=None, integrator=None, **numbers):
        problem = self._pose(integrator, options, **numbers)
        return analysis.Analysis(problem, at, equilibrium)

    def equilibrium(self):
        """The equilibrium or steady motion found from the start, a State."""
        return analysis.State(self._analyse(None, True).get("state"))

    def linearise(self, at=None, equilibrium=False, options=None, *, integrator=None, rtol=None,
                  atol=None, step=None, t_start=None):
        """A, B, C, D about the start, the equilibrium, or the motion at a time; how the motion is
        followed until then, integrator, rtol, atol, step, options, is as in run."""
        return analysis.Linearisation(self._analyse(
            at, equilibrium, options, integrator, rtol=rtol, atol=atol, step=step, t_start=t_start))

    def modes(self, at=None, equilibrium=False, options=None, *, integrator=None, rtol=None,
              atol=None, step=None, t_start=None):
        """Eigenvalues and mode shapes, likewise."""
        return analysis.Modes(self._analyse(
            at, equilibrium, options, integrator, rtol=rtol, atol=atol, step=step, t_start=t_start
        ).get("modes"))

    def realtime(self, step=None, integrator=None, inputs=None, outputs=None, options=None,
                 hold="value"):
        """Fixed steps on demand, see RealTime."""
        if step is not None and not need_number("step", step) > 0:
            raise ValueError(f"step must be a number of seconds above 0, not {step!r}")
        return RealTime(self._pose(integrator, options, step=step), inputs, outputs, hold)


class Source:
    """A model that was described in Python, read once by the library."""

    def __init__(self, description):
        self.handle = c_void_p()
        name = need_text("name", str(description.get("name", "model")) + ".json")
        call(lib.bg_source_parse, make_json(description).encode(), name, byref(self.handle))

    def __del__(self):
        if self.handle:
            lib.bg_source_close(self.handle)


class Model(Runnable):
    """A model file, its content as a dict, `equations:NAME`, or a plug-in FILE.so.

    parameters are those under "parameters" of a model file, or of equations; settings change
    anything in a model file by its path, {"joints.a.axis": [0, 1, 0]}.
    """

    def __init__(self, reference, parameters=None, settings=None, formulation=None):
        self._source = Source(reference) if isinstance(reference, dict) else None
        self.reference = str(reference.get("name", "model")) if self._source else \
            need_path(reference)
        self.formulation = formulation
        is_file = self._source or self.reference.endswith(".json")
        prefix = "parameters." if is_file else ""
        self.settings = {prefix + str(k): v
                         for k, v in need_dict("parameters", parameters).items()}
        self.settings.update(need_dict("settings", settings))
        self._pose(None, None)  # says at once what is wrong

    def _fill(self, d):
        if self._source:
            d.source = self._source.handle
        else:
            d.reference = os.fsencode(self.reference)
        d.formulation = need_text("formulation", self.formulation)
        return dict(self.settings)

    def __repr__(self):
        return f"<bogie.Model {self.reference}>"
