// Positions and orientations of all bodies at any time, interpolated between frames.

import { Quaternion, Vector3 } from "three";
import { locate, type Numbers } from "../array";

const a = new Quaternion();
const b = new Quaternion();

export class Poses {
  readonly frames: number;
  private frame = 0; // interpolation between this frame and the next
  private weight = 0;

  constructor(readonly t: Numbers, private readonly data: Numbers, readonly bodies: number) {
    this.frames = t.length;
  }

  /** Chooses the time that the other calls refer to. */
  seek(t: number): void {
    const i = locate(this.t, t);
    const t0 = this.t[i] as number;
    const t1 = i + 1 < this.frames ? (this.t[i + 1] as number) : t0;
    this.frame = i;
    this.weight = t1 > t0 ? Math.min(1, Math.max(0, (t - t0) / (t1 - t0))) : 0;
  }

  seekFrame(i: number): void {
    this.frame = i;
    this.weight = 0;
  }

  get current(): number {
    return this.frame;
  }

  /** Interpolates a quantity with `width` values per frame. */
  interpolate(values: Numbers, width: number, k: number): number {
    const i = this.frame * width + k;
    const x = values[i] as number;
    return this.weight > 0 ? x + this.weight * ((values[i + width] as number) - x) : x;
  }

  /** Writes the pose of a body; false when the data has no finite one. */
  read(body: number, position: Vector3, rotation: Quaternion): boolean {
    const i = (this.frame * this.bodies + body) * 7;
    const d = this.data;
    position.set(d[i] as number, d[i + 1] as number, d[i + 2] as number);
    a.set(d[i + 4] as number, d[i + 5] as number, d[i + 6] as number, d[i + 3] as number);
    if (this.weight > 0) {
      const j = i + this.bodies * 7;
      const w = this.weight;
      position.set(
        position.x + w * ((d[j] as number) - position.x),
        position.y + w * ((d[j + 1] as number) - position.y),
        position.z + w * ((d[j + 2] as number) - position.z),
      );
      b.set(d[j + 4] as number, d[j + 5] as number, d[j + 6] as number, d[j + 3] as number);
      a.slerp(b, w);
    }
    rotation.copy(a);
    const norm = rotation.lengthSq();
    if (!(norm > 1e-12) || !Number.isFinite(norm + position.x + position.y + position.z)) return false;
    rotation.normalize();
    return true;
  }
}
