"""Models and their runs."""
import math
import os
import signal
import sys
import threading
from ctypes import byref, c_void_p

from ._library import OK, STOPPED, Error, call, lib, make_settings, watch_function
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

    def _raise_own(self):
        """Raises what stopped a function of the user's, if one did."""

    def _pose(self, integrator, options, equilibrium=False, **numbers):
        d = lib.bg_default_problem_def()
        settings = self._fill(d)
        settings.update({f"integrator.{k}": v for k, v in (options or {}).items()})
        array, n = make_settings(settings)
        d.settings, d.nsettings = array, n
        d.integrator = integrator.encode() if integrator else None
        d.equilibrium = 1 if equilibrium else 0
        for name, value in numbers.items():
            setattr(d, name, math.nan if value is None else float(value))
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

        def interrupt(*_):
            lib.bg_job_stop(job.handle)

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
        before = signal.signal(signal.SIGINT, interrupt) if main else None
        try:
            status, err = job.run(watch)
        finally:
            if main:
                signal.signal(signal.SIGINT, before)
        if progress is True:
            print(file=sys.stderr)
        self._raise_own()
        if caught:
            raise caught[0]
        if status not in (OK, STOPPED):
            error = Error(err.text.decode(errors="replace"), lib.bg_status_name(status).decode())
            error.result = collect(job) if len(job.get("t")) else None
            raise error
        return collect(job)

    def realtime(self, step=None, integrator=None, inputs=(), outputs=None, options=None,
                 hold="value"):
        """Fixed steps on demand, see RealTime."""
        return RealTime(self._pose(integrator, options, step=step), inputs, outputs, hold)


class Model(Runnable):
    """A model file, `equations:NAME`, or a plug-in FILE.so.

    parameters are those under "parameters" of a model file, or of equations; settings change
    anything in a model file by its path, {"joints.a.axis": [0, 1, 0]}.
    """

    def __init__(self, reference, parameters=None, settings=None, formulation=None):
        self.reference, self.formulation = os.fspath(reference), formulation
        prefix = "parameters." if self.reference.endswith(".json") else ""
        self.settings = {prefix + str(k): v for k, v in (parameters or {}).items()}
        self.settings.update(settings or {})
        self._pose(None, None)  # says at once what is wrong

    def _fill(self, d):
        d.reference = os.fsencode(self.reference)
        d.formulation = self.formulation.encode() if self.formulation else None
        return dict(self.settings)

    def __repr__(self):
        return f"<bogie.Model {self.reference}>"
