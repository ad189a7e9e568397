// Synthetic pages for the tests: motions by closed formulas or a small integration, so that every figure is known here.

export function array(values, shape = [values.length], type = "f32") {
  const data = type === "f32" ? Float32Array.from(values) : Float64Array.from(values);
  return { type, shape, base64: Buffer.from(data.buffer).toString("base64") };
}

const times = (n, end) => Array.from({ length: n }, (_, i) => (end * i) / (n - 1));
const aboutX = (angle) => [Math.cos(angle / 2), Math.sin(angle / 2), 0, 0];
const aboutY = (angle) => [Math.cos(angle / 2), 0, Math.sin(angle / 2), 0];
const channel = (group, name, unit, values) => ({ name, unit, group, data: array(values) });

/** A small generator of reproducible numbers (mulberry32). */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The end of the summary of a run that failed. */
const failed = (status, message) => ({ status, message, verdict: "bad", reason: `the run ended early: ${message}`, warnings: [{ verdict: "bad", topic: "end", text: `the run ended early: ${message}` }] });

function summary(model, more = {}) {
  return {
    model,
    formulation: "joint",
    integrator: "mdop5",
    status: "done",
    message: "",
    verdict: "good",
    reason: "",
    warnings: [],
    t_end: 2,
    dimensions: { nq: 14, nv: 14, nz: 0, ng: 12, dof: 2, redundant: 0 },
    steps: { accepted: 412, rejected: 9 },
    evaluations: { terms: 2890, explicit: 0, residual: 0, jacobian: 0, jacobian_updates: 0, factorisations: 2890, projections: 421 },
    cpu_seconds: 0.0423891,
    certificate: { max_g: 3.1e-13, max_gv: 8.4e-12, max_ga: 2.2e-11, energy_error: 1.3e-4, energy_scale: 2140.5, unconverged_steps: 0, real_time_factor: 47.2 },
    events: [],
    final: null,
    ...more,
  };
}

const road = { speed: 5, stairs: [[1.5, 0.06], [5.2, 0.06]] };
const roadHeight = (x) => road.stairs.reduce((z, [at, h]) => z + (x >= at ? h : 0), 0);

/** Two masses on springs over a moving stair. Returns rows of [z chassis, z wheel, force of the tyre]. */
function quarterCar(t) {
  const [M, m, k, c, kt, ct] = [400, 40, 25000, 1900, 200000, 300];
  let y = [0, 0, 0, 0];
  const rate = (time, [zc, zw, vc, vw]) => {
    const f = k * (zw - zc) + c * (vw - vc);
    const ft = Math.max(0, (M + m) * 9.81 + kt * (roadHeight(road.speed * time) - zw) - ct * vw);
    return [vc, vw, f / M, (ft - (M + m) * 9.81 - f) / m, ft];
  };
  const rows = [];
  const add = (a, b, h) => a.map((x, i) => x + h * b[i]);
  for (let i = 0; i < t.length; i++) {
    rows.push([y[0], y[1], rate(t[i], y)[4]]);
    const h = (t[i + 1] ?? t[i]) - t[i];
    const k1 = rate(t[i], y);
    const k2 = rate(t[i] + h / 2, add(y, k1, h / 2));
    const k3 = rate(t[i] + h / 2, add(y, k2, h / 2));
    const k4 = rate(t[i] + h, add(y, k3, h));
    y = y.map((x, j) => x + (h / 6) * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]));
  }
  return rows;
}

const arm = 0.42;
const inner = 0.3;
const radius = 0.32;

function suspensionPoses(t, rows) {
  const poses = [];
  for (let i = 0; i < t.length; i++) {
    const [zc, zw] = rows[i];
    const angle = Math.asin(Math.max(-0.9, Math.min(0.9, (zw - zc) / arm)));
    const y = inner + arm * Math.cos(angle);
    poses.push(
      [0, 0, 0, 1, 0, 0, 0],
      [0, 0, 0.62 + zc, 1, 0, 0, 0],
      [0, inner, 0.22 + zc, ...aboutX(angle)],
      [0, inner, 0.46 + zc, ...aboutX(angle)],
      [0, y, radius + zw, 1, 0, 0, 0],
      [0, y + 0.13, radius + zw, ...aboutY((road.speed * t[i]) / radius)],
    );
  }
  return poses.flat();
}

function profile() {
  const points = [[-3, 0]];
  let z = 0;
  for (const [at, h] of road.stairs) {
    points.push([at, z], [at, z + h]);
    z += h;
  }
  points.push([16, z]);
  return points;
}

function suspensionScene(t, rows) {
  const line = (from, to) => ({ kind: "line", from, to });
  const joint = (name, type, a, b, position, axis, cut = false) => ({ name, type, bodies: [a, b], position, axis, cut });
  return {
    up: [0, 0, 1],
    gravity: [0, 0, -9.81],
    bodies: [
      { name: "ground", mass: 0, shapes: [], points: [] },
      { name: "chassis", mass: 400, shapes: [{ kind: "box", position: [0, 0.08, 0.02], rotation: [1, 0, 0, 0], size: [0.5, 0.34, 0.26] }, { kind: "box", position: [0, 0.2, -0.28], rotation: [1, 0, 0, 0], size: [0.34, 0.12, 0.36] }], points: [{ name: "seat", position: [0, 0.1, 0.15] }] },
      { name: "lower arm", mass: 4, shapes: [line([0.16, 0, 0], [0, arm, 0]), line([-0.16, 0, 0], [0, arm, 0])], points: [{ name: "damper", position: [0, 0.26, 0] }] },
      { name: "upper arm", mass: 3, shapes: [line([0.1, 0, 0], [0, arm, 0]), line([-0.1, 0, 0], [0, arm, 0])], points: [] },
      { name: "upright", mass: 12, shapes: [{ kind: "cylinder", position: [0, 0, 0.02], rotation: [1, 0, 0, 0], radius: 0.03, length: 0.26 }, { kind: "cylinder", position: [0, 0.06, 0], rotation: [Math.SQRT1_2, Math.SQRT1_2, 0, 0], radius: 0.035, length: 0.12 }, { kind: "sphere", position: [0, 0, 0.14], radius: 0.035 }], points: [] },
      { name: "wheel", mass: 21, shapes: [{ kind: "cylinder", position: [0, 0, 0], rotation: [Math.SQRT1_2, Math.SQRT1_2, 0, 0], radius, length: 0.2 }], points: [{ name: "rim", position: [0.21, 0.1, 0] }] },
    ],
    joints: [
      joint("lower inner", "revolute", 1, 2, [0, 0, 0], [1, 0, 0]),
      joint("upper inner", "revolute", 1, 3, [0, 0, 0], [1, 0, 0]),
      joint("lower outer", "spherical", 2, 4, [0, 0, -0.1], null),
      joint("upper outer", "spherical", 3, 4, [0, 0, 0.14], null, true),
      joint("hub", "revolute", 4, 5, [0, -0.06, 0], [0, 1, 0]),
    ],
    springs: [{ name: "strut", type: "spring-damper", from: { body: 2, position: [0, 0.26, 0.01] }, to: { body: 1, position: [0, 0.26, 0.14] } }],
    tyres: [{ name: "tyre", body: 5, position: [0, 0, 0], axis: [0, 1, 0], radius, width: 0.2 }],
    road: { name: "stair", profile: profile(), width: 0.55, y: inner + arm + 0.13, speed: road.speed, start: 0 },
    reactions: [{ joint: "hub", body: 5, position: [0, 0, 0], force: array(rows.flatMap((r) => [0, 300, r[2]]), [t.length, 3]) }],
    t: array(t, [t.length], "f64"),
    poses: array(suspensionPoses(t, rows), [t.length, 6, 7]),
  };
}

export function suspension(n = 2000) {
  const t = times(n, 2);
  const rows = quarterCar(t);
  const steps = stepHistory();
  return {
    name: "suspension on a stair",
    summary: summary("models/suspension.json"),
    facts: [["bodies", "6 with the ground"], ["joints", "5, one cut"], ["degrees of freedom", "2"], ["mass", "480 kg"], ["cut joint", "upper outer (spherical)"], ["source", "a quarter car over two steps of 60 mm at 18 km/h"]],
    t: array(t, [n], "f64"),
    channels: [
      channel("outputs", "chassis height", "m", rows.map((r) => r[0])),
      channel("outputs", "wheel height", "m", rows.map((r) => r[1])),
      channel("outputs", "tyre force", "N", rows.map((r) => r[2])),
      channel("outputs", "wheel angle", "rad", t.map((x) => (road.speed * x) / radius)),
      ...[0, 1, 2].map((i) => channel("q", `q${i}`, "", rows.map((r) => r[i % 2] * (i + 1)))),
      ...[0, 1].map((i) => channel("v", `v${i}`, "", t.map((x) => Math.sin(7 * x + i)))),
      channel("lambda", "hub force x", "N", t.map((x) => 30 * Math.cos(40 * x))),
      channel("signals", "road", "m", t.map((x) => roadHeight(road.speed * x))),
    ],
    steps,
    residuals: { t: steps.t, g: array(steps.count.map((i) => 1e-13 * (2 + Math.sin(i)))), gv: array(steps.count.map((i) => 4e-12 * (1.5 + Math.cos(0.3 * i)))), ga: array(steps.count.map((i) => 1e-11 * (1.3 + Math.sin(0.1 * i)))) },
    events: road.stairs.map(([at], i) => ({ t: at / road.speed, name: i === 0 ? "road: stair begins" : `road: stair, step ${i + 1} of ${road.stairs.length}`, direction: 1 })).concat([{ t: 1.1, name: "tyre lifts off", direction: -1 }]),
    scene: suspensionScene(t, rows),
  };
}

function stepHistory() {
  const [ts, hs, orders, accepted] = [[], [], [], []];
  for (let t = 0, i = 0; t < 2; i++) {
    const near = Math.min(...road.stairs.map(([at]) => Math.abs(t - at / road.speed)));
    const h = Math.min(0.012, 2e-4 + 0.08 * near) * (1 + 0.2 * Math.sin(i));
    const ok = i % 23 !== 22;
    if (ok) t += h;
    ts.push(Math.min(t, 2));
    hs.push(h);
    orders.push(near < 0.03 ? 1 + (i % 2) : 3 + (i % 3));
    accepted.push(ok ? 1 : 0);
  }
  return { t: array(ts, [ts.length], "f64"), h: array(hs), order: array(orders), accepted: array(accepted), count: ts.map((_, i) => i) };
}

/** A four-bar linkage in the plane y = 0 whose loop is closed exactly; its bodies have no shapes. */
export function fourBar(n = 600) {
  const t = times(n, 4);
  const [crank, coupler, rocker, base] = [0.1, 0.3, 0.25, 0.32];
  const poses = [];
  const tip = [];
  for (const time of t) {
    const angle = 2 * Math.PI * 0.5 * time;
    const a = [crank * Math.cos(angle), crank * Math.sin(angle)];
    const d = [base - a[0], -a[1]];
    const length = Math.hypot(...d);
    const bend = Math.acos((coupler ** 2 + length ** 2 - rocker ** 2) / (2 * coupler * length));
    const direction = Math.atan2(d[1], d[0]) + bend;
    const b = [a[0] + coupler * Math.cos(direction), a[1] + coupler * Math.sin(direction)];
    const swing = Math.atan2(b[1], b[0] - base);
    poses.push([0, 0, 0, 1, 0, 0, 0], [0, 0, 0, ...aboutY(-angle)], [a[0], 0, a[1], ...aboutY(-direction)], [base, 0, 0, ...aboutY(-swing)]);
    tip.push(swing);
  }
  const joint = (name, a, b, position) => ({ name, type: "revolute", bodies: [a, b], position, axis: [0, 1, 0], cut: name === "d" });
  const body = (name, mass, points = []) => ({ name, mass, shapes: [], points });
  return {
    name: "four-bar",
    summary: summary("models/four-bar.json", { t_end: 4, certificate: { max_g: 2e-5, max_gv: 1e-6, max_ga: 1e-5, energy_error: null, unconverged_steps: 3, real_time_factor: 0.5 } }),
    facts: [["bodies", "4"]],
    t: array(t, [n], "f64"),
    channels: [channel("outputs", "rocker angle", "rad", tip)],
    steps: null,
    residuals: null,
    events: [],
    scene: {
      up: [0, 0, 1], gravity: [0, 0, -9.81],
      bodies: [body("ground", 0), body("crank", 1), body("coupler", 2, [{ name: "tip", position: [0.15, 0, 0.12] }]), body("rocker", 2)],
      joints: [joint("a", 0, 1, [0, 0, 0]), joint("b", 1, 2, [0, 0, 0]), joint("c", 2, 3, [rocker, 0, 0]), joint("d", 0, 3, [0, 0, 0])],
      springs: [], tyres: [], road: null, reactions: [],
      t: array(t, [n], "f64"),
      poses: array(poses.flat(), [n, 4, 7]),
    },
  };
}

/** Fourteen bodies for a minute at sixty frames a second, driving 600 m. */
export function longDrive(bodies = 14, seconds = 60, rate = 60) {
  const n = seconds * rate + 1;
  const t = times(n, seconds);
  const poses = new Float32Array(n * (bodies + 1) * 7);
  for (let i = 0; i < n; i++)
    for (let b = 0; b <= bodies; b++) {
      const at = (i * (bodies + 1) + b) * 7;
      const turn = 0.05 * Math.sin(t[i] * 3 + b);
      poses.set(b === 0 ? [0, 0, 0, 1, 0, 0, 0] : [10 * t[i] + 0.5 * (b % 4), 0.6 * Math.floor(b / 4) - 1, 0.5 + 0.1 * Math.sin(2 * t[i] + b), ...aboutX(turn)], at);
    }
  const shape = { kind: "box", position: [0, 0, 0], rotation: [1, 0, 0, 0], size: [0.4, 0.3, 0.2] };
  return {
    name: "long drive",
    summary: summary("models/drive.json", { t_end: seconds }),
    facts: [],
    t: array(t, [n], "f64"),
    channels: Array.from({ length: 40 }, (_, k) => channel(k < 20 ? "outputs" : "q", `output ${k}`, "m", t.map((x) => Math.sin(x * (1 + k / 10))))),
    steps: null, residuals: null, events: [],
    scene: {
      up: [0, 0, 1], gravity: [0, 0, -9.81],
      bodies: Array.from({ length: bodies + 1 }, (_, b) => ({ name: b ? `body ${b}` : "ground", mass: b, shapes: b ? [shape] : [], points: [] })),
      joints: [], springs: [{ name: "s", type: "spring-damper", from: { body: 1, position: [0, 0, 0] }, to: { body: 5, position: [0, 0, 0] } }], tyres: [],
      road: { name: "road", profile: [[-10, 0], [700, 0]], width: 6, y: 0 },
      reactions: [], t: array(t, [n], "f64"), poses: array(poses, [n, bodies + 1, 7]),
    },
  };
}

/** Equations without bodies, with NaN and infinity among the values. */
export function equations() {
  const t = times(300, 3);
  const broken = t.map((x, i) => (i > 100 && i < 140 ? NaN : i === 200 ? Infinity : Math.exp(-x) * Math.cos(9 * x)));
  return {
    name: "equations",
    summary: summary("equations:car-axle", { ...failed("step-too-small", "The step fell below 1e-12 at t = 3."), formulation: "equations", t_end: 3 }),
    facts: [], t: array(t, [300], "f64"),
    channels: [channel("outputs", "broken", "m", broken), channel("outputs", "nothing finite", "N", t.map(() => NaN)), channel("q", "q0", "", broken)],
    steps: null, residuals: null, events: [], scene: null,
  };
}

export function zeroSteps() {
  const none = array([], [0], "f64");
  const { scene } = fourBar(2);
  return {
    name: "no steps",
    summary: summary("models/none.json", { ...failed("not-assembled", "Joint \"b\" cannot be closed: 3 mm remain."), t_end: null, certificate: {}, steps: { accepted: 0, rejected: 0 } }),
    facts: [], t: none, channels: [channel("outputs", "x", "m", [])],
    steps: { t: none, h: array([]), order: null, accepted: null }, residuals: { t: none, g: array([]), gv: array([]), ga: null }, events: [],
    scene: { ...scene, t: none, poses: array([], [0, 4, 7]) },
  };
}

const ladder = (n, f) => Array.from({ length: n }, (_, i) => f(i));

export function study() {
  const next = random(7);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const wp = (name, slope, shift, paper = false) => ({ name, x: ladder(7, (i) => 10 ** -(2 + i)), y: ladder(7, (i) => shift * 10 ** ((i + 2) * slope)), slope: null, line: true, points: true, paper });
  const conv = (name, order, c) => ({ name, x: ladder(6, (i) => 0.1 / 2 ** i), y: ladder(6, (i) => c * (0.1 / 2 ** i) ** order * (1 + 0.1 * Math.sin(i))), slope: order + 0.013, line: true, points: true, paper: false });
  const draws = ladder(2000, () => [1e4 * (1 + 0.1 * normal()), normal()]);
  const rk4 = ladder(361, (i) => i).map((i) => stabilityPoint((i * Math.PI) / 180));
  return {
    format: 1, kind: "study", name: "projection", title: "Projection modes on the five-link suspension",
    text: "The suspension runs over a stair with each way of projecting; steps, rejected steps and the largest constraint error are compared with the printed table.",
    source: "studies/projection.json",
    columns: [
      { key: "steps", label: "steps", unit: "", timing: false }, { key: "rejected", label: "rejected", unit: "", timing: false },
      { key: "error", label: "error of the wheel", unit: "m", timing: false }, { key: "drift", label: "max |g|", unit: "m", timing: false },
      { key: "verdict", label: "end", unit: "", timing: false }, { key: "cpu", label: "CPU", unit: "s", timing: true },
    ],
    rows: [
      row(0, "projection=none", [123, 4, 1.2345678901234e-5, 3.3333333333e-4, "done", 0.0123456789]),
      row(1, "projection=position", [131, 3, 7.0710678118654755e-7, 1.1e-14, "done", 0.0151]),
      row(2, "projection=both", [129, 0, 6.25e-7, 2.220446049250313e-16, "done", 0.0172]),
      { case: 3, name: "projection=velocity, rtol=1e-14", status: "failed", reason: "step-too-small: at t = 0.213 s the step fell below 1e-13; loosen rtol.", settings: { "run.rtol": 1e-14 }, values: [null, null, null, null, null, null] },
      row(4, "projection=control", [1234567, 12, 0.1, 123456.789, "done", null]),
    ],
    paper: { source: "003 Table 1", columns: ["mode", "steps", "rejected", "CPU s"], rows: [["no projection", 119, 5, 1.9], ["position", 127, 2, 2.3], ["both", 126, 1, 2.6]], note: "Figures as printed, measured on a workstation of 1993." },
    plots: [
      { kind: "work-precision", title: "Work and precision", x: { label: "error", unit: "m", log: true }, y: { label: "CPU time", unit: "s", log: true }, series: [wp("mdop5", 0.2, 1e-3), wp("hem5", 0.22, 1.4e-3), wp("bdf", 0.3, 6e-4), wp("mdop5 as printed", 0.2, 4e-2, true)] },
      { kind: "convergence", title: "Order of the methods", x: { label: "step", unit: "s", log: true }, y: { label: "error", unit: "m", log: true }, series: [conv("rk2", 2, 0.3), conv("rk4", 4, 0.8), { ...conv("mdop5", 5, 2), y: [2e-5, 6e-7, null, 6e-10, 1.9e-11, 0] }] },
      { kind: "lines", title: "Drift of |g| over time", x: { label: "t", unit: "s", log: false }, y: { label: "|g|", unit: "m", log: true }, series: [{ name: "none", x: ladder(200, (i) => i / 100), y: ladder(200, (i) => 1e-9 * (1 + i * i)), slope: null, line: true, points: false, paper: false }, { name: "both", x: ladder(200, (i) => i / 100), y: ladder(200, (i) => 1e-14 * (2 + Math.sin(i))), slope: null, line: true, points: false, paper: false }] },
      { kind: "scatter", title: "Random draws of the stiffness", x: { label: "stiffness", unit: "N/m", log: false }, y: { label: "largest travel", unit: "m", log: false }, series: [{ name: "draws", x: draws.map((d) => d[0]), y: draws.map((d) => 400 / d[0] + 0.001 * d[1]), slope: null, line: false, points: true, paper: false }] },
      { kind: "histogram", title: "Distribution of the travel", x: { label: "largest travel", unit: "m", log: false }, y: { label: "draws", unit: "", log: false }, series: [{ name: "draws", x: draws.map((d) => 400 / d[0] + 0.001 * d[1]), y: [], slope: null, line: false, points: false, paper: false }] },
      { kind: "stability", title: "Regions of stability", x: { label: "Re hλ", unit: "", log: false }, y: { label: "Im hλ", unit: "", log: false }, series: [{ name: "explicit Euler", x: ladder(181, (i) => -1 + Math.cos((i * Math.PI) / 90)), y: ladder(181, (i) => Math.sin((i * Math.PI) / 90)), slope: null, line: true, points: false, paper: false }, { name: "order 4", x: rk4.map((p) => p[0]), y: rk4.map((p) => p[1]), slope: null, line: true, points: false, paper: false }] },
      { kind: "lines", title: "Nothing to draw", x: { label: "x", unit: "", log: true }, y: { label: "y", unit: "", log: true }, series: [{ name: "empty", x: [0, 1], y: [null, -1], slope: null, line: true, points: true, paper: false }] },
    ],
    cases: { total: 5, ok: 4, failed: 1 },
  };
}

const row = (index, name, values) => ({ case: index, name, status: "ok", reason: "", settings: { "run.integrator.projection": name.split("=")[1] }, values });

/** The point of the boundary of 1 + z + z²/2 + z³/6 + z⁴/24 in the direction of the angle, seen from -1. */
function stabilityPoint(angle) {
  const grows = (r) => {
    const [x, y] = [-1 + r * Math.cos(angle), r * Math.sin(angle)];
    let [re, im, pr, pi] = [1, 0, 1, 0];
    for (let k = 1; k <= 4; k++) {
      [pr, pi] = [(pr * x - pi * y) / k, (pr * y + pi * x) / k];
      re += pr;
      im += pi;
    }
    return re * re + im * im > 1;
  };
  let r = 0;
  while (!grows(r) && r < 5) r += 0.005;
  return [-1 + r * Math.cos(angle), r * Math.sin(angle)];
}

export const page = (results, studies = [], title = "Suspension on a stair") => ({ format: 1, title, version: "Bogie 0.1", results, studies });
