"""Bogie: simulation of constrained mechanical systems.

    import bogie
    m = bogie.Model("models/four-bar.json", parameters={"speed": 20})
    r = m.run(integrator="mdop5", rtol=1e-8, t_end=2)
    r.t, r["crank.angle"], r.certificate, r.verdict

See docs/python.md.
"""
from ._library import Error, version
from .model import Model, integrators
from .page import report
from .realtime import RealTime
from .result import Result, open
from .study import Study, study
from .system import System

__all__ = ["Error", "Model", "RealTime", "Result", "Study", "System", "integrators", "open", "report",
           "study", "version"]
__version__ = version()
