// The 3-D view: renderer, camera, light, and what the reader can do with them. Draws only when something changed.

import {
  AmbientLight, Box3, Color, DirectionalLight, Fog, HemisphereLight, PerspectiveCamera, Quaternion, Raycaster, Scene, Vector2, Vector3, WebGLRenderer, type Group, type Object3D,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Clock } from "../clock";
import { h } from "../dom";
import type { SceneData } from "../format";
import { short } from "../numbers";
import { onTheme } from "../theme";
import { frame } from "./framing";
import { Gizmo } from "./gizmo";
import { Ghost, type GhostData } from "./ghost";
import { Ground } from "./ground";
import { Labels } from "./labels";
import { looks } from "./materials";
import { Mechanism } from "./mechanism";
import { faceReader, findPlane } from "./plane";
import { Poses } from "./poses";
import { isSoftware, Quality, rendererName } from "./quality";
import { headingOf, Rider, type Ride } from "./riding";
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
  readonly rider: Rider;
  readonly vehicle: number; // the body to follow unless the reader says otherwise
  wheel = 0; // beside which the camera stands, or stood last
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly light = new DirectionalLight("#ffffff", 1.9);
  private readonly fog = new Fog("#ffffff", 1, 10);
  private readonly ground: Ground;
  private readonly labels = new Labels();
  private readonly up: Vector3;
  private readonly corners: { first: Vector3[]; motion: Vector3[] };
  private readonly motion: Box3;
  private direction: Vector3 | null = null; // from which the fitted view looks
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly gizmo = new Gizmo();
  private readonly release: () => void;
  private readonly ghosts: Ghost[] = [];
  private readonly quality: Quality;
  private ratio: number; // pixels drawn per pixel of the page
  private dirty = true;
  private onCamera: () => void = () => {};
  private onFollow: (body: number) => void = () => {};

  constructor(data: SceneData, private readonly clock: Clock) {
    this.quality = new Quality(isSoftware(rendererName()), devicePixelRatio || 1);
    this.renderer = new WebGLRenderer({ antialias: !this.quality.software, powerPreference: "high-performance" });
    this.ratio = this.quality.fine;
    this.renderer.setPixelRatio(this.ratio);
    this.up = new Vector3(...data.up);
    if (this.up.lengthSq() === 0) this.up.set(0, 0, 1);
    this.up.normalize();
    this.mechanism = new Mechanism(data, new Poses(data.t.get(), data.poses.get(), data.bodies.length), this.quality.software);
    this.corners = this.mechanism.corners();
    this.motion = new Box3().setFromPoints(this.corners.motion);
    this.ground = new Ground(this.up, this.floor(data), this.mechanism.size);
    this.scene.add(this.mechanism.root, this.ground.mesh, new AmbientLight("#ffffff", 0.55), new HemisphereLight("#ffffff", "#8a93a3", 1.5), this.light, this.light.target);
    this.scene.fog = this.fog;
    this.camera.up.copy(this.up);
    const canvas = this.renderer.domElement;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "3-D animation of the mechanism. Drag to turn, right-drag or two fingers to pan, wheel or pinch to zoom.");
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.invalidate());
    this.element = h("div", { class: "canvas-host" }, canvas, this.labels.canvas, this.tip, this.gizmo.element, h("div", { class: "grid-note", title: "Distance between the fine lines of the ground grid" }, `grid ${short(this.ground.cell)} m`));
    new ResizeObserver(() => this.resize()).observe(this.element);
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("dblclick", (event) => this.onFollow(this.pick(event)?.body ?? 0));
    clock.onChange(() => this.invalidate());
    this.release = onTheme((dark) => this.recolour(dark));
    this.mechanism.update(clock.t);
    this.vehicle = this.heaviest(data);
    this.rider = new Rider(this.camera, this.controls, this.up, this.mechanism.bodies);
    const { from, follow, turn } = data.view;
    if (from) this.direction = this.besideUp(new Vector3(...from).normalize());
    if (follow) this.rider.start(follow, turn ? "turning" : "along");
    else if (follow === null && this.travelsFar(data)) this.rider.start(this.vehicle, this.turns() ? "turning" : "along");
  }

  /** The driver's or a wheel's view, where the model opens with it. */
  private takePlace(): void {
    const { follow, camera } = this.mechanism.data.view;
    const wheel = this.mechanism.data.tyres.findIndex((tyre) => tyre.name === camera);
    if (camera === "driver") this.setCamera(follow || this.vehicle, "driver");
    else if (wheel >= 0) this.setCamera(this.vehicle, "wheel", wheel);
  }

  /** Called when the camera has another body or way to move with it. */
  whenCameraChanged(callback: () => void): void {
    this.onCamera = callback;
  }

  whenFollowChosen(callback: (body: number) => void): void {
    this.onFollow = callback;
  }

  /** A direction along the vertical leaves open what is up in the picture: it is tilted, so that x points to the right. */
  private besideUp(direction: Vector3): Vector3 {
    const side = new Vector3(0, 1, 0).addScaledVector(this.up, -this.up.y);
    if (side.lengthSq() < 0.1) side.set(0, 0, -Math.sign(this.up.y));
    return Math.abs(direction.dot(this.up)) > 0.9999 ? direction.addScaledVector(side, -1e-3).normalize() : direction;
  }

  /** A vehicle that leaves its starting place behind would be a dot: the camera follows it instead. */
  private travelsFar(data: SceneData): boolean {
    const first = new Box3().setFromPoints(this.corners.first);
    const factor = data.tyres.length ? 2.5 : 5;
    return this.motion.getSize(new Vector3()).length() > factor * Math.max(this.mechanism.size, first.getSize(new Vector3()).length());
  }

  /** Whether the vehicle's heading changes by more than some degrees. */
  private turns(): boolean {
    const { poses } = this.mechanism;
    const [p, q] = [new Vector3(), new Quaternion()];
    const headings = Array.from({ length: 30 }, (_, k) => {
      poses.seekFrame(Math.round((k * (poses.frames - 1)) / 29));
      return poses.read(this.vehicle, p, q) ? headingOf(q, this.up) : 0;
    });
    this.mechanism.update(this.clock.t);
    return headings.some((x) => Math.abs(x - (headings[0] as number)) > 0.1);
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
    this.ground.setColour(look.grid);
    this.mechanism.materials.apply(look);
    this.invalidate();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0 || height === 0) return;
    const firstTime = this.renderer.domElement.style.width === "";
    this.renderer.setSize(width, height);
    this.labels.resize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (firstTime) {
      this.fit();
      this.takePlace();
    }
    this.invalidate();
    this.draw();
  }

  /** Looks at the whole motion (or at the followed body's surroundings) from the side that shows most of it. */
  fit(): void {
    if (this.rider.fixed) return this.setCamera(this.rider.body, "along");
    const follow = this.rider.body;
    const points = follow ? this.corners.first : this.corners.motion;
    const box = points.length ? new Box3().setFromPoints(points) : new Box3().setFromCenterAndSize(new Vector3(), new Vector3(1, 1, 1));
    const shift = new Vector3();
    if (follow) {
      this.mechanism.poses.seekFrame(0);
      this.mechanism.poses.read(follow, shift, new Quaternion());
      shift.negate();
      this.mechanism.update(this.clock.t);
      shift.add(this.bodyPosition(follow));
      this.rider.start(follow, this.rider.ride);
    }
    if (!this.direction) {
      this.mechanism.update(this.clock.t);
      const hidden = [this.ground.mesh, ...(this.mechanism.road ? [this.mechanism.road] : [])].filter((o) => o.visible);
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

  /** Directions worth a try. Plane mechanisms are seen from the front, flat ones against their plane, others at three quarters. */
  private directions(box: Box3): Vector3[] {
    const plane = findPlane(this.mechanism.data, this.mechanism.poses, this.mechanism.size);
    this.mechanism.update(this.clock.t);
    const size = box.getSize(new Vector3());
    const forward = Math.abs(this.up.x) > 0.9 ? new Vector3(0, 1, 0) : new Vector3(1, 0, 0);
    forward.addScaledVector(this.up, -forward.dot(this.up)).normalize();
    const side = new Vector3().crossVectors(this.up, forward);
    if (plane) return [faceReader(plane, this.up).addScaledVector(side, Math.abs(plane.dot(this.up)) > 0.7 ? -1e-3 : 0).normalize()];
    const extent = (axis: Vector3): number => Math.abs(size.x * axis.x) + Math.abs(size.y * axis.y) + Math.abs(size.z * axis.z);
    const long = extent(forward);
    const broad = extent(side);
    const make = (f: number, s: number): Vector3 => new Vector3().addScaledVector(forward, f).addScaledVector(side, s).addScaledVector(this.up, 0.42).normalize();
    if (broad < 0.3 * long) return [make(0.4, -1)];
    if (long < 0.3 * broad) return [make(1, -0.4)];
    return [make(0.8, -1), make(1, -0.55), make(0.8, 1), make(1, 0.55)];
  }

  /** Puts the camera where all points are just inside the picture and in its middle; returns its distance from the target. */
  private lookFrom(direction: Vector3, points: Vector3[], box: Box3, shift: Vector3): number {
    const { target, distance } = frame(this.camera, this.up, direction, points, box.getCenter(new Vector3()), 0.4 * this.mechanism.size);
    this.controls.target.copy(target).add(shift);
    this.camera.position.copy(this.controls.target).addScaledVector(direction, distance);
    this.camera.lookAt(this.controls.target);
    this.camera.updateMatrixWorld();
    return distance;
  }

  private bodyPosition(body: number): Vector3 {
    return (this.mechanism.bodies[body] as Object3D).position;
  }

  /** Which body the camera moves with (0: none), and how; `tyre` is the wheel to stand beside. */
  setCamera(body: number, ride: Ride, tyre = 0): void {
    const wasFixed = this.rider.fixed;
    this.wheel = tyre;
    this.mechanism.update(this.clock.t);
    this.rider.start(body, ride);
    const ahead = this.ahead(body);
    const wheel = this.mechanism.data.tyres[tyre];
    if (body && ride === "driver") this.rider.sit(this.mechanism.boxOf(body), ahead);
    else if (body && ride === "wheel" && wheel) this.rider.stand(wheel, this.mechanism.bodies[wheel.body] as Group, ahead);
    else if (wasFixed) this.fit();
    this.onCamera();
    this.invalidate();
  }

  /** The horizontal axis of a body along which it moves first, or its x axis. */
  private ahead(body: number): Vector3 {
    const { poses, size } = this.mechanism;
    const [start, now, turn, q] = [new Vector3(), new Vector3(), new Quaternion(), new Quaternion()];
    let way = new Vector3(1, 0, 0);
    poses.seekFrame(0);
    if (poses.read(body, start, turn))
      for (let i = 1; i < poses.frames; i++) {
        poses.seekFrame(i);
        if (!poses.read(body, now, q) || now.distanceTo(start) < 0.5 * size) continue;
        const moved = now.sub(start).applyQuaternion(turn.invert());
        way = Math.abs(moved.x) >= Math.abs(moved.y) ? new Vector3(Math.sign(moved.x), 0, 0) : new Vector3(0, Math.sign(moved.y), 0);
        break;
      }
    this.mechanism.update(this.clock.t);
    return way.addScaledVector(this.up, -way.dot(this.up)).normalize();
  }

  /** Other motions, half transparent, at the same time. */
  setGhosts(wanted: GhostData[]): void {
    for (const ghost of this.ghosts.splice(0)) {
      this.scene.remove(ghost.mechanism.root);
      ghost.dispose();
    }
    for (const data of wanted) {
      const ghost = new Ghost(data, this.quality.software);
      this.ghosts.push(ghost);
      this.scene.add(ghost.mechanism.root);
    }
    this.invalidate();
  }

  invalidate(): void {
    this.dirty = true;
  }

  /** Called once per animation frame. */
  draw(): void {
    if (this.renderer.domElement.style.width === "" || !this.element.isConnected) return;
    const now = performance.now();
    if (this.dirty) this.setRatio(this.quality.next(now));
    else if (this.quality.shouldRefine(now)) this.setRatio(this.quality.fine);
    else return;
    this.render();
  }

  private setRatio(ratio: number): void {
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    this.renderer.setPixelRatio(ratio);
  }

  private render(): void {
    this.mechanism.update(this.clock.t);
    for (const ghost of this.ghosts) ghost.mechanism.update(this.clock.t);
    this.rider.step();
    this.dirty = false;
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(distance * 0.01, 1e-5);
    this.camera.far = distance * 3 + this.mechanism.size * 60;
    this.camera.updateProjectionMatrix();
    this.fog.near = distance + 2.5 * this.mechanism.size;
    this.fog.far = distance + 8 * this.mechanism.size;
    this.ground.centre(this.controls.target, this.mechanism.travelled(this.clock.t));
    this.placeLight();
    this.gizmo.update(this.camera);
    this.mechanism.forces.update(this.mechanism.poses, this.camera, 2 * distance * Math.tan((this.camera.fov * Math.PI) / 360));
    this.renderer.render(this.scene, this.camera);
    this.labels.draw(this.mechanism.forces.labels, this.camera, `#${(this.scene.background as Color).getHexString()}`);
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
    for (const { object } of ray.intersectObjects([this.mechanism.root, ...this.ghosts.map((g) => g.mechanism.root)], true)) {
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
    const canvas = document.createElement("canvas");
    this.paint(canvas, this.quality.fine);
    return new Promise((resolve) => canvas.toBlob(resolve));
  }

  /** Draws the view with its labels into a canvas, so many pixels per pixel of the page. */
  paint(canvas: HTMLCanvasElement, ratio: number): void {
    this.setRatio(ratio);
    this.render();
    canvas.width = Math.round(this.element.clientWidth * ratio);
    canvas.height = Math.round(this.element.clientHeight * ratio);
    const context = canvas.getContext("2d");
    for (const source of [this.renderer.domElement, this.labels.canvas]) context?.drawImage(source, 0, 0, canvas.width, canvas.height);
  }
}

function isShown(object: Object3D): boolean {
  for (let o: Object3D | null = object; o; o = o.parent) if (!o.visible) return false;
  return true;
}
