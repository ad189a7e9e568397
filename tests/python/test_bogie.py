"""The Python package against the program, the C structures and closed forms."""
import ctypes
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import bogie
from bogie import _library

SOURCE = Path(os.environ["SOURCE"])
PROGRAM = os.environ["BOGIE"]
FOUR_BAR = SOURCE / "models/four-bar.json"


def run_program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_layout():
    """Every structure has the size and the places of C's."""
    lines = subprocess.run([os.environ["LAYOUT"]], capture_output=True, text=True, check=True)
    checked = 0
    for line in lines.stdout.splitlines():
        name, number = line.split()
        struct, _, field = name.partition(".")
        mirror = getattr(_library, struct)
        found = getattr(mirror, field).offset if field else ctypes.sizeof(mirror)
        assert found == int(number), name
        checked += 1
    assert checked > 35


@pytest.mark.parametrize("integrator", ["mdop5", "bdf", "linear-euler"])
def test_same_as_program(tmp_path, integrator):
    step = 1e-3 if integrator == "linear-euler" else None
    r = bogie.Model(FOUR_BAR).run(integrator=integrator, t_end=0.3, step=step)
    options = ["--step", step] if step else []
    code, _, err = run_program("run", FOUR_BAR, "--integrator", integrator, "--t-end", 0.3, "-o",
                               tmp_path / "a.csv", "--quiet", *options)
    assert code == 0, err
    r.to_csv(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    _, out, _ = run_program("run", FOUR_BAR, "--integrator", integrator, "--t-end", 0.3,
                            "--summary", "-", *options)
    assert r.verdict == "good" and r.certificate["max_g"] == json.loads(out)["certificate"]["max_g"]
    assert len(r.t) == len(r["crank"]) == len(r["q:A.angle"]) > 5
    assert r.steps["h"][0] == 0 and abs(r.steps["t"][-1] - 0.3) < 1e-12


def test_files(tmp_path):
    r = bogie.Model(FOUR_BAR).run(integrator="mdop5", t_end=0.3)
    r.to_hdf5(tmp_path / "a.h5")
    back = bogie.open(tmp_path / "a.h5")
    for name in ("t", "q", "v", "a", "lambda_", "outputs"):
        assert np.array_equal(getattr(r, name), getattr(back, name)), name
    assert back.names("outputs") == r.names("outputs")
    assert back.summary["verdict"] == r.summary["verdict"]
    back.save(tmp_path / "b.h5")
    assert np.array_equal(bogie.open(tmp_path / "b.h5")["crank"], r["crank"])
    with pytest.raises(FileExistsError):
        back.save(tmp_path / "b.h5")
    (tmp_path / "notes.csv").write_text("precious")
    with pytest.raises(bogie.Error):
        r.to_csv(tmp_path / "notes.csv")
    assert (tmp_path / "notes.csv").read_text() == "precious"


def test_page(tmp_path):
    template = os.environ.get("BOGIE_VIEWER", "")
    r = bogie.Model(FOUR_BAR).run(integrator="mdop5", t_end=0.1)
    if not os.path.exists(template):
        with pytest.raises(FileNotFoundError, match="BOGIE_VIEWER"):
            r.report(tmp_path / "page.html")
        return
    r.report(tmp_path / "page.html")
    r.to_hdf5(tmp_path / "a.h5")
    bogie.report(tmp_path / "two.html", r, tmp_path / "a.h5", title="both")
    assert (tmp_path / "two.html").stat().st_size > (tmp_path / "page.html").stat().st_size > 1e5
    assert '"both"' in (tmp_path / "two.html").read_text()
    assert r._repr_html_().startswith("<iframe srcdoc=")
    (tmp_path / "notes.html").write_text("precious")
    with pytest.raises(bogie.Error):
        r.report(tmp_path / "notes.html")
    assert (tmp_path / "notes.html").read_text() == "precious"


def test_parameters_and_settings():
    m = bogie.Model("equations:pendulum")
    slow = bogie.Model(SOURCE / "models/five-link-suspension.json", parameters={"speed": 5})
    r = slow.run(integrator="mdop5", t_end=0.05)
    _, out, _ = run_program("run", SOURCE / "models/five-link-suspension.json", "--set",
                            "parameters.speed=5", "--integrator", "mdop5", "--t-end", 0.05,
                            "--summary", "-")
    final = json.loads(out)["final"]["q"]
    assert list(r.q[-1]) == final
    assert m.run(t_end=0.1, options={"projection": "every-step"}, integrator="mdop5").verdict == "good"


@pytest.mark.parametrize("reference, keywords, words", [
    ("nowhere.json", {}, "nowhere.json"),
    ("equations:pendulm", {}, "pendulum"),
    (FOUR_BAR, {"parameters": {"sped": 1}}, "sped"),
    (FOUR_BAR, {"formulation": "polar"}, "joint or cartesian"),
])
def test_bad_models(reference, keywords, words):
    with pytest.raises(bogie.Error, match=words):
        bogie.Model(reference, **keywords)


def test_bad_runs():
    m = bogie.Model(FOUR_BAR)
    with pytest.raises(bogie.Error, match="mdop5") as caught:
        m.run(integrator="mdop55")
    assert caught.value.status == "BG_BAD_INPUT"
    with pytest.raises(bogie.Error, match="projektion|projection"):
        m.run(integrator="mdop5", options={"projektion": "always"})
    r = m.run(t_end=0.05)
    with pytest.raises(KeyError, match="crank"):
        r["crnk"]
    with pytest.raises(AttributeError):
        r.nothing


@pytest.mark.parametrize("work, error, words", [
    (lambda m, r: bogie.Model(5), TypeError, "5|int"),
    (lambda m, r: bogie.Model(FOUR_BAR, parameters=[1]), TypeError, "parameters must be a dict"),
    (lambda m, r: m.run(integrator=5), TypeError, "integrator must be a text"),
    (lambda m, r: m.run(options=["a"]), TypeError, "options must be a dict"),
    (lambda m, r: m.run(rtol="small"), TypeError, "rtol must be a number, not 'small'"),
    (lambda m, r: m.run(t_end=math.nan), ValueError, "t_end"),
    (lambda m, r: m.run(t_end=-1), bogie.Error, "time runs forwards"),
    (lambda m, r: m.modes(at="late"), TypeError, "at must be a number"),
    (lambda m, r: m.realtime(step=-1), ValueError, "step"),
    (lambda m, r: m.realtime(step=1e-3, outputs="crnk"), bogie.Error, "crnk"),
    (lambda m, r: r[5], TypeError, "by its name"),
    (lambda m, r: r.units["crnk"], KeyError, "did you mean 'crank'"),
    (lambda m, r: r.to_csv("a.h5"), ValueError, "FILE.csv"),
    (lambda m, r: r.to_hdf5("a.csv"), ValueError, "FILE.h5"),
    (lambda m, r: bogie.study(5), TypeError, "a study is a dict"),
    (lambda m, r: bogie.study({}), bogie.Error, "metrics: is missing"),
    (lambda m, r: bogie.study(STUDY, jobs=-3), ValueError, "jobs must be .* not -3"),
    (lambda m, r: bogie.study(STUDY, jobs="x"), ValueError, "jobs must be"),
    (lambda m, r: bogie.study(STUDY, time_limit=-3), ValueError, "time_limit must be .* not -3"),
    (lambda m, r: bogie.study(STUDY, time_limit=0), ValueError, "time_limit must be"),
    (lambda m, r: bogie.study(STUDY, time_limit=math.nan), ValueError, "time_limit"),
    (lambda m, r: bogie.study(STUDY, journal=b"j"), TypeError, "b'j'"),
    (lambda m, r: bogie.Model({"bodies": {"a": {"center": [0, math.nan, 0]}}}), ValueError,
     r"bodies\.a\.center\[1\] is nan, not a finite number"),
    (lambda m, r: bogie.Model({"bodies": {"a": {"mass": 1j}}}), TypeError,
     r"bodies\.a\.mass is 1j, not a number"),
    (lambda m, r: bogie.Model("equations:pendulum", parameters={"length": np.inf}), ValueError,
     "length is inf"),
    (lambda m, r: bogie.Model(FOUR_BAR, settings={"gravity": np.array([0, np.nan, 0])}), ValueError,
     r"gravity\[1\] is nan"),
    (lambda m, r: bogie.study({"base": {"t_end": math.inf}}), ValueError, r"base\.t_end is inf"),
    (lambda m, r: m.run(t_end=10**400), ValueError, "t_end is too large"),
    (lambda m, r: bogie.Model(None), TypeError, "text or a path, not None"),
    (lambda m, r: bogie.Model(b"a.json"), TypeError, "b'a.json'"),
    (lambda m, r: bogie.Model("equations:pendulum\0x"), ValueError, "NUL"),
    (lambda m, r: bogie.Model({"name": "a\0b"}), ValueError, "NUL"),
    (lambda m, r: bogie.Model(FOUR_BAR, settings={"gravity\0x": 5}), ValueError, "NUL"),
    (lambda m, r: bogie.System(q0=[1], M=[[1]], f=lambda p: [1], names=["a\0b"]), ValueError, "NUL"),
    (lambda m, r: m.run(integrator="mdop5\0x"), ValueError, "NUL"),
    (lambda m, r: r.to_csv(b"a.csv"), TypeError, "b'a.csv'"),
    (lambda m, r: r.save("a\0.csv"), ValueError, "NUL"),
    (lambda m, r: bogie.open(b"a.h5"), TypeError, "b'a.h5'"),
    (lambda m, r: bogie.report("a\0.html", r), ValueError, "NUL"),
    (lambda m, r: bogie.open("nowhere.h5"), bogie.Error, "nowhere.h5"),
    (lambda m, r: bogie.System(q0=[1, 0], M=np.eye(2), f=lambda p: p.q, names=["x"]), ValueError,
     "2 coordinates q, but 1 names"),
    (lambda m, r: bogie.System(q0=[1], M=[[1]], f=lambda p: [1], G=[[1]]), ValueError, "give g"),
    (lambda m, r: bogie.System(q0=[1], M=[[1]], f=lambda p: [1], outputs=lambda p: [1, 2],
                               output_names=["a"]).run(), ValueError, "2 numbers for 1 names"),
    (lambda m, r: bogie.System(q0=[1], M=[[0]], f=lambda p: [1]).run(), bogie.Error, "singular"),
])
def test_misuse(work, error, words):
    m = bogie.Model(FOUR_BAR)
    with pytest.raises(error, match=words):
        work(m, m.run(t_end=0.02))


def test_realtime():
    """The same numbers as a run with the same steps, and no allocation or search on the way."""
    m = bogie.Model("equations:car-axle")
    rt = m.realtime(step=1e-3, integrator="linear-euler", outputs=["q:" + n for n in m.run(
        t_end=0.001, integrator="linear-euler", step=1e-3, options={"certificate": "off"}
    ).names("q")])
    for _ in range(200):
        rt.step()
    r = m.run(integrator="linear-euler", step=1e-3, t_end=0.2, options={"certificate": "off"})
    assert abs(rt.t - 0.2) < 1e-12
    assert np.array_equal(rt.outputs, r.q[-1])
    with pytest.raises(KeyError, match="steer"):
        rt.step(steer=1)
    with pytest.raises(bogie.Error):
        m.realtime(step=1e-3, integrator="mdop5")


def test_live_inputs():
    """A rack that follows an input from outside."""
    m = bogie.Model(SOURCE / "models/front-axle.json")
    rt = m.realtime(step=1e-3, inputs=["rack"], hold="slope")
    still = bogie.Model(SOURCE / "models/front-axle.json").realtime(step=1e-3, inputs=["rack"])
    for k in range(50):
        moved = rt.step(rack=1e-4 * k).copy()
        rest = still.step(rack=0.0).copy()
    assert np.isfinite(moved).all() and np.abs(moved - rest).max() > 1e-4
    with pytest.raises(bogie.Error, match="push"):
        m.realtime(step=1e-3, inputs=["push"])


def make_pusher():
    """A mass that inputs push: one that is constant, one that varies, and one that is none where it
    is above 9."""
    return bogie.Model({
        "gravity": [0, 0, 0], "inputs": {"push": 5, "wave": "sin(t)", "limited": 0},
        "bodies": {"b": {"mass": 1, "center": [0, 0, 0], "inertia": [1, 1, 1]}},
        "joints": {"s": {"type": "prismatic", "bodies": ["ground", "b"], "at": [0, 0, 0],
                         "axis": [1, 0, 0]}},
        "forces": {"p": {"type": "force", "at": "b",
                         "force": ["push + wave + sqrt(9 - limited)", 0, 0]}},
        "outputs": {"x": {"joint": "s"}, "push": {"signal": "push"}, "wave": {"signal": "wave"}}})


@pytest.mark.parametrize("hold", ["value", "slope"])
def test_inputs_one_by_one(hold):
    """What was never named is as the model says, what was named once stays; a step that fails takes
    its inputs back."""
    m = make_pusher()
    rt, twin, plain = (m.realtime(step=1e-3, hold=hold) for _ in range(3))
    assert rt.inputs == ("push", "wave", "limited")
    for _ in range(10):
        y = rt.step(limited=0.0)
        assert (y == plain.step()).all()
        twin.step(limited=0.0)
    assert rt["push"] == 5 and abs(rt["wave"] - np.sin(rt.t - 1e-3)) < 1e-3
    for bad in ({"push": 1, "limited": 10}, {"push": 3, "limited": 11}, {"push": np.nan},
                {"wave": 2, "limited": np.inf}):
        with pytest.raises(bogie.Error):
            rt.step(**bad)
    for _ in range(10):
        assert (rt.step() == twin.step()).all()
    rt.step(push=2)
    twin.step(push=2)
    with pytest.raises(bogie.Error):
        rt.step(push=1, wave=3, limited=10)
    for _ in range(10):
        assert (rt.step() == twin.step()).all()
    assert rt["push"] == 2


WISHBONE = SOURCE / "models/double-wishbone.json"


def test_check(tmp_path):
    """What the program prints, from the same functions."""
    c = bogie.Model(WISHBONE).check(derivatives=True)
    _, out, _ = run_program("check", WISHBONE)
    assert c.freedom == len(c.freedoms) == 3 and "freedom          3 degrees" in out
    assert c.redundant == [] and len(c.loops) == 2 and f"total mass {c.mass:.6g} kg" in out
    for f in c.freedoms:
        assert f"{f['coordinate']} moves" in out and f["moves"][f["coordinate"]] == 1
    assert c.agree and len(c.compared) > 5 and c.start["g"] < 1e-12
    assert "3 degrees of freedom" in repr(c)
    with pytest.raises(AttributeError, match="freedom"):
        c.nothing
    code, out, _ = run_program("check", WISHBONE, "--derivatives", "--json", "-")
    assert code == 0 and json.loads(out)["freedoms"] == c.freedoms
    assert run_program("check", WISHBONE, "--json", tmp_path / "c.json")[0] == 0
    code, _, err = run_program("check", WISHBONE, "--json", "-", "--integrator", "euler")
    assert code == 2 and "--integrator" in err
    assert bogie.Model("equations:andrews").check().dimensions["ng"] == 6
    doors = bogie.Model(SOURCE / "models/iftomm-a04-bricard.json").check()
    assert doors.freedom == 1 and len(doors.redundant) >= 1
    assert bogie.System(q0=[1], M=[[1]], f=lambda p: [0]).check().freedom == 1


@pytest.mark.parametrize("model, keywords", [(WISHBONE, {"equilibrium": True}),
                                             (SOURCE / "models/vehicle-trailer.json", {"at": 0.05}),
                                             ("equations:car-axle", {})])
def test_modes_and_matrices(tmp_path, model, keywords):
    """Modes are eigenvalues of A; both are the program's."""
    m = bogie.Model(model)
    modes, l = m.modes(**keywords), m.linearise(**keywords)
    values = np.linalg.eigvals(l.A)
    for mode in modes:
        assert np.abs(values - mode.eigenvalue).min() < 1e-6 * (1 + abs(mode.eigenvalue))
        assert abs(sum(mode.participation.values()) - 1) < 1e-3
        assert max(map(abs, [*mode.shape.values(), *mode.states.values()])) > 0
    assert len(values) == modes.zeros + sum(1 + mode.oscillates for mode in modes)
    where = ["--equilibrium"] if "equilibrium" in keywords else \
        ["--at", keywords["at"]] if "at" in keywords else []
    run_program("modes", model, *where, "--json", tmp_path / "modes.json")
    written = json.loads((tmp_path / "modes.json").read_text())["modes"]
    # numpy may have loaded OpenBLAS with other kernels than the program
    written = [complex(*x["eigenvalue"]) for x in written]
    assert np.allclose(written, modes.eigenvalues, rtol=1e-9, atol=1e-9)
    _, out, _ = run_program("linearise", model, *where)
    out = json.loads(out)
    for name in "ABCD":
        assert np.allclose(np.array(out[name], float).reshape(getattr(l, name).shape),
                           getattr(l, name), rtol=1e-9, atol=1e-9)
    assert l.B.shape == (len(l.states), len(l.inputs)) and l.units[l.states[0]] in ("m", "rad", "")
    l.save(tmp_path / "car.csv")
    run_program("linearise", model, *where, "-o", tmp_path / "other.csv")
    if not keywords:
        assert (tmp_path / "car.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    with pytest.raises(bogie.Error, match="FILE.mat"):
        l.save(tmp_path / "car.txt")


def test_equilibrium():
    """Nothing accelerates there, and a run that starts there stays."""
    m = bogie.Model(WISHBONE)
    e = m.equilibrium()
    assert np.abs(e.a).max() < 1e-6 and "hub.angle" in " ".join(e.remarks)
    assert e["q:heave.slide"] == e.q[0] and e.units["v:heave.slide"] == "m/s"
    r = m.run(equilibrium=True, t_end=0.1)
    assert abs(r["q:heave.slide"][-1] - e["q:heave.slide"]) < 1e-6
    assert abs(r["body"][0] - e["body"]) < 1e-9
    with pytest.raises(KeyError, match="heave"):
        e["heave"]
    spring = bogie.System(q0=[1], v0=[0], M=[[2]], f=lambda p: -8 * p.q + [4])
    assert abs(spring.equilibrium().q[0] - 0.5) < 1e-9
    assert abs(spring.modes(equilibrium=True)[0].eigenvalue - 2j) < 1e-6
    with pytest.raises(bogie.Error, match="falls, slides or rolls away"):
        bogie.System(q0=[0], M=[[1]], f=lambda p: [-9.81], names=["z"]).equilibrium()
    with pytest.raises(bogie.Error, match="exclude"):
        m.modes(at=1, equilibrium=True)
    with pytest.raises(ZeroDivisionError):
        bogie.System(q0=[1], M=[[1]], f=lambda p: [1 / 0]).modes()


def test_units(tmp_path):
    r = bogie.Model(WISHBONE).run(t_end=0.02)
    assert r.units["wheel.x"] == "m" and r.units["t"] == "s" and r.units["a:heave.slide"] == "m/s²"
    assert set(r.units) >= {n for kind in ("outputs", "q", "v", "z") for n in r.names(kind)}
    r.to_hdf5(tmp_path / "a.h5")
    assert bogie.open(tmp_path / "a.h5").units == r.units


STUDY = {"title": "Two methods", "model": "equations:pendulum", "base": {"t_end": 1},
         "variants": {"grid": {"integrator": ["mdop5", "hem5"], "tol": np.logspace(-4, -8, 3)}},
         "references": {"exact": {"variant": {"integrator": "mdop5", "tol": 1e-12}}},
         "metrics": ["steps.accepted",
                     {"key": "error", "unit": "m", "error": {"outputs": ["q:x", "q:y"]}}]}


def test_study(tmp_path, monkeypatch):
    """The program's table, as columns."""
    monkeypatch.chdir(tmp_path)
    seen = []
    s = bogie.study(STUDY, progress=lambda done, total: seen.append((done, total)))
    assert len(s) == 6 and seen[-1] == (6, 6) and list(tmp_path.iterdir()) == []
    assert s.table.dtype.names == ("name", "integrator", "tol", "steps.accepted", "error", "ok",
                                   "reason")
    assert s["ok"].all() and s["tol"].dtype == float and s["steps.accepted"].dtype.kind == "i"
    for method in ("mdop5", "hem5"):
        error = s["error"][s["integrator"] == method]
        assert (np.diff(error) < 0).all() and error[-1] < 1e-5
    assert s.units["error"] == "m"
    s.to_csv("a.csv")
    text = _library.make_json(STUDY)
    (tmp_path / "study.json").write_text(text)
    assert run_program("study", "study.json", "--csv", "b.csv", "--quiet")[0] == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert (bogie.study("study.json", jobs=1).table == s.table).all()
    s.save("a.json")
    assert json.loads(Path("a.json").read_text())["title"] == "Two methods"
    assert "mdop5" in s._repr_html_() and "0 failed" in repr(s)
    Path("mine.csv").write_text("precious")
    with pytest.raises(bogie.Error, match="mine.csv"):
        s.save("mine.csv")
    with pytest.raises(KeyError, match="error"):
        s["eror"]
    if os.path.exists(os.environ.get("BOGIE_VIEWER", "")):
        s.report("page.html")
        assert "Two methods" in Path("page.html").read_text()


def test_bad_studies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for change, words in (({"metrics": ["steps.acepted"]}, "steps.acepted"),
                          ({"variants": {"grid": {"tl": [1]}}}, "tl"),
                          ({"model": "nowhere.json"}, "nowhere.json")):
        with pytest.raises(bogie.Error, match=words):
            bogie.study({**STUDY, **change})
    with pytest.raises(TypeError, match=r"base\.t_end is .*, not a number"):
        bogie.study({**STUDY, "base": {"t_end": object()}})

    def stop(done, total):
        raise LookupError("enough")
    with pytest.raises(LookupError, match="enough"):
        bogie.study(STUDY, progress=stop)
    failing = bogie.study({**STUDY, "base": {"t_end": 1, "max_steps": 5}, "references": {},
                           "metrics": ["steps.accepted"]})
    assert not failing["ok"].any() and "step" in failing["reason"][0]


@pytest.mark.parametrize("key", ["name", "ok", "reason", "tol", "integrator"])
def test_names_of_columns(tmp_path, key):
    """No metric hides another column, and no case runs before that is said."""
    study = {**STUDY, "metrics": [{"key": key, "label": "l", "summary": "steps.accepted"}]}
    (tmp_path / "study.json").write_text(_library.make_json(study))

    def progress(done, total):
        raise LookupError("a case has run")
    for description in (study, tmp_path / "study.json"):
        with pytest.raises(ValueError, match=f"metric '{key}' has the name of another column"):
            bogie.study(description, progress=progress)


def test_endings_of_hdf5(tmp_path):
    bogie.Model(FOUR_BAR).run(t_end=0.02).to_hdf5(tmp_path / "a.h5")
    bogie.open(tmp_path / "a.h5").to_hdf5(tmp_path / "b.hdf5")
    bogie.open(tmp_path / "b.hdf5").save(tmp_path / "c.h5")
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "c.h5").read_bytes()
    with pytest.raises(ValueError, match="not converted"):
        bogie.open(tmp_path / "a.h5").to_csv(tmp_path / "a.csv")


def test_interrupted_study(tmp_path, monkeypatch):
    """Control-C ends a study; with a journal it goes on where it was."""
    monkeypatch.chdir(tmp_path)
    study = {"model": "equations:andrews", "metrics": ["steps.accepted"],
             "variants": {"list": [{"name": "short", "t_end": 0.01},
                                   {"name": "long", "t_end": 1e6}]}}
    timer = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        bogie.study(study, journal="a.journal", jobs=2)
    assert len(Path("a.journal").read_text().splitlines()) == 2  # its head, and the short case


def test_interrupted_analysis():
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        bogie.Model("equations:andrews").modes(at=1e6)


def test_described_model():
    """A model as a dict is the model of its file."""
    content = json.loads(FOUR_BAR.read_text())
    m = bogie.Model(content, parameters={}, settings={"gravity": 5})
    assert np.array_equal(m.run(t_end=0.1).q,
                          bogie.Model(FOUR_BAR, settings={"gravity": 5}).run(t_end=0.1).q)
    assert m.check().freedom == 1 and m.realtime(step=1e-3).step().shape == (13,)
    del content["bodies"]["crank"]["mass"]
    with pytest.raises(bogie.Error, match="bodies.crank"):
        bogie.Model(content)
    with pytest.raises(TypeError, match="not a number"):
        bogie.Model({"bodies": object()})


def test_settings_of_numpy():
    """Numbers and arrays of numpy, lists and dicts are set as JSON."""
    m = bogie.Model(FOUR_BAR, settings={"gravity": np.float64(5), "bodies.crank.center":
                                        np.array([0, 0, 0.5])})
    assert m.run(t_end=0.01).verdict == "good"
    with pytest.raises(TypeError, match="not a number"):
        bogie.Model(FOUR_BAR, settings={"gravity": object()})


def pendulum(**more):
    return bogie.System(q0=[1, 0], v0=[0, 0], M=np.eye(2), f=lambda p: [0, -9.81],
                        g=lambda p: [p.q @ p.q - 1], t_end=1, names=["x", "y"], name="mine", **more)


@pytest.mark.parametrize("integrator", ["mdop5", "mdop8", "hem5", "bdf", "sdirk4", "adams"])
def test_system(integrator):
    """A pendulum: with and without G, against the energy and the built-in one's angle."""
    for more in ({}, {"G": lambda p: 2 * p.q[None, :]}):
        r = pendulum(**more).run(integrator=integrator, rtol=1e-9, atol=1e-9)
        energy = 0.5 * (r.v ** 2).sum(axis=1) + 9.81 * r["y"]
        assert np.abs(energy).max() < 1e-5
        assert np.abs((r.q ** 2).sum(axis=1) - 1).max() < 1e-8
        # theta'' = -9.81 sin(theta) from the horizontal, by small steps of order 4
        th, w, h = math.pi / 2, 0.0, 1e-4
        def rate(a, b):
            return b, -9.81 * math.sin(a)
        for _ in range(10000):
            k1 = rate(th, w)
            k2 = rate(th + h / 2 * k1[0], w + h / 2 * k1[1])
            k3 = rate(th + h / 2 * k2[0], w + h / 2 * k2[1])
            k4 = rate(th + h * k3[0], w + h * k3[1])
            th += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
            w += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        assert abs(r["x"][-1] - math.sin(th)) < 1e-6


def test_system_states_and_outputs():
    s = bogie.System(q0=[0], v0=[1], z0=[2], M=[[1]], f=lambda p: [0], h=lambda p: [-3 * p.z[0]],
                     outputs=lambda p: [p.q[0] + p.z[0]], output_names=["sum"], t_end=1)
    r = s.run(rtol=1e-10, atol=1e-10)
    assert abs(r.z[-1, 0] - 2 * math.exp(-3)) < 1e-8
    assert abs(r["sum"][-1] - (1 + 2 * math.exp(-3))) < 1e-8


def test_exceptions_come_out():
    s = bogie.System(q0=[1], v0=[0], M=[[1]], f=lambda p: [1 / 0] if p.t > 0.5 else [1.0], t_end=2)
    with pytest.raises(ZeroDivisionError):
        s.run()
    with pytest.raises(ValueError, match="f returned"):
        bogie.System(q0=[1], v0=[0], M=[[1]], f=lambda p: [1, 2]).run()
    with pytest.raises(ValueError, match="output_names"):
        bogie.System(q0=[1], v0=[0], M=[[1]], f=lambda p: [1], outputs=lambda p: [1])

    def stop(t, steps):
        raise LookupError("enough")
    with pytest.raises(LookupError, match="enough"):
        bogie.Model("equations:andrews").run(t_end=1e3, progress=stop)


def test_points_can_be_kept():
    """What functions are given stays what it was, and cannot be written."""
    kept = []

    def keep(p):
        kept.append((p, p.q, p.q.tolist(), p.v.tolist()))
        return [0, -9.81]
    r = bogie.System(q0=[3, 4], M=np.eye(2), f=keep).run(t_end=1)
    assert abs(r.q[-1, 1] - (4 - 9.81 / 2)) < 1e-6 and len(kept) > 5
    for p, q, then_q, then_v in kept:
        assert q.tolist() == p.q.tolist() == then_q and p.v.tolist() == then_v
        assert not p.q.flags.writeable and not p.v.flags.writeable and p.z.shape == (0,)

    def write(p):
        p.q[0] = 5
        return [0, -9.81]
    with pytest.raises(ValueError, match="read-only"):
        bogie.System(q0=[3, 4], M=np.eye(2), f=write).run(t_end=1)
    q0 = np.array([1.0, 0.0])
    with pytest.raises(ValueError, match="read-only"):
        bogie.System(q0=q0, M=np.eye(2), f=lambda p: [0, 0], g=lambda p: [write(p)[0]])
    assert q0[0] == 1


def test_exceptions_of_their_own_call():
    """An exception comes out of the step, or the thread, that brought it about, of no later one."""
    def f(p):
        if p.t > 0.05:
            raise ZeroDivisionError("late")
        return [-9.81]
    s = bogie.System(q0=[1], M=[[1]], f=f, t_end=0.01)
    rt = s.realtime(step=1e-3)
    with pytest.raises(ZeroDivisionError, match="late"):
        for _ in range(100):
            rt.step()
    assert abs(rt.t - 0.05) < 2e-3
    assert s.run().verdict == "good" and s.check().freedom == 1
    with pytest.raises(ZeroDivisionError):
        s.linearise(at=0.1)

    def outputs(p):
        if p.t > 0.002:
            raise LookupError("no output")
        return [p.t]
    rt = bogie.System(q0=[1], M=[[1]], f=lambda p: [0], outputs=outputs,
                      output_names=["t"]).realtime(step=1e-3)
    with pytest.raises(LookupError, match="no output"):
        for _ in range(5):
            rt.step()

    # two threads share a system; one fails while the other is in the middle of its run
    failed, in_the_middle = threading.Event(), threading.Event()
    bad = threading.local()

    def g(p):
        if getattr(bad, "yes", False):
            in_the_middle.wait(20)
            raise ZeroDivisionError("of the other thread")
        in_the_middle.set()
        failed.wait(20)
        return [-9.81]
    shared, found = bogie.System(q0=[1], M=[[1]], f=g, t_end=0.01), []

    def fail():
        bad.yes = True
        try:
            shared.run()
        except ZeroDivisionError as error:
            found.append(error)
        failed.set()
    other = threading.Thread(target=fail)
    other.start()
    assert shared.run().verdict == "good"
    other.join()
    assert len(found) == 1


@pytest.mark.parametrize("name, value, shapes", [
    ("G", lambda p: [[2 * p.q[0], 0], [2 * p.q[1], 1], [2 * p.q[2], 0]], r"\(3, 2\), not \(2, 3\)"),
    ("M", np.eye(3).reshape(9), r"\(9,\), not \(3, 3\)"),
    ("V", lambda p: np.eye(3)[None], r"\(1, 3, 3\), not \(3, 3\)"),
    ("f", lambda p: np.zeros((2, 2)), r"\(2, 2\), not \(3,\)"),
    ("g", lambda p: [[p.q @ p.q - 1, p.q[1]]], None),
])
def test_shapes(name, value, shapes):
    """Matrices have their shape, not only their size."""
    terms = {"M": np.eye(3), "f": lambda p: [0, 0, -9.81], "g": lambda p: [p.q @ p.q - 1, p.q[1]],
             name: value}
    s = lambda: bogie.System(q0=[1, 0, 0], t_end=0.1, **terms).run()
    if shapes is None:
        assert s().verdict == "good"
        return
    with pytest.raises(ValueError, match=f"{name} returned an array of shape {shapes}"):
        s()


def test_refused_step():
    """A step that is refused changes nothing, not even the inputs of the next one."""
    m = bogie.Model(SOURCE / "models/vehicle-trailer.json")
    rt = m.realtime(step=1e-3, inputs=["steer"], outputs="steer")
    assert rt.step(steer=0.01)[0] == 0.01
    for value, error in ((math.nan, bogie.Error), (1e300, bogie.Error), (None, TypeError),
                         ("left", TypeError), ([1, 2], TypeError)):
        with pytest.raises(error, match="steer" if value != 1e300 else "not finite"):
            rt.step(steer=value)
        assert rt.t == 1e-3
    with pytest.raises(KeyError, match="nope"):
        rt.step(steer=0.5, nope=1)
    assert rt.step()[0] == 0.01 and rt.t == 2e-3


def test_interrupt():
    """Control-C ends a long run with what was computed."""
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    r = bogie.Model("equations:andrews").run(t_end=1e6, progress=lambda t, n: None)
    assert r.summary["status"] == "stopped" and 0 < r.t[-1] < 1e6


@pytest.mark.parametrize("work", ["m.run(t_end=1e9).summary['status']", "m.modes(at=1e9)"])
def test_interrupted_threads(work):
    """Control-C ends what is under way in other threads, and comes out of the main one."""
    script = """
import os, signal, threading, time
from concurrent.futures import ThreadPoolExecutor
import bogie
m = bogie.Model("equations:pendulum")
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(lambda: WORK) for _ in range(2)]
        jobs[0].result(), time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", [j.exception() or j.result() for j in jobs])
"""
    done = subprocess.run([sys.executable, "-c", script.replace("WORK", work)], capture_output=True,
                          text=True, timeout=40)
    assert done.stdout.startswith("interrupted") and done.stdout.count("stopped") == 2, done


def test_files_in_threads(tmp_path, monkeypatch):
    """HDF5 serves one thread at a time: matrices are written under the lock that results take."""
    l = bogie.Model("equations:car-axle").linearise()
    _library.files.acquire()
    writer = threading.Thread(target=l.save, args=(tmp_path / "a.h5",))
    writer.start()
    writer.join(0.5)
    assert not (tmp_path / "a.h5").exists()
    _library.files.release()
    writer.join()
    assert (tmp_path / "a.h5").exists()


def test_wrong_derivatives_are_said():
    right = pendulum(G=lambda p: 2 * p.q[None, :]).check(derivatives=True)
    wrong = pendulum(G=lambda p: [[2 * p.q[0], 3 * p.q[1]]]).check(derivatives=True)
    assert right.agree and "agree with differences; worst: G" in repr(right)
    assert not wrong.agree and "wrong: derivatives do not agree" in repr(wrong)
    assert "G, entry g[0] by v[1], is supplied as" in repr(wrong)
    assert "differences" not in repr(pendulum().check())
    none = pendulum().check(derivatives=True)
    assert none.compared == [] and "supplies none" in repr(none)


@pytest.mark.parametrize("analyse", ["linearise", "modes", "equilibrium"])
def test_misspelt_options(analyse):
    with pytest.raises(TypeError, match="equilbrium"):
        getattr(bogie.Model(FOUR_BAR), analyse)(equilbrium=True)


def test_threads():
    """Eight runs in eight threads give the bits of serial ones."""
    references = [FOUR_BAR, SOURCE / "models/double-wishbone.json", "equations:car-axle",
                  "equations:slider-crank", "equations:andrews", "equations:pendulum",
                  SOURCE / "models/slider-crank-3d.json", SOURCE / "models/gyroscope.json"]
    alone = [bogie.Model(m).run(t_end=0.05) for m in references]
    together = [None] * len(references)

    def work(i):
        together[i] = bogie.Model(references[i]).run(t_end=0.05)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(references))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for a, b in zip(alone, together):
        assert np.array_equal(a.q, b.q) and np.array_equal(a.outputs, b.outputs)


def test_document(tmp_path, monkeypatch):
    """Every block of docs/python.md runs, one after the other, as a reader would type them."""
    text = (SOURCE / "docs/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 5
    (tmp_path / "models").symlink_to(SOURCE / "models")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
