// The mechanism as objects in space: what is built once, and what moves with time.

import { Box3, Group, MeshLambertMaterial, Quaternion, Vector3, Object3D } from "three";
import type { Anchor, SceneData } from "../format";
import { colourOf } from "../theme";
import { makeJoint, makeRoad, makeWheel, SpringView } from "./elements";
import { boxCorners, Extents } from "./extents";
import { ForceArrows } from "./forces";
import { Materials, matt } from "./materials";
import { mergeGroup } from "./merge";
import { makeFrame, Trail } from "./overlays";
import type { Poses } from "./poses";
import { fillBody } from "./shapes";

export interface TracePoint {
  label: string;
  body: number;
  position: Vector3;
  colour: string;
}

const vector = (p: readonly number[]): Vector3 => new Vector3(p[0], p[1], p[2]);

export class Mechanism {
  readonly root = new Group();
  readonly materials: Materials;
  readonly bodies: Group[] = [];
  readonly joints = new Group();
  readonly springs = new Group();
  readonly tyres: Group[] = [];
  readonly frames: Group[] = [];
  readonly glyphs: Group[] = [];
  readonly road: Group | null;
  private readonly rightRoad: Group | null;
  readonly forces: ForceArrows;
  readonly trailGroup = new Group();
  readonly points: TracePoint[] = [];
  readonly size: number; // a length typical of the mechanism, for everything that is drawn to be seen
  private readonly trails = new Map<TracePoint, Trail>();
  private readonly springViews: SpringView[];
  private readonly a = new Vector3();
  private readonly b = new Vector3();

  /** `reduced`: with less detail, for slow graphics. */
  constructor(readonly data: SceneData, readonly poses: Poses, reduced = false) {
    this.materials = new Materials(reduced);
    data.bodies.forEach((body) => {
      const group = new Group();
      group.name = body.name;
      this.bodies.push(group);
      this.root.add(group);
    });
    this.pose();
    this.size = this.measure();
    const ends = this.ends();
    const extents = new Extents(data, ends, this.size);
    this.buildBodies(ends, extents);
    this.springViews = data.springs.map((spring) => {
      const length = this.anchor(spring.from, this.a).distanceTo(this.anchor(spring.to, this.b));
      const view = new SpringView(spring, Number.isFinite(length) ? length : 0, this.materials, Math.min(this.size, 2.5 * extents.around([spring.from.body, spring.to.body])));
      this.springs.add(view.group);
      return view;
    });
    this.road = data.road ? makeRoad(data.road, this.materials, this.size) : null;
    if (this.road) this.root.add(this.road);
    this.rightRoad = data.rightRoad ? makeRoad(data.rightRoad, this.materials, this.size) : null;
    if (this.rightRoad) this.road?.add(this.rightRoad); // shown and hidden with the other
    this.forces = new ForceArrows(data, this.bodies, new Vector3(...data.up).normalize());
    this.root.add(this.springs, this.forces.group, this.trailGroup);
    this.collectPoints();
  }

  colour(body: number): string {
    return this.data.bodies[body]?.colour || (body === 0 ? "#8d97a5" : colourOf(body - 1));
  }

  private anchor(anchor: Anchor, target: Vector3): Vector3 {
    const group = this.bodies[anchor.body] as Group;
    return target.set(...anchor.position).applyQuaternion(group.quaternion).add(group.position);
  }

  /** Typical length: the diagonal of everything the data places in the first frame, without the road. */
  private measure(): number {
    const box = new Box3();
    const add = (body: number, position: Vector3, radius = 0): void => {
      const group = this.bodies[body] as Group;
      const p = position.applyQuaternion(group.quaternion).add(group.position);
      if (!Number.isFinite(p.x + p.y + p.z)) return;
      box.expandByPoint(p.clone().addScalar(radius)).expandByPoint(p.clone().addScalar(-radius));
    };
    this.data.bodies.forEach((body, i) => {
      if (i > 0) add(i, new Vector3());
      for (const point of body.points) add(i, vector(point.position));
      for (const s of body.shapes) {
        if (s.kind === "line") [s.from, s.to].forEach((p) => add(i, vector(p)));
        else if (s.kind === "box") i > 0 && boxCorners(s).forEach((p) => add(i, p));
        else if (i > 0) add(i, vector(s.position), s.kind === "sphere" ? s.radius : Math.max(s.radius, s.length / 2));
      }
    });
    for (const joint of this.data.joints) add(joint.bodies[1], vector(joint.position));
    for (const spring of this.data.springs) for (const end of [spring.from, spring.to]) add(end.body, vector(end.position));
    for (const tyre of this.data.tyres) add(tyre.body, vector(tyre.position), tyre.radius);
    const size = box.isEmpty() ? 0 : box.getSize(new Vector3()).length();
    return size > 1e-9 ? size : 1;
  }

  /** Places of joints and springs on every body, in its own axes, as they are in the first frame. */
  private ends(): Vector3[][] {
    const ends: Vector3[][] = this.bodies.map(() => []);
    const add = (body: number, world: Vector3): void => {
      const group = this.bodies[body] as Group;
      const local = world.clone().sub(group.position).applyQuaternion(group.quaternion.clone().invert());
      if (!(ends[body] as Vector3[]).some((p) => p.distanceTo(local) < 1e-6 * this.size)) (ends[body] as Vector3[]).push(local);
    };
    for (const joint of this.data.joints) {
      const world = this.anchor({ body: joint.bodies[1], position: joint.position }, this.a);
      if (joint.type !== "free") for (const body of joint.bodies) add(body, world);
    }
    for (const spring of this.data.springs) for (const end of [spring.from, spring.to]) add(end.body, this.anchor(end, this.a));
    return ends;
  }

  private buildBodies(ends: Vector3[][], extents: Extents): void {
    this.data.bodies.forEach((body, i) => {
      const group = this.bodies[i] as Group;
      const material: MeshLambertMaterial = i === 0 && !body.colour ? this.materials.ground : matt(this.colour(i));
      if (body.opacity < 1) Object.assign(material, { transparent: true, opacity: body.opacity, depthWrite: false });
      if (!body.hidden) fillBody(group, body, i, this.data, ends[i] as Vector3[], material, this.materials, this.size);
      mergeGroup(group);
      group.traverse((o) => (o.userData.label = body.name));
      group.traverse((o) => (o.userData.body = i));
      const frame = makeFrame(this.size);
      frame.visible = false;
      this.frames.push(frame);
      group.add(frame);
    });
    for (const tyre of this.data.tyres) {
      const view = makeWheel(tyre, this.materials);
      view.traverse((o) => (o.userData.body = tyre.body));
      this.tyres.push(view);
      (this.bodies[tyre.body] as Group).add(view);
    }
    // Beside a whole vehicle the signs of its joints would hide the wheels.
    const signSize = Math.min(this.size, ...this.data.tyres.filter((tyre) => tyre.radius > 0).map((tyre) => 8 * tyre.radius));
    for (const joint of this.data.joints) {
      const glyph = makeJoint(joint, this.materials, Math.min(signSize, 2.2 * extents.around(joint.bodies)));
      glyph.traverse((o) => (o.userData.label = `${joint.name} (${joint.type}${joint.cut ? ", cut" : ""})`));
      this.glyphs.push(glyph);
      (this.bodies[joint.bodies[1]] as Group).add(glyph);
    }
  }

  private collectPoints(): void {
    this.data.bodies.forEach((body, i) => {
      if (i === 0) return;
      this.points.push({ label: body.name, body: i, position: new Vector3(), colour: this.colour(i) });
      for (const point of body.points) this.points.push({ label: `${body.name}.${point.name}`, body: i, position: vector(point.position), colour: this.colour(i) });
    });
  }

  hasTrail(point: TracePoint): boolean {
    return this.trails.has(point);
  }

  setTrail(point: TracePoint, on: boolean): void {
    const old = this.trails.get(point);
    if (on === Boolean(old)) return;
    if (old) {
      this.trailGroup.remove(old.group);
      old.dispose();
      this.trails.delete(point);
      return;
    }
    const trail = new Trail(this.poses, point.body, point.position, point.colour);
    this.trails.set(point, trail);
    this.trailGroup.add(trail.group);
  }

  private pose(): void {
    this.bodies.forEach((group, i) => {
      group.visible = this.poses.read(i, group.position, group.quaternion);
    });
  }

  update(t: number): void {
    this.poses.seek(t);
    this.pose();
    this.data.springs.forEach((spring, i) => this.springViews[i]?.place(this.anchor(spring.from, this.a), this.anchor(spring.to, this.b)));
    for (const trail of this.trails.values()) trail.update(this.poses.current);
    const { road, rightRoad } = this.data;
    if (this.road) this.road.position.x = -this.travelled(t);
    if (this.rightRoad && road && rightRoad) this.rightRoad.position.x = -(rightRoad.speed - road.speed) * t - (rightRoad.start - road.start);
  }

  /** How far the road has passed under the vehicle. */
  travelled(t: number): number {
    return this.data.road ? this.data.road.speed * t + this.data.road.start : 0;
  }

  /** Corners of the boxes around all bodies: in the first frame, and over the whole motion (in at most 60 frames). */
  corners(): { first: Vector3[]; motion: Vector3[] } {
    const locals = this.bodies.map((group, i) => this.localBox(group, i));
    const ground = locals[0];
    if (ground && ground.getSize(new Vector3()).length() > 2.5 * this.size) ground.makeEmpty(); // a floor, not a part
    const first: Vector3[] = [];
    const motion: Vector3[] = [];
    const pose = new Object3D();
    const count = Math.min(this.poses.frames, 60);
    for (let k = 0; k < count; k++) {
      this.poses.seekFrame(Math.round((k * (this.poses.frames - 1)) / Math.max(1, count - 1)));
      locals.forEach((box, i) => {
        if (box.isEmpty() || !this.poses.read(i, pose.position, pose.quaternion)) return;
        pose.updateMatrix();
        for (let c = 0; c < 8; c++) {
          const corner = new Vector3(c & 1 ? box.max.x : box.min.x, c & 2 ? box.max.y : box.min.y, c & 4 ? box.max.z : box.min.z).applyMatrix4(pose.matrix);
          motion.push(corner);
          if (k === 0) first.push(corner);
        }
      });
    }
    for (const spring of this.data.springs) for (const end of [spring.from, spring.to]) if (end.body === 0) [first, motion].forEach((list) => list.push(vector(end.position)));
    return { first, motion };
  }

  /** The box around a body and what is drawn on it, in its axes. */
  boxOf(body: number): Box3 {
    return this.localBox(this.bodies[body] as Group, body);
  }

  private localBox(group: Group, index: number): Box3 {
    const position = group.position.clone();
    const rotation: Quaternion = group.quaternion.clone();
    const frame = this.frames[index] as Group;
    group.position.set(0, 0, 0);
    group.quaternion.identity();
    group.remove(frame);
    group.updateMatrixWorld(true);
    const box = new Box3().setFromObject(group);
    group.add(frame);
    group.position.copy(position);
    group.quaternion.copy(rotation);
    group.updateMatrixWorld(true);
    return box;
  }
}
