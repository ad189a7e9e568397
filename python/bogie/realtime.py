"""Real time: one fixed step whenever it is asked for."""
from ctypes import byref, c_void_p, create_string_buffer

import numpy as np

from ._library import STOPPED, Caught, bg_error, call, check, lib, make_names


def _list_inputs(system):
    buffer = create_string_buffer(256)
    return [lib.bg_system_get_name(system, b"u", i, buffer, 256).decode()
            for i in range(lib.bg_system_get_def(system).contents.nu)]


class RealTime:
    """rt.step(steer=0.1) makes one step and returns the outputs, an array that the next step writes
    again; rt.names says what they are. inputs names what may come from outside, None: all."""

    def __init__(self, problem, inputs=None, outputs=None, hold="value"):
        if hold not in ("value", "slope"):
            raise ValueError(f"hold is 'value' or 'slope', not {hold!r}")
        self._problem, self._handle, self._error = problem, c_void_p(), bg_error()
        o = lib.bg_problem_get_realtime_options(problem.handle)
        system = lib.bg_problem_get_system(problem.handle)
        inputs = _list_inputs(system) if inputs is None else inputs
        self.inputs = (inputs,) if isinstance(inputs, str) else tuple(inputs)
        outputs = [outputs] if isinstance(outputs, str) else outputs
        names, wanted = make_names(self.inputs), make_names(outputs)
        o.inputs, o.ninputs = names, len(self.inputs)
        o.hold = 1 if hold == "slope" else 0
        o.outputs, o.noutputs = wanted, len(outputs) if outputs is not None else 0
        self.period = o.period
        call(lib.bg_realtime_create, system, byref(o), byref(self._handle))
        n = lib.bg_realtime_get_noutputs(self._handle)
        self.names = [lib.bg_realtime_get_output_name(self._handle, i).decode() for i in range(n)]
        self.outputs = np.zeros(n)
        self._u = np.zeros(len(self.inputs))
        self._given = np.zeros(len(self.inputs), np.uint8)
        self._places = {name: i for i, name in enumerate(self.inputs)}
        # addresses are looked up once: a step is a call, nothing else
        self._news = (self._handle, self._u.ctypes.data, self._given.ctypes.data,
                      byref(self._error))
        self._arguments = (self._handle, None, self.outputs.ctypes.data, byref(self._error))
        self._step, self.stopped = lib.bg_realtime_step, False
        call(lib.bg_realtime_calc_outputs, self._handle, self.outputs.ctypes.data)

    def step(self, **inputs):
        """One step; inputs that are not named stay as they are. After an exception time, state and
        inputs are those before the call."""
        if inputs:
            self._take(inputs)
        with Caught():
            status = self._step(*self._arguments)
        if status:
            self.stopped = status == STOPPED
            if not self.stopped:
                check(status, self._error)
        return self.outputs

    def _take(self, inputs):
        """Takes all of them or none."""
        self._given[:] = 0
        for name, value in inputs.items():
            if name not in self._places:
                raise KeyError(f"'{name}' is not among the inputs {list(self.inputs)} that may come "
                               "from outside")
            place = self._places[name]
            try:
                self._u[place] = float(value)
            except (TypeError, ValueError, OverflowError):
                raise TypeError(f"input '{name}' must be a number, not {value!r}; leave it out to keep "
                                "its value") from None
            self._given[place] = 1
        check(lib.bg_realtime_set_inputs(*self._news), self._error)

    @property
    def t(self):
        """The time that has been reached, s."""
        return lib.bg_realtime_get_state(self._handle)[0]

    def __getitem__(self, name):
        if name not in self.names:
            raise KeyError(f"there is no output '{name}' among {self.names}")
        return float(self.outputs[self.names.index(name)])

    def __del__(self):
        if getattr(self, "_handle", None):
            lib.bg_realtime_destroy(self._handle)
            self._handle = None
