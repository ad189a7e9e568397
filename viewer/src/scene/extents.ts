// How large bodies are, so that what is drawn on them (joints, rods, springs) suits them and not the whole scene.

import { Quaternion, Vector3 } from "three";
import type { SceneData, Shape } from "../format";

const vector = (p: readonly number[]): Vector3 => new Vector3(p[0], p[1], p[2]);

/** Corners of a box, in axes of its body: a long one is as long as it is, not a ball about it. */
export function boxCorners(s: Extract<Shape, { kind: "box" }>): Vector3[] {
  const [w, x, y, z] = s.rotation;
  const turn = new Quaternion(x, y, z, w);
  return Array.from({ length: 8 }, (_, c) =>
    vector(s.size.map((side, k) => (c & (1 << k) ? side : -side) / 2)).applyQuaternion(turn).add(vector(s.position)));
}

/** The largest distance between two of the points. */
function diameter(points: Vector3[]): number {
  let most = 0;
  points.forEach((p, i) => points.slice(i + 1).forEach((q) => (most = Math.max(most, p.distanceTo(q)))));
  return most;
}

export class Extents {
  private readonly sizes: number[];

  /** `ends`: places of joints and springs on every body, in its axes; `size`: of the whole scene. */
  constructor(data: SceneData, ends: Vector3[][], readonly size: number) {
    this.sizes = data.bodies.map((body, i) => {
      const tyres = data.tyres.filter((tyre) => tyre.body === i).map((tyre) => 2 * tyre.radius);
      const points = [...(ends[i] as Vector3[]).slice(0, 40), ...body.points.slice(0, 40).map((p) => vector(p.position))];
      if (i > 0) points.push(new Vector3());
      for (const s of body.shapes) {
        if (s.kind === "line") points.push(vector(s.from), vector(s.to));
        else if (s.kind === "box") points.push(...boxCorners(s));
        else tyres.push(s.kind === "sphere" ? 2 * s.radius : Math.max(2 * s.radius, s.length));
      }
      return Math.max(diameter(points), ...tyres);
    });
  }

  /** Size of the smallest of the bodies that has one; the ground counts only where it is alone. */
  around(bodies: number[]): number {
    const moving = bodies.filter((b) => b > 0);
    const sizes = (moving.length ? moving : bodies).map((b) => this.sizes[b] as number).filter((s) => s > 1e-6 * this.size);
    return Math.min(this.size, ...(sizes.length ? sizes : [this.size]));
  }
}
