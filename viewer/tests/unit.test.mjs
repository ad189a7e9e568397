// Reading, decoding, numbers and bins, without a browser.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { placeholder, templatePath } from "./assemble.mjs";
import { bundle } from "./bundle.mjs";
import { array, equations, longDrive, page, study, suspension, zeroSteps } from "./data.mjs";

const { readPage } = await bundle("read");
const { LazyArray, locate } = await bundle("array");
const { short, full, power, niceStep, timeText } = await bundle("numbers");
const { binSamples } = await bundle("chart");
const { Scale } = await bundle("scales");
const { Clock } = await bundle("clock");
const { paragraphs } = await bundle("certificate");
const { Poses } = await bundle("scene/poses");
const { Mechanism } = await bundle("scene/mechanism");

const read = (value) => readPage(JSON.stringify(value));

test("the template is one file below 2 MB with one place for the data and no address of a network", () => {
  const text = readFileSync(templatePath, "utf8");
  assert.ok(statSync(templatePath).size < 2e6);
  assert.equal(text.split(placeholder).length, 2);
  assert.equal(text.split("\n").filter((line) => line === placeholder).length, 1);
  assert.doesNotMatch(text, /<(script|link|img)[^>]*\s(src|href)=["']?(https?:)?\/\//);
  assert.match(text, /default-src 'none'/);
});

test("comments flow, but for what stands apart", () => {
  assert.equal(paragraphs([]), "");
  assert.equal(paragraphs(["A model", "of a car.", "Run it:", "    bogie run car.json", "and look", "at it."]), "A model of a car.\nRun it:\n    bogie run car.json\nand look at it.");
});

test("arrays come back as they were written", () => {
  const values = [0, -1.5, Math.PI, 1e-300, NaN, -Infinity, 2 ** 60 + 4096];
  const { type, shape, base64 } = array(values, [7], "f64");
  assert.deepEqual([...new LazyArray(type, shape, base64, "x").get()], values);
  const single = array(values, [7], "f32");
  assert.deepEqual([...new LazyArray("f32", single.shape, single.base64, "x").get()], [...Float32Array.from(values)]);
  assert.equal(new LazyArray("f32", [0, 3], "", "x").get().length, 0);
});

test("a truncated array is refused with its place and its sizes", () => {
  const data = suspension(50);
  data.t.base64 = data.t.base64.slice(0, 100);
  const [item] = read(page([data])).items;
  assert.equal(item.kind, "unreadable");
  assert.match(item.problem, /results\[0\]\.t holds 75 bytes where its shape \[50\] needs 400/);
});

test("locate finds the interval", () => {
  const t = [0, 1, 1, 2, 5];
  assert.deepEqual([-1, 0, 0.5, 1, 1.5, 2, 9].map((x) => locate(t, x)), [0, 0, 0, 2, 2, 3, 4]);
});

test("pages without use say why", () => {
  assert.throws(() => readPage("null"), /empty template/);
  assert.throws(() => readPage('{"format":1,'), /not valid JSON/);
  assert.throws(() => read({ ...page([suspension(10)]), format: 2 }), /format 2.*up to 1/);
  assert.throws(() => read({ title: "x" }), /names no format/);
  assert.throws(() => read(page([])), /neither results nor studies/);
});

test("one bad entry leaves the others readable", () => {
  const broken = suspension(20);
  delete broken.channels;
  const { items } = read(page([broken, suspension(20), null], [{ ...study(), format: 9 }, { ...study(), rows: undefined }, study()]));
  assert.deepEqual(items.map((i) => i.kind), ["unreadable", "result", "unreadable", "unreadable", "unreadable", "study"]);
  assert.match(items[0].problem, /results\[0\]\.channels is missing/);
  assert.match(items[3].problem, /format 9/);
  assert.match(items[4].problem, /studies\[1\]\.rows is missing/);
});

test("what can be done without becomes a note", () => {
  const data = suspension(20);
  data.scene.poses.shape = [20, 6, 6];
  data.scene.poses.base64 = array(new Float32Array(720)).base64;
  data.channels[1].data = array([1, 2, 3]);
  delete data.summary;
  const [item] = read(page([data])).items;
  assert.equal(item.scene, null);
  assert.equal(item.channels.length, 10);
  assert.match(item.notes.join("\n"), /channels\[1\]\.data has 3 values beside 20 times/);
  assert.match(item.notes.join("\n"), /poses has 720 values; 20 frames of 6 bodies need 840/);
  assert.match(item.notes.join("\n"), /no summary/);
});

test("references to bodies that do not exist are dropped", () => {
  const data = suspension(10);
  data.scene.joints[0].bodies = [1, 99];
  data.scene.springs[0].to.body = -1;
  data.scene.tyres[0].body = 2.5;
  const [{ scene }] = read(page([data])).items;
  assert.deepEqual([scene.joints.length, scene.springs.length, scene.tyres.length], [4, 0, 0]);
});

test("empty arrays and runs without scene are read", () => {
  const [none, plain] = read(page([zeroSteps(), equations()])).items;
  assert.equal(none.steps, null);
  assert.equal(none.scene.t.length, 0);
  assert.equal(plain.scene, null);
  assert.ok(Number.isNaN(plain.channels[0].data.get()[120]));
});

test("poses are interpolated on the shorter way, and missing ones are told", () => {
  const half = Math.SQRT1_2;
  const poses = new Poses([0, 1, 2], Float32Array.from([0, 0, 0, 1, 0, 0, 0, 2, 4, 6, -half, 0, 0, -half, NaN, 0, 0, 1, 0, 0, 0]), 1);
  const position = { set(x, y, z) { Object.assign(this, { x, y, z }); } };
  const rotation = { copy(q) { this.q = q.clone(); }, lengthSq() { return this.q.lengthSq(); }, normalize() { this.q.normalize(); } };
  poses.seek(0.5);
  assert.ok(poses.read(0, position, rotation));
  assert.deepEqual([position.x, position.y, position.z], [1, 2, 3]);
  assert.ok(Math.abs(Math.abs(rotation.q.z) - Math.sin(Math.PI / 8)) < 1e-6);
  poses.seek(2);
  assert.equal(poses.read(0, position, rotation), false);
});

test("numbers are short to read and complete in the title", () => {
  assert.deepEqual([0, 123, 1234567, 1.2345678901234e-5, 0.1, 123456.789, -2.5, 1e20, 3.3333333333e-4].map((x) => short(x)), ["0", "123", "1234567", "1.235e-5", "0.1", "123457", "−2.5", "1e20", "3.333e-4"]);
  assert.equal(Number(full(7.0710678118654755e-7)), 7.0710678118654755e-7);
  assert.deepEqual([1e-6, 2e-6, 0.05, 1000, 1e5].map(power), ["10⁻⁶", "2·10⁻⁶", "0.05", "1000", "10⁵"]);
  assert.equal(niceStep(10, 5), 2);
  assert.equal(timeText(0.36, 2), "0.360");
});

test("bins count every sample once", () => {
  const samples = Array.from({ length: 1000 }, (_, i) => Math.sin(i) * 3);
  const bins = binSamples([...samples, NaN]);
  assert.equal(bins.y.reduce((a, b) => a + b, 0), 1000);
  bins.x.forEach((x, i) => assert.equal(samples.filter((s) => Math.floor(s / bins.width) === Math.round(x / bins.width - 0.5)).length, bins.y[i]));
  assert.deepEqual(binSamples([2, 2]).y, [2]);
  assert.deepEqual(binSamples([]).x, []);
});

test("scales place values and put round ticks inside", () => {
  const log = Scale.over([1e-8, 1e-2, 0, -1, NaN], true);
  assert.ok(log.place(1e-8) > 0 && log.place(1e-2) < 1);
  assert.ok(Math.abs(log.place(1e-5) - 0.5) < 1e-9);
  assert.deepEqual([log.accepts(0), log.accepts(1), log.accepts(null)], [false, true, false]);
  const ticks = log.ticks(4).filter((t) => t.text);
  assert.ok(ticks.length >= 3 && ticks.every((t) => t.value >= log.min && t.value <= log.max));
  assert.deepEqual(Scale.over([0, 10], false).ticks(5).map((t) => t.text), ["0", "2", "4", "6", "8", "10"]);
});

test("the clock loops, stops at the end, and plays short runs slowly", () => {
  const clock = new Clock(1, 3);
  assert.equal(clock.speed, 0.5);
  clock.setSpeed(1);
  clock.toggle();
  clock.advance(2.5);
  assert.ok(Math.abs(clock.t - 1.5) < 1e-12);
  clock.setLoop(false);
  clock.advance(10);
  assert.deepEqual([clock.t, clock.playing], [3, false]);
  clock.toggle();
  assert.deepEqual([clock.t, clock.playing], [1, true]);
  assert.equal(new Clock(0, 60).speed, 1);
  assert.equal(new Clock(0, 0).speed, 1);
});

test("moving fourteen bodies to another time takes a small part of a frame", (context) => {
  const [{ scene }] = read(page([longDrive()])).items;
  const mechanism = new Mechanism(scene, new Poses(scene.t.get(), scene.poses.get(), scene.bodies.length));
  for (const point of mechanism.points) mechanism.setTrail(point, true);
  const start = performance.now();
  for (let i = 0; i < 1000; i++) mechanism.update((60 * i) / 1000);
  const cost = (performance.now() - start) / 1000;
  context.diagnostic(`${cost.toFixed(3)} ms per frame`);
  assert.ok(cost < 4, `${cost} ms`);
  mechanism.update(30);
  assert.ok(Math.abs(mechanism.bodies[4].position.x - 300) < 1e-3);
});

test("a spring reaches from anchor to anchor at every time, and the road moves under the vehicle", () => {
  const [{ scene }] = read(page([suspension(200)])).items;
  const mechanism = new Mechanism(scene, new Poses(scene.t.get(), scene.poses.get(), scene.bodies.length));
  const [spring] = mechanism.springs.children;
  const lengths = [0, 0.4, 1.2].map((t) => {
    mechanism.update(t);
    const [arm, chassis] = [mechanism.bodies[2], mechanism.bodies[1]];
    const angle = 2 * Math.asin(arm.quaternion.x);
    const from = { y: arm.position.y + 0.26 * Math.cos(angle) - 0.01 * Math.sin(angle), z: arm.position.z + 0.26 * Math.sin(angle) + 0.01 * Math.cos(angle) };
    const length = Math.hypot(chassis.position.y + 0.26 - from.y, chassis.position.z + 0.14 - from.z);
    assert.ok(Math.hypot(spring.position.y - from.y, spring.position.z - from.z) < 1e-6);
    assert.ok(Math.abs(mechanism.road.position.x + 5 * t) < 1e-9);
    return length / spring.children[0].scale.z;
  });
  assert.ok(Math.abs(lengths[1] / lengths[0] - 1) < 1e-6 && Math.abs(lengths[2] / lengths[0] - 1) < 1e-6);
});

/** All paths of a JSON value, long lists by their first two entries. */
function* paths(value, path = []) {
  yield path;
  if (typeof value !== "object" || value === null) return;
  for (const key of Array.isArray(value) ? [0, 1].filter((i) => i < value.length) : Object.keys(value)) yield* paths(value[key], [...path, key]);
}

test("whatever is missing or of another kind, reading ends with a page or a sentence", () => {
  const some = study();
  const whole = JSON.stringify(page([suspension(5)], [{ ...some, plots: some.plots.slice(0, 2) }]));
  const strange = [undefined, null, 3, -1, "text", [], {}, [[null]], { base64: "????", shape: [1], type: "f32" }];
  let count = 0;
  for (const path of paths(JSON.parse(whole))) {
    for (const replacement of strange) {
      const holder = { page: JSON.parse(whole) };
      const keys = ["page", ...path];
      const last = keys.pop();
      const parent = keys.reduce((v, key) => v[key], holder);
      if (replacement === undefined) delete parent[last];
      else parent[last] = replacement;
      try {
        const { items } = readPage(JSON.stringify(holder.page ?? null));
        assert.ok(items.every((i) => i.kind !== "unreadable" || i.problem.endsWith(".")));
      } catch (error) {
        assert.equal(error.constructor.name, "Problem", `${path.join(".")}: ${error.stack}`);
      }
      count++;
    }
  }
  assert.ok(count > 2000);
});
