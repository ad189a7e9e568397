// What the 3-D view is made of: sizes of signs, planes, arrows, cameras, levels of detail, files of video.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bundle } from "./bundle.mjs";
import { array, fourBar, page, random, suspension } from "./data.mjs";

const { readPage } = await bundle("read");
const { Poses } = await bundle("scene/poses");
const { Mechanism } = await bundle("scene/mechanism");
const { findPlane, faceReader } = await bundle("scene/plane");
const { ForceArrows, forceText, forceSizes } = await bundle("scene/forces");
const { headingOf, Rider } = await bundle("scene/riding");
const { isSoftware, Quality } = await bundle("scene/quality");
const { frameTimes, frameRate } = await bundle("video");
const { makeWebm } = await bundle("webm");
const { Box3, Group, PerspectiveCamera, Quaternion, Vector3 } = await import("three");

const sceneOf = (result) => readPage(JSON.stringify(page([result]))).items[0].scene;
const mechanismOf = (scene, reduced = false) => new Mechanism(scene, new Poses(scene.t.get(), scene.poses.get(), scene.bodies.length), reduced);
const sizeOf = (object) => Math.max(...["x", "y", "z"].map((k) => new Box3().setFromObject(object).max[k] - new Box3().setFromObject(object).min[k]));

/** n links of 1 m beside each other, each on a pin. */
function row(n) {
  const poses = Array.from({ length: n }, (_, i) => [i, 0, 0.5, 1, 0, 0, 0]);
  const frames = [0, 1];
  return {
    ...fourBar(5),
    scene: {
      ...fourBar(5).scene,
      bodies: [{ name: "ground", mass: 0, shapes: [], points: [] }, ...poses.map((_, i) => ({ name: `link ${i}`, mass: 1, shapes: [{ kind: "line", from: [0, 0, -0.5], to: [0, 0, 0.5] }], points: [] }))],
      joints: poses.map((_, i) => ({ name: `pin ${i}`, type: "revolute", bodies: [0, i + 1], position: [0, 0, -0.5], axis: [0, 1, 0], cut: false })),
      t: array(frames, [2], "f64"),
      poses: array(frames.flatMap(() => [[0, 0, 0, 1, 0, 0, 0], ...poses]).flat(), [2, n + 1, 7]),
    },
  };
}

test("signs of joints suit what they join, however many there are", () => {
  for (const n of [1, 5, 40]) {
    const mechanism = mechanismOf(sceneOf(row(n)));
    for (const glyph of mechanism.glyphs) assert.ok(sizeOf(glyph) > 0.02 && sizeOf(glyph) < 0.3, `${n} links: ${sizeOf(glyph)} m`);
    const [link] = mechanism.bodies[1].children;
    assert.ok(sizeOf(link) > 1 && sizeOf(link) < 1.2);
  }
});

test("a wheel without shapes is its tyre: the ball or the lines that stand for a body do not cover it", () => {
  const wheel = (shapes) => {
    const data = suspension(5);
    data.scene.bodies[5].shapes = shapes;
    const mechanism = mechanismOf(sceneOf(data));
    return mechanism.bodies[5].children.filter((o) => o.isMesh).length;
  };
  assert.equal(wheel([{ kind: "sphere", position: [0, 0, 0], radius: 0.17 }]), 0);
  assert.equal(wheel([{ kind: "line", from: [0, 0, 0], to: [0, -0.06, 0] }]), 0);
  assert.equal(wheel([]), 0);
  assert.equal(wheel([{ kind: "line", from: [0, 0, 0], to: [0, -0.7, 0] }]), 1, "an axle is seen");
});

test("bodies look as their model says: colour, opacity, hidden", () => {
  const data = fourBar(5);
  const [, first, second] = data.scene.bodies;
  Object.assign(first, { colour: "#d04020", opacity: 0.4 });
  Object.assign(second, { hidden: true });
  const mechanism = mechanismOf(sceneOf(data));
  const plain = mechanismOf(sceneOf(fourBar(5)));
  const meshes = (m, i) => m.bodies[i].children.filter((o) => o.isMesh);
  const [material] = meshes(mechanism, 1).map((o) => o.material);
  assert.equal(`#${material.color.getHexString()}`, "#d04020");
  assert.ok(material.transparent && material.opacity === 0.4);
  assert.equal(mechanism.colour(1), "#d04020");
  assert.ok(meshes(plain, 2).length > 0 && meshes(mechanism, 2).length === 0);
  assert.equal(mechanism.glyphs.length, plain.glyphs.length, "joints on a hidden body are drawn");
  for (const colour of ["red", "#12", "url(x)", 7]) {
    Object.assign(first, { colour, opacity: 7 });
    const body = sceneOf(data).bodies[1];
    assert.ok(body.colour === "" && body.opacity === 1, "what is no colour is not one");
  }
});

test("a wheel on a rail has its flange on the side that the data say", () => {
  for (const flange of [1, -1]) {
    const data = suspension(5);
    Object.assign(data.scene.tyres[0], { flange, width: 0.1, radius: 0.4 });
    const mechanism = mechanismOf(sceneOf(data));
    const far = { 1: 0, [-1]: 0 };
    mechanism.tyres[0].traverse((o) => {
      const p = o.geometry?.attributes.position;
      for (let i = 0; p && i < p.count; i++) far[Math.sign(p.getZ(i))] = Math.max(far[Math.sign(p.getZ(i))] ?? 0, Math.hypot(p.getX(i), p.getY(i)));
    });
    assert.ok(far[flange] > 1.05 * 0.4 && far[-flange] <= 0.4001, `${far[1]} and ${far[-1]} m`);
  }
});

test("less detail is a third of the triangles, and both are one object for a material", () => {
  const scene = sceneOf(suspension(5));
  const count = (mechanism) => {
    let [triangles, meshes] = [0, 0];
    mechanism.root.traverseVisible((o) => {
      if (!o.isMesh) return;
      meshes++;
      triangles += (o.geometry.index?.count ?? o.geometry.attributes.position.count) / 3;
    });
    return { triangles, meshes };
  };
  const [full, reduced] = [count(mechanismOf(scene)), count(mechanismOf(scene, true))];
  assert.ok(reduced.triangles < 0.35 * full.triangles, `${reduced.triangles} of ${full.triangles}`);
  assert.ok(full.meshes <= 6 + 5 + 3 + 5 + 2, `${full.meshes} objects`);
});

test("a plane mechanism is found, wherever its plane is, and a spatial one is none", () => {
  const flat = sceneOf(fourBar(50));
  const planeOf = (scene) => findPlane(scene, new Poses(scene.t.get(), scene.poses.get(), scene.bodies.length), 0.5);
  assert.deepEqual(planeOf(flat).toArray(), [0, 1, 0]);
  const turn = new Quaternion().setFromAxisAngle(new Vector3(1, 2, 0.5).normalize(), 0.7);
  const poses = flat.poses.get();
  for (let i = 0; i < poses.length; i += 7) {
    if ((i / 7) % 4 === 0) continue;
    const p = new Vector3(poses[i], poses[i + 1], poses[i + 2]).applyQuaternion(turn);
    const q = turn.clone().multiply(new Quaternion(poses[i + 4], poses[i + 5], poses[i + 6], poses[i + 3]));
    poses.set([p.x, p.y, p.z, q.w, q.x, q.y, q.z], i);
  }
  const expected = new Vector3(0, 1, 0).applyQuaternion(turn);
  assert.ok(Math.abs(planeOf(flat).dot(expected)) > 0.99999);
  const spatial = sceneOf(suspension(50));
  assert.equal(planeOf({ ...spatial, tyres: [] }), null);
  assert.equal(planeOf({ ...flat, poses: { get: () => Float32Array.from(poses, (_, i) => [0, 0, 0, 1, 0, 0, 0][i % 7]) } }), null, "nothing moves");
});

test("a plane is looked at with x to the right", () => {
  const up = new Vector3(0, 0, 1);
  for (const normal of [[0, 1, 0], [0, -1, 0]]) assert.equal(faceReader(new Vector3(...normal), up).y, -1);
  assert.deepEqual(faceReader(new Vector3(0, 0, -1), new Vector3(0, 1, 0)).z, 1);
  assert.equal(faceReader(new Vector3(0, 0, -1), up).z, 1);
});

test("arrows have the direction of their forces, one scale, and never leave the picture", () => {
  const next = random(7);
  const n = 60;
  const camera = new PerspectiveCamera(32, 1.3, 0.1, 100);
  camera.position.set(0, -6, 1);
  camera.up.set(0, 0, 1);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  const values = Float32Array.from({ length: 3 * n }, () => 4000 * (next() - 0.5) * (next() < 0.02 ? 50 : 1));
  const force = { kind: "reaction", name: "f", body: 0, position: [0.1, 0, 0.2], force: { get: () => values } };
  const ground = new Group();
  const arrows = new ForceArrows({ forces: [force, { ...force, kind: "spring", name: "g", position: [-0.5, 0.3, -0.4] }], tyres: [] }, [ground], new Vector3(0, 0, 1));
  arrows.kinds.forEach((kind) => (kind.group.visible = true));
  const poses = new Poses(Float64Array.from({ length: n }, (_, i) => i), new Float32Array(7 * n), 1);
  let [shown, lengths] = [0, []];
  for (let i = 0; i < n; i++) {
    poses.seekFrame(i);
    arrows.update(poses, camera, 3.4);
    const f = new Vector3(...values.subarray(3 * i, 3 * i + 3));
    for (const arrow of arrows.arrows) {
      if (!arrow.group.visible) continue;
      shown++;
      const origin = arrow.group.position;
      const way = arrow.tip.clone().sub(origin);
      assert.ok(way.clone().normalize().dot(f.clone().normalize()) > 0.9999);
      const seen = arrow.tip.clone().project(camera);
      assert.ok(Math.abs(seen.x) < 0.97 && Math.abs(seen.y) < 0.97, `${seen.toArray()}`);
      if (Math.abs(seen.x) < 0.9 && Math.abs(seen.y) < 0.9) lengths.push(way.length() / f.length());
    }
    assert.ok(arrows.labels.every((label) => /^[\d.]+ k?N$/.test(label.text)));
  }
  assert.ok(shown > n);
  const usual = lengths.sort((a, b) => a - b)[Math.floor(lengths.length / 2)];
  const alike = lengths.filter((x) => Math.abs(x / usual - 1) < 1e-3).length;
  assert.ok(alike > 0.9 * lengths.length, `${alike} of ${lengths.length} of one scale: ${lengths.map((x) => (x / usual).toFixed(3))}`);
});

test("forces are told as people read them, and the usual size is not that of an impact", () => {
  assert.deepEqual([12.34, 999, 3749, -45678, 2.5e6].map(forceText), ["12.3 N", "999 N", "3.75 kN", "−45.7 kN", "2.5 MN"]);
  const quiet = Float32Array.from({ length: 300 }, (_, i) => (i === 30 ? 1e6 : i % 3 === 2 ? 100 : 0));
  const { largest, usual } = forceSizes([{ force: { get: () => quiet } }]);
  assert.ok(largest > 9e5 && usual < 2e6);
});

test("a camera that moves along keeps its place, one that turns along its angle, one that rides both", () => {
  const body = new Group();
  const camera = new PerspectiveCamera(32, 1, 0.1, 100);
  const canvas = { addEventListener: () => {}, clientHeight: 100 };
  const controls = { target: new Vector3(), enabled: true, update: () => {}, domElement: canvas, dispatchEvent: () => {} };
  const up = new Vector3(0, 0, 1);
  const rider = new Rider(camera, controls, up, [new Group(), body]);
  const drive = (s) => {
    body.position.set(10 * Math.sin(s), 10 - 10 * Math.cos(s), 0.1 * s);
    body.quaternion.setFromAxisAngle(up, s).multiply(new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), 0.1 * Math.sin(3 * s)));
  };
  const local = () => camera.position.clone().sub(body.position).applyAxisAngle(up, -headingOf(body.quaternion, up));
  for (const ride of ["along", "turning"]) {
    drive(0);
    camera.position.set(-5, -3, 2);
    rider.start(1, ride);
    const [offset, seen] = [camera.position.clone().sub(body.position), local()];
    for (let s = 0; s < 7; s += 0.05) {
      drive(s);
      rider.step();
    }
    if (ride === "along") assert.ok(camera.position.clone().sub(body.position).distanceTo(offset) < 1e-9);
    else assert.ok(local().distanceTo(seen) < 1e-6, `${local().toArray()}`);
  }
  rider.start(1, "driver");
  rider.sit(new Box3(new Vector3(-2, -1, 0), new Vector3(2, 1, 1.5)), new Vector3(1, 0, 0));
  for (const s of [0, 1, 2.5]) {
    drive(s);
    rider.step();
    const eye = camera.position.clone().sub(body.position).applyQuaternion(body.quaternion.clone().invert());
    assert.ok(new Box3(new Vector3(-2, -1, 0), new Vector3(2, 1, 1.5)).containsPoint(eye) && eye.y > 0.1, "left, inside");
    const ahead = new Vector3(1, 0, 0).applyQuaternion(body.quaternion);
    assert.ok(camera.getWorldDirection(new Vector3()).dot(ahead) > 0.98);
  }
  assert.equal(controls.enabled, false);
});

test("detail: software draws coarsely while things move and finely when they rest; slow frames make it coarser", () => {
  for (const name of ["ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)))", "llvmpipe (LLVM 15.0.6, 256 bits)", "Microsoft Basic Render Driver"]) assert.ok(isSoftware(name), name);
  assert.ok(!isSoftware("ANGLE (Intel, Mesa Intel(R) UHD Graphics 620 (KBL GT2), OpenGL 4.6)"));
  const play = (quality, interval, from, frames) => Array.from({ length: frames }, (_, i) => quality.next(from + i * interval));
  const software = new Quality(true, 1);
  assert.equal(software.next(0), software.fine, "a single change is drawn finely");
  const moving = play(software, 30, 1000, 40);
  assert.ok(moving[39] < 0.6 * software.fine);
  assert.ok(!software.shouldRefine(1000 + 39 * 30 + 100) && software.shouldRefine(1000 + 39 * 30 + 400) && !software.shouldRefine(5000));
  const card = new Quality(false, 1);
  assert.ok(play(card, 16, 0, 100).every((x) => x === 1), "fast enough: all pixels");
  assert.ok(play(card, 90, 2000, 60).at(-1) < 0.6, "too slow: fewer");
});

/** EBML elements of a byte range: identifier, start and end of the content. */
function elements(bytes, from, to) {
  const list = [];
  for (let at = from; at < to; ) {
    const wide = Math.clz32(bytes[at]) - 23;
    const id = bytes.subarray(at, at + wide).reduce((x, b) => x * 256 + b, 0);
    at += wide;
    const size = Math.clz32(bytes[at]) - 23;
    const length = bytes.subarray(at, at + size).reduce((x, b, i) => x * 256 + (i === 0 ? b & (0xff >> size) : b), 0);
    at += size;
    list.push({ id, from: at, to: at + length });
    at += length;
  }
  return list;
}

test("a video file holds every frame at its time, and its table points to the clusters", () => {
  const times = frameTimes(1, 4, 2);
  assert.equal(times.length, 1 + 1.5 * frameRate);
  assert.deepEqual([times[0], times.at(-1)], [1, 4]);
  const chunks = Array.from({ length: 100 }, (_, i) => ({ data: Uint8Array.of(i, i + 1), time: (i * 1000) / 30, key: i % 40 === 0 }));
  const parts = makeWebm({ codec: "V_VP9", width: 640, height: 480, duration: 3333 }, chunks);
  const bytes = Uint8Array.from(parts.flatMap((p) => [...p]));
  const [header, segment, ...rest] = elements(bytes, 0, bytes.length);
  assert.deepEqual([header.id, segment.id, rest.length], [0x1a45dfa3, 0x18538067, 0]);
  const inside = elements(bytes, segment.from, segment.to);
  const clusters = inside.filter((e) => e.id === 0x1f43b675);
  assert.equal(clusters.length, 3);
  const number = (e) => bytes.subarray(e.from, e.to).reduce((x, b) => x * 256 + b, 0);
  const found = clusters.flatMap((cluster) => {
    const [time, ...blocks] = elements(bytes, cluster.from, cluster.to);
    return blocks.map((b) => [number(time) + ((bytes[b.from + 1] << 8) | bytes[b.from + 2]), bytes[b.from + 3] === 0x80, bytes[b.from + 4]]);
  });
  assert.deepEqual(found, chunks.map((c) => [Math.round(c.time), c.key, c.data[0]]));
  const cues = elements(bytes, ...(({ from, to }) => [from, to])(inside.find((e) => e.id === 0x1c53bb6b)));
  const places = cues.map((cue) => {
    const positions = elements(bytes, cue.from, cue.to)[1];
    return segment.from + number(elements(bytes, positions.from, positions.to)[1]);
  });
  assert.deepEqual(places, clusters.map((c) => c.from - 12)); // behind identifier and length
});
