// Forces of tyres, springs and joints as arrows, of one scale for all, and the values beside them.

import { Group, Mesh, MeshLambertMaterial, Vector3, type PerspectiveCamera } from "three";
import type { Numbers } from "../array";
import type { Force, ForceKind, SceneData } from "../format";
import { short } from "../numbers";
import type { Label } from "./labels";
import { aim, cylinderGeometry, onTop, solid } from "./materials";
import type { Poses } from "./poses";

export const forceNames: Record<ForceKind, string> = { tyre: "Forces on wheels", spring: "Forces of springs and dampers", reaction: "Reaction forces" };
export const forceColours: Record<ForceKind, string> = { tyre: "#e08a00", spring: "#16a08c", reaction: "#e0457b" };

const maxLabels = 30;

/** Newtons as people read them: 3.75 kN. */
export function forceText(newton: number): string {
  const size = Math.abs(newton);
  const digits = (x: number): string => short(Number(x.toPrecision(3)), 3);
  return size >= 1e6 ? `${digits(newton / 1e6)} MN` : size >= 1e3 ? `${digits(newton / 1e3)} kN` : `${digits(newton)} N`;
}

/** Largest norm over all frames, and the one that a tenth of those above a thousandth of it exceeds. */
export function forceSizes(forces: { force: { get(): Numbers } }[]): { largest: number; usual: number } {
  const norms: number[] = [];
  for (const { force } of forces) {
    const f = force.get();
    for (let i = 0; i + 2 < f.length; i += 3) norms.push(Math.hypot(f[i] as number, f[i + 1] as number, f[i + 2] as number));
  }
  const finite = norms.filter(Number.isFinite);
  const largest = finite.reduce((a, b) => Math.max(a, b), 0);
  const sorted = Float64Array.from(finite.filter((x) => x > 1e-3 * largest)).sort();
  return { largest, usual: sorted[Math.floor(0.9 * (sorted.length - 1))] || largest };
}

/** Shares the unit geometries of all arrows; lengths are set by scaling. */
class Arrow {
  readonly group = new Group();
  readonly value = new Vector3();
  readonly tip = new Vector3();
  private readonly shaft: Mesh;
  private readonly head: Mesh;
  private readonly values: Numbers;

  constructor(readonly force: Force, readonly radius: number, readonly axis: Vector3 | null, material: MeshLambertMaterial, shapes: { shaft: Mesh["geometry"]; head: Mesh["geometry"] }) {
    this.values = force.force.get();
    this.shaft = solid(shapes.shaft, material);
    this.head = solid(shapes.head, material);
    this.group.add(this.shaft, this.head);
    this.group.traverse((o) => (o.renderOrder = 10));
  }

  read(poses: Poses): number {
    this.value.set(poses.interpolate(this.values, 3, 0), poses.interpolate(this.values, 3, 1), poses.interpolate(this.values, 3, 2));
    return this.value.length();
  }

  /** Draws it from an origin with a length; `unit` is the height of the view, for thicknesses. */
  place(origin: Vector3, length: number, unit: number): void {
    const head = Math.min(0.035 * unit, 0.6 * length);
    this.group.position.copy(origin);
    aim(this.group, this.value);
    this.shaft.scale.set(0.0036 * unit, 0.0036 * unit, length - head);
    this.shaft.position.z = (length - head) / 2;
    this.head.scale.set(0.011 * unit, 0.011 * unit, head);
    this.head.position.z = length - head / 2;
    this.tip.copy(this.value).setLength(length).add(origin);
    this.group.traverse((o) => (o.userData.label = `${this.force.name}: ${forceText(this.value.length())}`));
  }
}

export class ForceArrows {
  readonly group = new Group();
  readonly kinds: { kind: ForceKind; group: Group; largest: number; usual: number }[] = [];
  readonly labels: Label[] = [];
  scale = 1; // the reader's factor
  values = true;
  private readonly arrows: Arrow[] = [];
  private readonly origin = new Vector3();
  private readonly side = new Vector3();
  private readonly point = new Vector3();

  constructor(data: SceneData, private readonly bodies: Group[], private readonly up: Vector3) {
    const shapes = { shaft: cylinderGeometry(1, 1, 12), head: cylinderGeometry(1, 1, 18, 0) };
    for (const kind of ["tyre", "spring", "reaction"] as const) {
      const forces = data.forces.filter((f) => f.kind === kind);
      const sizes = forceSizes(forces);
      if (!(sizes.largest > 0)) continue;
      const group = new Group();
      group.visible = false;
      const material = onTop(forceColours[kind]);
      for (const force of forces) {
        const tyre = kind === "tyre" ? data.tyres.find((w) => w.body === force.body && w.name === force.name) : undefined;
        const arrow = new Arrow(force, tyre?.radius ?? 0, tyre ? new Vector3(...tyre.axis) : null, material, shapes);
        this.arrows.push(arrow);
        group.add(arrow.group);
      }
      this.kinds.push({ kind, group, ...sizes });
      this.group.add(group);
    }
  }

  /** Where it acts: of a tyre at the lowest point of the wheel. */
  private findOrigin(arrow: Arrow): Vector3 {
    const body = this.bodies[arrow.force.body] as Group;
    this.origin.set(...arrow.force.position).applyQuaternion(body.quaternion).add(body.position);
    if (!arrow.axis) return this.origin;
    this.side.copy(arrow.axis).applyQuaternion(body.quaternion).normalize();
    this.point.copy(this.up).addScaledVector(this.side, -this.up.dot(this.side)).setLength(arrow.radius);
    return this.origin.sub(this.point);
  }

  /** The part of a length after which an arrow would leave the picture. */
  private shorten(origin: Vector3, direction: Vector3, length: number, camera: PerspectiveCamera): number {
    const inside = (l: number): boolean => {
      this.point.copy(direction).setLength(l).add(origin).project(camera);
      return Math.abs(this.point.x) < 0.94 && Math.abs(this.point.y) < 0.94 && this.point.z < 1;
    };
    if (!(length > 0) || inside(length) || !inside(1e-6 * length)) return length;
    let [low, high] = [0, length];
    for (let k = 0; k < 12; k++) {
      const middle = (low + high) / 2;
      if (inside(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Called when bodies and camera are in place; `unit`: how high the view is where it looks at. */
  update(poses: Poses, camera: PerspectiveCamera, unit: number): void {
    this.labels.length = 0;
    const shown = this.kinds.filter((k) => k.group.visible);
    const usual = Math.max(...shown.map((k) => k.usual), 0);
    if (!(usual > 0)) return;
    const factor = (this.scale * 0.22 * unit) / usual;
    const found: { arrow: Arrow; size: number }[] = [];
    for (const arrow of this.arrows) {
      if (!arrow.group.parent?.visible) continue;
      const size = arrow.read(poses);
      const body = this.bodies[arrow.force.body] as Group;
      const wanted = Math.min(size * factor, 1.2 * unit);
      arrow.group.visible = body.visible && Number.isFinite(size) && wanted > 0.012 * unit;
      if (!arrow.group.visible) continue;
      const origin = this.findOrigin(arrow);
      arrow.place(origin, Math.max(this.shorten(origin, arrow.value, wanted, camera), 0.012 * unit), unit);
      found.push({ arrow, size });
    }
    if (!this.values) return;
    found.sort((a, b) => b.size - a.size);
    for (const { arrow, size } of found.slice(0, maxLabels)) this.labels.push({ place: arrow.tip, text: forceText(size), colour: forceColours[arrow.force.kind] });
  }
}
