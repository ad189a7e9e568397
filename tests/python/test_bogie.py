"""The Python package against the program, the C structures and closed forms."""
import ctypes
import json
import math
import os
import re
import signal
import subprocess
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
    with pytest.raises((TypeError, ValueError)):
        m.run(rtol="small")
    with pytest.raises(bogie.Error, match="projektion|projection"):
        m.run(integrator="mdop5", options={"projektion": "always"})
    r = m.run(t_end=0.05)
    with pytest.raises(KeyError, match="crank"):
        r["crnk"]
    with pytest.raises(AttributeError):
        r.nothing


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


def test_interrupt():
    """Control-C ends a long run with what was computed."""
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    r = bogie.Model("equations:andrews").run(t_end=1e6, progress=lambda t, n: None)
    assert r.summary["status"] == "stopped" and 0 < r.t[-1] < 1e6


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
