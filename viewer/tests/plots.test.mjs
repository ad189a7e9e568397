// What plots are made of: units, spectra, values between rows, files, fingers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bundle } from "./bundle.mjs";
import { random } from "./data.mjs";

const { choices, factor, isAlike } = await bundle("plots/units");
const { spectrum, transform } = await bundle("plots/spectrum");
const { valueAt } = await bundle("plots/rows");
const { toCsv, toPairs } = await bundle("plots/save");
const { stretch } = await bundle("plots/gestures");
const { Clock } = await bundle("clock");

test("units: a number keeps its meaning through every unit of its family", () => {
  assert.ok(Math.abs(factor("rad", "°") * Math.PI - 180) < 1e-12);
  assert.ok(Math.abs(factor("m/s", "km/h") - 3.6) < 1e-12);
  assert.ok(Math.abs(factor("rad/s", "1/min") - 30 / Math.PI) < 1e-12);
  assert.equal(factor("deg", "°"), 1);
  assert.equal(factor("furlong", "m"), 1);
  assert.deepEqual(choices("furlong"), ["furlong"]);
  for (const unit of ["m", "m/s²", "N", "N m", "deg/s", "J"])
    for (const other of choices(unit)) assert.ok(Math.abs(factor(unit, other) * factor(other, unit) - 1) < 1e-12, `${unit} ${other}`);
});

test("units of model files are known, and g is a gram", () => {
  for (const unit of ["kmh", "kph", "g0", "rev", "kNm", "s", "ms", "min", "h", "t", "mrad", "rpm", "lbf"]) assert.ok(choices(unit).length > 1, unit);
  assert.equal(factor("g0", "m/s^2"), 9.80665);
  assert.equal(factor("g", "kg"), 1e-3);
  assert.ok(Math.abs(factor("kmh", "m/s") - 1 / 3.6) < 1e-12);
  assert.ok(isAlike("kmh", "m/s") && isAlike("furlong", "furlong") && !isAlike("g", "m/s²") && !isAlike("furlong", "m"));
});

test("the fast transform is the sum that defines it", () => {
  const next = random(3);
  const [re, im] = [Float64Array.from({ length: 32 }, next), Float64Array.from({ length: 32 }, next)];
  const sum = (k) => re.reduce(([a, b], x, j) => {
    const [c, s] = [Math.cos((2 * Math.PI * j * k) / 32), -Math.sin((2 * Math.PI * j * k) / 32)];
    return [a + x * c - im[j] * s, b + x * s + im[j] * c];
  }, [0, 0]);
  const expected = Array.from({ length: 32 }, (_, k) => sum(k));
  transform(re, im);
  expected.forEach(([a, b], k) => assert.ok(Math.hypot(re[k] - a, im[k] - b) < 1e-12));
});

test("a spectrum shows two sines at their frequencies with their amplitudes, also from uneven rows", () => {
  const next = random(11);
  for (const jitter of [0, 0.8]) {
    const t = Array.from({ length: 4001 }, (_, i) => (i === 0 || i === 4000 ? i : i + jitter * (next() - 0.5)) / 400);
    const values = t.map((x) => 7 + 2 * Math.sin(2 * Math.PI * 3 * x) + 0.5 * Math.cos(2 * Math.PI * 20 * x));
    const { f, amplitude } = spectrum(t, values, 0, 10);
    const peak = (low, high) => f.map((x, k) => [x, amplitude[k]]).filter(([x]) => x > low && x < high).reduce((a, b) => (b[1] > a[1] ? b : a));
    assert.ok(Math.abs(peak(1, 10)[0] - 3) < 0.11 && Math.abs(peak(1, 10)[1] - 2) < 0.02);
    assert.ok(Math.abs(peak(10, 40)[0] - 20) < 0.11 && Math.abs(peak(10, 40)[1] - 0.5) < 0.02);
    assert.ok(Math.max(...f) <= 200.2);
    assert.ok(amplitude.filter((_, k) => Math.abs(f[k] - 3) > 1 && Math.abs(f[k] - 20) > 1).every((a) => a < 0.02));
  }
  assert.equal(spectrum([0, 1, 2], [0, 1, 2], 0, 2), null, "too few rows");
  assert.equal(spectrum(Array.from({ length: 20 }, (_, i) => i), Array.from({ length: 20 }, (_, i) => (i === 7 ? null : i)), 0, 19), null, "a gap");
});

test("values between rows lie on the line, gaps and the outside have none", () => {
  const [t, x] = [[0, 1, 1, 3], [0, 2, 5, null]];
  assert.deepEqual([-1, 0, 0.5, 1, 2, 3, 4].map((at) => valueAt(t, x, at)), [null, 0, 1, 5, 5, null, null]);
  assert.deepEqual([-1, 0.5, 9].map((at) => valueAt(t, [1, 2, 3, 4], at, false)), [1, 1, 4]);
});

test("CSV: all digits, quoted names, rows of other results in their own lines", () => {
  const t = [0, 0.1, 0.30000000000000004];
  const curve = (name, x, values) => ({ name, unit: "m", colour: "", x, values });
  assert.equal(toCsv("t [s]", [curve('a, "b"', t, [1, null, 3])]), 't [s],"a, ""b"" [m]"\n0,1\n0.1,\n0.30000000000000004,3\n');
  assert.equal(toCsv("t [s]", [curve("a", t, [1, 2, 3]), curve("b", [0.05], [9])]), "t [s],a [m],b [m]\n0,1,\n0.05,,9\n0.1,2,\n0.30000000000000004,3,\n");
  assert.equal(toPairs("x", [curve("a", [2, 1], [3, 4])]), '"x of a","a [m]"\n2,3\n1,4\n');
});

test("two fingers keep what is under them", () => {
  const next = random(5);
  for (let k = 0; k < 200; k++) {
    const [a, b] = [20 + 100 * next(), 180 + 100 * next()];
    const [u, v] = [next(), 2 + next()];
    const [min, max] = stretch([u, v], [a, b], 300);
    for (const [value, place] of [[u, a], [v, b]]) assert.ok(Math.abs(min + (place / 300) * (max - min) - value) < 1e-12);
  }
  assert.equal(stretch([0, 1], [100, 103], 300), null);
  assert.equal(stretch([0, 1], [200, 100], 300), null);
});

test("frame by frame: every frame once in both directions, from between two to the neighbours", () => {
  const frames = Array.from({ length: 11 }, (_, i) => i / 10);
  const clock = new Clock(0, 1);
  const seen = [];
  for (let i = 0; i < 12; i++) {
    clock.step(frames, 1);
    seen.push(clock.t);
  }
  assert.deepEqual(seen, [...frames.slice(1), 1, 1]);
  for (let i = 9; i >= 0; i--) {
    clock.step(frames, -1);
    assert.equal(clock.t, frames[i]);
  }
  clock.set(0.34);
  clock.step(frames, -1);
  assert.equal(clock.t, 0.3);
  clock.set(0.34);
  clock.step(frames, 1);
  assert.equal(clock.t, 0.4);
});
