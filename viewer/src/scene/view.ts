// The 3-D view: renderer, camera, light, and what the reader can do with them. Draws only when something changed.

import {
  AmbientLight, Box3, DirectionalLight, Fog, HemisphereLight, PerspectiveCamera, Quaternion, Raycaster, Scene, Vector2, Vector3, WebGLRenderer, type Object3D,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Clock } from "../clock";
import { h, svg } from "../dom";
import type { SceneData } from "../format";
import { short } from "../numbers";
import { onTheme } from "../theme";
import { looks } from "./materials";
import { Mechanism } from "./mechanism";
import { Grid } from "./overlays";
import { Poses } from "./poses";
import { chooseDirection } from "./vantage";

export const webglAvailable = (): boolean => {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl2"));
  } catch {
    return false;
  }
};

export class SceneView {
  readonly element: HTMLElement;
  readonly mechanism: Mechanism;
  follow = 0; // body that the camera moves with; 0: none
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly light = new DirectionalLight("#ffffff", 1.9);
  private readonly fog = new Fog("#ffffff", 1, 10);
  private readonly grid: Grid;
  private readonly up: Vector3;
  private readonly corners: { first: Vector3[]; motion: Vector3[] };
  private readonly motion: Box3;
  private direction: Vector3 | null = null; // from which the fitted view looks
  private readonly followed = new Vector3();
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly gizmo = new Gizmo();
  private readonly release: () => void;
  private dirty = true;
  private onFollow: (body: number) => void = () => {};

  constructor(data: SceneData, private readonly clock: Clock) {
    this.renderer = new WebGLRenderer({ antialias: true, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.up = new Vector3(...data.up);
    if (this.up.lengthSq() === 0) this.up.set(0, 0, 1);
    this.up.normalize();
    this.mechanism = new Mechanism(data, new Poses(data.t.get(), data.poses.get(), data.bodies.length));
    this.corners = this.mechanism.corners();
    this.motion = new Box3().setFromPoints(this.corners.motion);
    this.grid = new Grid(this.up, this.floor(data), this.mechanism.size);
    this.scene.add(this.mechanism.root, this.grid.mesh, new AmbientLight("#ffffff", 0.55), new HemisphereLight("#ffffff", "#8a93a3", 1.5), this.light, this.light.target);
    this.scene.fog = this.fog;
    this.camera.up.copy(this.up);
    const canvas = this.renderer.domElement;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "3-D animation of the mechanism. Drag to turn, right-drag or two fingers to pan, wheel or pinch to zoom.");
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.invalidate());
    this.element = h("div", { class: "canvas-host" }, canvas, this.tip, this.gizmo.element, h("div", { class: "grid-note", title: "Distance between the fine lines of the ground grid" }, `grid ${short(this.grid.cell)} m`));
    new ResizeObserver(() => this.resize()).observe(this.element);
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("dblclick", (event) => this.onFollow(this.pick(event)?.body ?? 0));
    clock.onChange(() => this.invalidate());
    this.release = onTheme((dark) => this.recolour(dark));
    this.follow = this.travelsFar() ? this.heaviest(data) : 0;
    this.mechanism.update(clock.t);
  }

  whenFollowChosen(callback: (body: number) => void): void {
    this.onFollow = callback;
  }

  /** A vehicle that leaves its starting place far behind would be a dot: the camera follows it instead. */
  private travelsFar(): boolean {
    const first = new Box3().setFromPoints(this.corners.first);
    return this.motion.getSize(new Vector3()).length() > 5 * Math.max(this.mechanism.size, first.getSize(new Vector3()).length());
  }

  private heaviest(data: SceneData): number {
    let best = 1;
    data.bodies.forEach((body, i) => {
      if (i > 0 && (body.mass ?? 0) > (data.bodies[best]?.mass ?? 0)) best = i;
    });
    return best < data.bodies.length ? best : 0;
  }

  private floor(data: SceneData): number {
    const low = this.up.dot(new Vector3(
      this.up.x >= 0 ? this.motion.min.x : this.motion.max.x,
      this.up.y >= 0 ? this.motion.min.y : this.motion.max.y,
      this.up.z >= 0 ? this.motion.min.z : this.motion.max.z,
    ));
    const road = data.road ? data.road.profile.reduce((z, p) => Math.min(z, p[1]), Infinity) - 0.03 * this.mechanism.size : Infinity;
    const lowest = Math.min(Number.isFinite(low) ? low : 0, road);
    return lowest - 0.004 * this.mechanism.size;
  }

  private recolour(dark: boolean): void {
    const look = dark ? looks.dark : looks.light;
    this.scene.background = look.background;
    this.fog.color.copy(look.background);
    this.grid.setColour(look.grid);
    this.mechanism.materials.apply(look);
    this.invalidate();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0 || height === 0) return;
    const firstTime = this.renderer.domElement.style.width === "";
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (firstTime) this.fit();
    this.invalidate();
    this.draw();
  }

  /** Looks at the whole motion (or at the followed body's surroundings) from the side that shows most of it. */
  fit(): void {
    const points = this.follow ? this.corners.first : this.corners.motion;
    const box = points.length ? new Box3().setFromPoints(points) : new Box3().setFromCenterAndSize(new Vector3(), new Vector3(1, 1, 1));
    const shift = new Vector3();
    if (this.follow) {
      this.mechanism.poses.seekFrame(0);
      this.mechanism.poses.read(this.follow, shift, new Quaternion());
      shift.negate();
      this.mechanism.update(this.clock.t);
      this.followed.copy(this.bodyPosition(this.follow));
      shift.add(this.followed);
    }
    if (!this.direction) {
      this.mechanism.update(this.clock.t);
      const hidden = [this.grid.mesh, ...(this.mechanism.road ? [this.mechanism.road] : [])].filter((o) => o.visible);
      for (const object of hidden) object.visible = false;
      const { aspect } = this.camera;
      this.camera.aspect = 4 / 3; // the choice does not depend on the window
      this.camera.updateProjectionMatrix();
      this.direction = chooseDirection(this.renderer, this.scene, this.mechanism.root, this.camera, this.directions(box), (d) => this.lookFrom(d, points, box, shift));
      this.camera.aspect = aspect;
      this.camera.updateProjectionMatrix();
      for (const object of hidden) object.visible = true;
    }
    const distance = this.lookFrom(this.direction, points, box, shift);
    this.controls.minDistance = distance * 0.02;
    this.controls.maxDistance = distance * 30;
    this.controls.update();
    this.invalidate();
  }

  /** Directions worth a try. Flat mechanisms are looked at against their plane, others at three quarters. */
  private directions(box: Box3): Vector3[] {
    const size = box.getSize(new Vector3());
    const forward = Math.abs(this.up.x) > 0.9 ? new Vector3(0, 1, 0) : new Vector3(1, 0, 0);
    forward.addScaledVector(this.up, -forward.dot(this.up)).normalize();
    const side = new Vector3().crossVectors(this.up, forward);
    const extent = (axis: Vector3): number => Math.abs(size.x * axis.x) + Math.abs(size.y * axis.y) + Math.abs(size.z * axis.z);
    const long = extent(forward);
    const broad = extent(side);
    const make = (f: number, s: number): Vector3 => new Vector3().addScaledVector(forward, f).addScaledVector(side, s).addScaledVector(this.up, 0.42).normalize();
    if (broad < 0.3 * long) return [make(0.4, -1)];
    if (long < 0.3 * broad) return [make(1, -0.4)];
    return [make(0.8, -1), make(1, -0.55), make(0.8, 1), make(1, 0.55)];
  }

  /**
   * Puts the camera where all points are just inside the picture and in its middle; returns its distance from the target.
   * With x across the picture and d towards the camera, a point is inside when |x - s| <= (D - d) tan(half angle): the
   * smallest D follows from the extremes of x + d tan and -x + d tan, in both directions of the picture.
   */
  private lookFrom(direction: Vector3, points: Vector3[], box: Box3, shift: Vector3): number {
    const centre = box.getCenter(new Vector3());
    const right = new Vector3().crossVectors(this.up, direction).normalize();
    const above = new Vector3().crossVectors(direction, right);
    const tanY = Math.tan((this.camera.fov * Math.PI) / 360) / 1.16; // leaves a margin
    const tanX = tanY * this.camera.aspect;
    const seen = points.map((point) => {
      const p = point.clone().sub(centre);
      return { x: p.dot(right), y: p.dot(above), d: p.dot(direction) };
    });
    const reach = (f: (p: { x: number; y: number; d: number }) => number): number => seen.reduce((m, p) => Math.max(m, f(p)), 0);
    const distance = Math.max(
      (reach((p) => p.x + p.d * tanX) + reach((p) => -p.x + p.d * tanX)) / (2 * tanX),
      (reach((p) => p.y + p.d * tanY) + reach((p) => -p.y + p.d * tanY)) / (2 * tanY),
      0.4 * this.mechanism.size,
    );
    const middle = (values: number[]): number => middleAt(distance, values, seen.map((p) => p.d));
    this.controls.target.copy(centre).add(shift).addScaledVector(right, middle(seen.map((p) => p.x))).addScaledVector(above, middle(seen.map((p) => p.y)));
    this.camera.position.copy(this.controls.target).addScaledVector(direction, distance);
    this.camera.lookAt(this.controls.target);
    this.camera.updateMatrixWorld();
    return distance;
  }

  private bodyPosition(body: number): Vector3 {
    return (this.mechanism.bodies[body] as Object3D).position;
  }

  setFollow(body: number): void {
    this.follow = body;
    if (body) {
      this.mechanism.update(this.clock.t);
      this.followed.copy(this.bodyPosition(body));
    }
    this.invalidate();
  }

  invalidate(): void {
    this.dirty = true;
  }

  private moveWithBody(): void {
    if (!this.follow || !(this.mechanism.bodies[this.follow] as Object3D).visible) return;
    const position = this.bodyPosition(this.follow);
    const shift = position.clone().sub(this.followed);
    this.followed.copy(position);
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.controls.update();
  }

  /** Called once per animation frame. */
  draw(): void {
    if (!this.dirty || this.renderer.domElement.style.width === "" || !this.element.isConnected) return;
    this.mechanism.update(this.clock.t);
    this.moveWithBody();
    this.dirty = false;
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(distance * 0.01, 1e-5);
    this.camera.far = distance * 3 + this.mechanism.size * 60;
    this.camera.updateProjectionMatrix();
    this.fog.near = distance + 2.5 * this.mechanism.size;
    this.fog.far = distance + 8 * this.mechanism.size;
    this.grid.centre(this.controls.target);
    this.placeLight();
    this.gizmo.update(this.camera);
    this.renderer.render(this.scene, this.camera);
  }

  /** The light comes over the reader's left shoulder, so that no side shown is ever black. */
  private placeLight(): void {
    const right = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
    this.light.target.position.copy(this.controls.target);
    this.light.position.copy(this.camera.position).addScaledVector(right, -0.5 * this.mechanism.size).addScaledVector(this.up, 1.5 * this.mechanism.size);
  }

  private pick(event: MouseEvent): { label: string; body: number } | null {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new Raycaster();
    ray.params.Line = { threshold: 0 };
    ray.setFromCamera(at, this.camera);
    for (const { object } of ray.intersectObject(this.mechanism.root, true)) {
      const label = object.userData.label as string | undefined;
      if (label && isShown(object)) return { label, body: (object.userData.body as number | undefined) ?? 0 };
    }
    return null;
  }

  private hover(event: PointerEvent): void {
    const hit = event.buttons === 0 && event.pointerType === "mouse" ? this.pick(event) : null;
    this.tip.hidden = !hit;
    if (!hit) return;
    this.tip.textContent = hit.label;
    this.tip.style.transform = `translate(${event.offsetX + 14}px, ${event.offsetY + 14}px)`;
  }

  /** Gives the graphics memory back; browsers allow only a few views at a time. */
  dispose(): void {
    this.release();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  picture(): Promise<Blob | null> {
    this.dirty = true;
    this.draw();
    return new Promise((resolve) => this.renderer.domElement.toBlob(resolve));
  }
}

/** The offset s that makes the picture's margins equal: max (x - s)/(D - d) = max (s - x)/(D - d), by bisection. */
function middleAt(distance: number, values: number[], depths: number[]): number {
  let low = values.reduce((a, b) => Math.min(a, b), 0);
  let high = values.reduce((a, b) => Math.max(a, b), 0);
  for (let k = 0; k < 30; k++) {
    const s = (low + high) / 2;
    let [most, least] = [0, 0];
    values.forEach((x, i) => {
      const slope = (x - s) / Math.max(distance - (depths[i] as number), 1e-9);
      most = Math.max(most, slope);
      least = Math.min(least, slope);
    });
    if (most > -least) low = s;
    else high = s;
  }
  return (low + high) / 2;
}

function isShown(object: Object3D): boolean {
  for (let o: Object3D | null = object; o; o = o.parent) if (!o.visible) return false;
  return true;
}

/** The directions of x, y, z in a corner of the view. */
class Gizmo {
  readonly element = svg("svg", { class: "gizmo", viewBox: "-36 -36 72 72", "aria-hidden": "true" });
  private readonly axes = (["x", "y", "z"] as const).map((name) => {
    const line = svg("line", { x1: 0, y1: 0, class: `axis-${name}` });
    const label = svg("text", { class: `axis-${name}` }, name);
    this.element.append(line, label);
    return { line, label };
  });

  update(camera: PerspectiveCamera): void {
    const v = new Vector3();
    this.axes.forEach(({ line, label }, i) => {
      v.set(0, 0, 0).setComponent(i, 1).transformDirection(camera.matrixWorldInverse);
      line.setAttribute("x2", String(22 * v.x));
      line.setAttribute("y2", String(-22 * v.y));
      label.setAttribute("x", String(29 * v.x));
      label.setAttribute("y", String(-29 * v.y));
      for (const part of [line, label]) part.style.opacity = String(0.65 + 0.35 * v.z);
    });
  }
}
