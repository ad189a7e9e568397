"""The C library: where it is, its structures and functions, and its errors.

Structures mirror include/bogie/*.h; tests/python/layout.c holds them to it, field by field.
"""
import contextlib
import contextvars
import ctypes
import ctypes.util
import json
import math
import os
import signal
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_long,
                    c_size_t, c_ubyte, c_uint, c_void_p)
from pathlib import Path

import numpy  # noqa: F401  loads its linear algebra before Bogie settles its own

ERROR_LENGTH = 1024
OF_COUNT, BY_COUNT = 5, 7
OK, STOPPED, RETRY = 0, 1, 2

double_p, int_p, ubyte_p = POINTER(c_double), POINTER(c_int), POINTER(c_ubyte)
names_p = POINTER(c_char_p)


class Error(RuntimeError):
    """What the library says: one sentence, and the name of its status, such as BG_BAD_INPUT."""

    def __init__(self, text, status=""):
        super().__init__(text)
        self.status = status


class bg_error(Structure):
    _fields_ = [("status", c_int), ("text", c_char * ERROR_LENGTH)]


class bg_setting(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class bg_problem_def(Structure):
    _fields_ = [("reference", c_char_p), ("source", c_void_p), ("system", c_void_p),
                ("settings", POINTER(bg_setting)), ("nsettings", c_int), ("formulation", c_char_p),
                ("integrator", c_char_p), ("t_start", c_double), ("t_end", c_double),
                ("rtol", c_double), ("atol", c_double), ("step", c_double),
                ("output_interval", c_double), ("equilibrium", c_int)]


class bg_realtime_options(Structure):
    _fields_ = [("integrator", c_char_p), ("period", c_double), ("t_start", c_double),
                ("settings", POINTER(bg_setting)), ("nsettings", c_int), ("inputs", names_p),
                ("ninputs", c_int), ("hold", c_int), ("outputs", names_p), ("noutputs", c_int)]


class bg_analysis_options(Structure):
    _fields_ = [("at", c_double), ("equilibrium", c_int), ("stop", POINTER(c_int))]


progress_function = CFUNCTYPE(None, c_void_p, c_long, c_long)


class bg_study_options(Structure):
    _fields_ = [("workers", c_int), ("shard", c_int), ("shards", c_int), ("journal", c_char_p),
                ("time_limit", c_double), ("stop", POINTER(c_int)),
                ("progress", progress_function), ("note", c_void_p), ("self", c_void_p)]


class bg_result_info(Structure):
    _fields_ = [("version", c_char_p), ("model", c_char_p), ("integrator", c_char_p),
                ("model_text", c_char_p), ("setup", c_char_p), ("summary", c_char_p),
                ("complete", c_int), ("rows", c_long), ("events", c_long), ("steps", c_long)]


class bg_point(Structure):
    _fields_ = [("t", c_double), ("q", double_p), ("v", double_p), ("z", double_p),
                ("u", double_p), ("u_t", double_p), ("u_tt", double_p), ("mode", int_p),
                ("lambda_", double_p), ("part", c_uint)]


class bg_terms(Structure):
    _fields_ = [(name, double_p) for name in ("M", "f", "g", "gt", "G", "gamma", "V", "h", "s")]


terms_function = CFUNCTYPE(c_int, c_void_p, POINTER(bg_point), c_uint, POINTER(bg_terms))
outputs_function = CFUNCTYPE(c_int, c_void_p, POINTER(bg_point), double_p, double_p, double_p)
watch_function = CFUNCTYPE(c_int, c_void_p, c_double, c_long)


class bg_system_def(Structure):
    _fields_ = (
        [("name", c_char_p)]
        + [(n, c_int) for n in ("nq", "nv", "nz", "ng", "nu", "ns", "ny", "nmode")]
        + [("self", c_void_p), ("destroy", c_void_p), ("fork", c_void_p), ("join", c_void_p),
           ("forget", c_void_p), ("supplied", c_uint), ("terms", terms_function),
           ("scleronomic", c_int), ("semidefinite", c_int), ("f_of_lambda", c_int),
           ("s_of_lambda", c_int), ("s_follows_motion", c_int), ("accelerate", c_void_p),
           ("mass_size", c_int), ("factor_mass", c_void_p), ("solve_mass", c_void_p),
           ("residual", c_void_p), ("v_part", ubyte_p), ("z_part", ubyte_p), ("g_part", ubyte_p),
           ("accelerate_part", c_void_p),
           ("derivative_supplied", (c_ubyte * BY_COUNT) * OF_COUNT), ("derivatives", c_void_p),
           ("derivative_cost", c_double), ("lay_out", c_void_p), ("expand", c_void_p),
           ("inputs", c_void_p), ("set_live", c_void_p), ("jump", c_void_p),
           ("normalise", c_void_p), ("energy", c_void_p), ("power", c_void_p),
           ("drive_power", c_void_p),
           ("outputs", outputs_function), ("check_start", c_void_p), ("start", c_void_p),
           ("event", c_void_p), ("sides", c_void_p)]
        + [(n, c_void_p) for n in ("pattern_M", "pattern_G", "pattern_V")]
        + [("pattern", (c_void_p * BY_COUNT) * OF_COUNT), ("marks", ubyte_p),
           ("stiff_parts", c_int), ("v_size", double_p), ("g_size", double_p)]
        + [(n, names_p) for n in ("q_names", "v_names", "z_names", "g_names", "u_names", "s_names",
                                  "y_names")]
        + [(n, names_p) for n in ("q_units", "v_units", "z_units", "lambda_units", "u_units",
                                  "y_units")]
        + [("filters", c_void_p), ("nfilters", c_int)]
        + [("u_followed", ubyte_p)]
        + [(n, names_p) for n in ("s_rises", "s_falls", "s_touches")]
        + [(n, double_p) for n in ("q0", "v0", "z0")]
        + [("q_fixed", ubyte_p), ("v_fixed", ubyte_p), ("mode0", int_p), ("t_start", c_double),
           ("t_end", c_double), ("starts", c_void_p)])


class bg_integrator_info(Structure):
    """Only its beginning is known here; never made in Python."""
    _fields_ = [("name", c_char_p), ("summary", c_char_p)]


_error = POINTER(bg_error)
_handle = POINTER(c_void_p)
PROTOTYPES = {
    "bg_status_name": (c_char_p, [c_int]),
    "bg_version_get": (c_char_p, []),
    "bg_version_create_text": (c_void_p, []),
    "bg_blas_settle": (None, []),
    "bg_integrator_get_info": (POINTER(bg_integrator_info), [c_int]),
    "bg_source_parse": (c_int, [c_char_p, c_char_p, _handle, _error]),
    "bg_source_close": (None, [c_void_p]),
    "bg_default_problem_def": (bg_problem_def, []),
    "bg_problem_create": (c_int, [POINTER(bg_problem_def), _handle, _error]),
    "bg_problem_destroy": (None, [c_void_p]),
    "bg_problem_get_system": (c_void_p, [c_void_p]),
    "bg_problem_get_realtime_options": (bg_realtime_options, [c_void_p]),
    "bg_problem_get_reference": (c_char_p, [c_void_p]),
    "bg_job_create": (c_int, [c_void_p, _handle, _error]),
    "bg_job_destroy": (None, [c_void_p]),
    "bg_job_watch": (None, [c_void_p, watch_function, c_void_p]),
    "bg_job_stop": (None, [c_void_p]),
    "bg_job_run": (c_int, [c_void_p, _error]),
    "bg_job_create_summary": (c_void_p, [c_void_p]),
    "bg_job_get": (double_p, [c_void_p, c_char_p, POINTER(c_long), POINTER(c_int)]),
    "bg_job_get_whole": (int_p, [c_void_p, c_char_p, POINTER(c_long), POINTER(c_int)]),
    "bg_job_get_name": (c_char_p, [c_void_p, c_char_p, c_int, c_char_p, c_size_t]),
    "bg_job_get_unit": (c_char_p, [c_void_p, c_char_p, c_int]),
    "bg_job_save": (c_int, [c_void_p, c_char_p, _error]),
    "bg_check_create_text": (c_void_p, [c_void_p, c_int, _error]),
    "bg_default_analysis_options": (bg_analysis_options, []),
    "bg_analysis_create": (c_int, [c_void_p, POINTER(bg_analysis_options), _handle, _error]),
    "bg_analysis_destroy": (None, [c_void_p]),
    "bg_analysis_create_text": (c_void_p, [c_void_p, c_char_p, _error]),
    "bg_analysis_save_matrices": (c_int, [c_void_p, c_char_p, _error]),
    "bg_study_parse": (c_int, [c_char_p, c_char_p, c_int, _handle, _error]),
    "bg_study_read": (c_int, [c_char_p, c_int, _handle, _error]),
    "bg_study_destroy": (None, [c_void_p]),
    "bg_study_run": (c_int, [c_void_p, POINTER(bg_study_options), _handle, _error]),
    "bg_study_forget": (None, [c_void_p, POINTER(bg_study_options)]),
    "bg_table_destroy": (None, [c_void_p]),
    "bg_table_create_json": (c_void_p, [c_void_p]),
    "bg_table_create_text": (c_void_p, [c_void_p]),
    "bg_table_save": (c_int, [c_void_p, c_char_p, _error]),
    "bg_realtime_create": (c_int, [c_void_p, POINTER(bg_realtime_options), _handle, _error]),
    "bg_realtime_destroy": (None, [c_void_p]),
    "bg_realtime_step": (c_int, [c_void_p, c_void_p, c_void_p, _error]),
    "bg_realtime_set_inputs": (c_int, [c_void_p, c_void_p, c_void_p, _error]),
    "bg_realtime_get_noutputs": (c_int, [c_void_p]),
    "bg_realtime_get_output_name": (c_char_p, [c_void_p, c_int]),
    "bg_realtime_calc_outputs": (c_int, [c_void_p, c_void_p, _error]),
    "bg_realtime_get_state": (double_p, [c_void_p]),
    "bg_result_open": (c_int, [c_char_p, _handle, _error]),
    "bg_result_close": (None, [c_void_p]),
    "bg_result_get_info": (POINTER(bg_result_info), [c_void_p]),
    "bg_result_get_width": (c_int, [c_void_p, c_char_p]),
    "bg_result_get_name": (c_char_p, [c_void_p, c_char_p, c_int, c_char_p, c_size_t]),
    "bg_result_get_unit": (c_char_p, [c_void_p, c_char_p, c_int]),
    "bg_result_read": (c_int, [c_void_p, c_char_p, double_p, _error]),
    "bg_report_create": (c_int, [_handle, _error]),
    "bg_report_destroy": (None, [c_void_p]),
    "bg_report_add": (c_int, [c_void_p, c_char_p, _error]),
    "bg_report_add_study": (c_int, [c_void_p, c_char_p, c_char_p, _error]),
    "bg_report_write": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, _error]),
    "bg_default_system_def": (bg_system_def, []),
    "bg_system_create": (c_int, [POINTER(bg_system_def), _handle, _error]),
    "bg_system_destroy": (None, [c_void_p]),
    "bg_system_get_def": (POINTER(bg_system_def), [c_void_p]),
    "bg_system_get_name": (c_char_p, [c_void_p, c_char, c_int, c_char_p, c_size_t]),
}

# HDF5 serves one thread at a time.
files = threading.Lock()


def _candidates():
    if os.environ.get("BOGIE_LIBRARY"):
        yield os.environ["BOGIE_LIBRARY"]
        return
    here = Path(__file__).resolve().parent
    yield str(here.parents[1] / "build" / "libbogie.so.0")
    for folder in here.parents:
        for place in ("lib", f"lib/{os.uname().machine}-linux-gnu"):
            yield str(folder / place / "libbogie.so.0")
    yield ctypes.util.find_library("bogie") or "libbogie.so.0"


def _load():
    tried = []
    for name in _candidates():
        if os.path.isabs(name) and not os.path.exists(name):
            continue
        try:
            library = ctypes.CDLL(name)
        except OSError as error:
            tried.append(f"{name}: {error}")
            continue
        for function, (result, arguments) in PROTOTYPES.items():
            f = getattr(library, function)
            f.restype, f.argtypes = result, arguments
        return library
    raise ImportError("libbogie.so.0 cannot be loaded; install Bogie (make install), or name the "
                      "library in the environment variable BOGIE_LIBRARY"
                      + "".join(f"\n  {line}" for line in tried))


lib = _load()
lib.bg_blas_settle()
_free = ctypes.CDLL(None).free
_free.argtypes = [c_void_p]


def version():
    return lib.bg_version_get().decode()


def check(status, err):
    """Raises what the library said of a status other than done."""
    if status != OK:
        raise Error(err.text.decode(errors="replace"), lib.bg_status_name(status).decode())


_caught = contextvars.ContextVar("caught")


class Caught(list):
    """`with Caught():` around calls of the library: an exception of a function of the user's that is
    called back there comes out of it, instead of what the library says of that."""

    def __enter__(self):
        self._token = _caught.set(self)
        return self

    def __exit__(self, *_):
        _caught.reset(self._token)
        if self:
            error = self[0]
            self.clear()
            raise error


def keep_caught(error):
    """For functions that the library calls, through which no exception may pass."""
    _caught.get().append(error)


def call(function, *arguments):
    """Calls a function whose last argument is a bg_error, and raises what it says."""
    err = bg_error()
    with Caught():
        check(function(*arguments, byref(err)), err)


_under_way = {}  # what ends each of the calls that last, in all threads


@contextlib.contextmanager
def stoppable(stop):
    """Control-C calls `stop` while this lasts, in whatever thread it lasts."""
    key = object()
    _under_way[key] = stop
    try:
        yield
    finally:
        del _under_way[key]


def stop_all():
    for stop in list(_under_way.values()):
        stop()


def _interrupt(number, frame):
    stop_all()
    signal.default_int_handler(number, frame)


# Only the main thread is told of signals. Whoever has a handler of his own keeps it.
if threading.current_thread() is threading.main_thread() and \
        signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _interrupt)


def call_aside(stop, function, *arguments):
    """The same for calls that last: in a thread of its own, so that Control-C is heard meanwhile. It
    sets `stop`, a c_int that the library looks at, and comes out when the call has ended."""
    if threading.current_thread() is not threading.main_thread():
        with stoppable(lambda: setattr(stop, "value", 1)):
            return call(function, *arguments)
    failure, interrupted, done = [], False, threading.Event()

    def work():
        try:
            call(function, *arguments)
        except BaseException as error:  # raised below, in the thread that asked
            failure.append(error)
        finally:
            done.set()

    # not thread.join: interrupted, it takes the thread for dead (Python 3.11)
    threading.Thread(target=contextvars.copy_context().run, args=(work,)).start()
    while not done.is_set():
        try:
            done.wait()
        except KeyboardInterrupt:
            stop.value, interrupted = 1, True
    if interrupted:
        raise KeyboardInterrupt
    if failure:
        raise failure[0]
    return None


def take_text(address):
    """The text that the library allocated, which is released."""
    if not address:
        raise MemoryError("out of memory")
    try:
        return ctypes.string_at(address).decode()
    finally:
        _free(address)


def take_json(function, *arguments):
    """The object in the text that a function makes, or the error it fills in."""
    err = bg_error()
    with Caught():
        address = function(*arguments, byref(err))
        if not address:
            check(err.status, err)
    return json.loads(take_text(address))


def _to_plain(value):
    """What json does not know: numbers and arrays of numpy, paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} is not a number, text, list or dict")


def _check_plain(value, place):
    """Raises where something is no number, text, list or dict, or not finite; says where."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        for key, item in value.items():
            _check_plain(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _check_plain(item, f"{place}[{i}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place} is {value}, not a finite number")
    elif value is not None and not isinstance(value, (str, int, float, os.PathLike)):
        raise TypeError(f"{place} is {value!r}, not a number, text, list or dict")


def make_json(value, place=""):
    try:
        return json.dumps(value, default=_to_plain, allow_nan=False)
    except (TypeError, ValueError):
        with contextlib.suppress(RecursionError):  # something that holds itself
            _check_plain(value, place)
        raise


def need_text(name, value):
    """The bytes of a text, or None; anything else is refused by name."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {value!r}")
    if value is not None and "\0" in value:
        raise ValueError(f"{name} must be a text without the character NUL, not {value!r}")
    return value.encode() if value is not None else None


def need_path(path):
    """The name of a file as a text; bytes and what C would cut short are refused."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    if not isinstance(name, str):
        raise TypeError(f"the name of a file must be a text or a path, not {name!r}")
    if "\0" in name:
        raise ValueError(f"the name of a file has no character NUL: {name!r}")
    return name


def need_dict(name, value):
    if value is not None and not isinstance(value, dict):
        raise TypeError(f"{name} must be a dict, not {value!r}")
    return value or {}


def need_number(name, value):
    """A number, or NAN for None, which stands for what the model says."""
    if value is None:
        return float("nan")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None
    except OverflowError:
        raise ValueError(f"{name} is too large a number") from None
    if number != number:
        raise ValueError(f"{name} is not a number (nan); leave it out to take what the model says")
    return number


def need_ending(path, *endings):
    if not need_path(path).endswith(endings):
        raise ValueError(f"'{os.fspath(path)}' must be named FILE{' or FILE'.join(endings)}")
    return path


def make_settings(pairs):
    """An array of bg_setting, and its length; values are made into text as --set takes it: texts as
    they are, such as expressions, all others as JSON."""
    array = (bg_setting * max(len(pairs), 1))()
    for setting, (name, value) in zip(array, pairs.items()):
        text = value if isinstance(value, str) else make_json(value, name)
        setting.name = need_text("the name of a setting", str(name))
        setting.value = need_text(f"the value of {name}", text)
    return array, len(pairs)


def make_names(names):
    """An array of char *, or None for no names."""
    if names is None:
        return None
    if not all(isinstance(n, str) for n in names):
        raise TypeError(f"names must be texts, not {list(names)!r}")
    return (c_char_p * max(len(names), 1))(*[need_text("a name", n) for n in names])
