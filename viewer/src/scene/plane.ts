// Whether a mechanism moves in a plane, so that it can be looked at from the front.

import { Quaternion, Vector3 } from "three";
import type { SceneData } from "../format";
import type { Poses } from "./poses";

/**
 * The normal of the plane in which all bodies move: their centres keep their distances to it, and they turn about it
 * alone. The axes of the world and of the joints are tried. Null: the motion is spatial, or nothing moves.
 */
export function findPlane(data: SceneData, poses: Poses, size: number): Vector3 | null {
  if (data.tyres.length > 0) return null;
  const normals = [new Vector3(0, 1, 0), new Vector3(1, 0, 0), new Vector3(0, 0, 1)];
  const count = Math.min(poses.frames, 40);
  const frames = Array.from({ length: count }, (_, k) => Math.round((k * (poses.frames - 1)) / Math.max(1, count - 1)));
  const p = new Vector3();
  const q = new Quaternion();
  const first = data.bodies.map((_, i) => {
    poses.seekFrame(0);
    return poses.read(i, p, q) ? { p: p.clone(), q: q.clone() } : null;
  });
  for (const joint of data.joints) {
    const pose = first[joint.bodies[1]];
    const axis = joint.axis && pose ? new Vector3(...joint.axis).applyQuaternion(pose.q) : null;
    if (axis && normals.length < 8 && !normals.some((n) => Math.abs(n.dot(axis)) > 0.9999)) normals.push(axis.normalize());
  }
  let moves = false;
  const possible = normals.map(() => true);
  const turned = new Vector3();
  for (const frame of frames) {
    poses.seekFrame(frame);
    first.forEach((start, i) => {
      if (!start || !poses.read(i, p, q)) return;
      const turn = q.multiply(start.q.clone().invert());
      moves ||= p.distanceTo(start.p) > 1e-3 * size || Math.abs(turn.w) < 0.99999;
      normals.forEach((n, k) => {
        const stays = Math.abs(p.clone().sub(start.p).dot(n)) < 1e-4 * size;
        possible[k] &&= stays && turned.copy(n).applyQuaternion(turn).dot(n) > 1 - 1e-6;
      });
    });
  }
  return moves ? (normals.find((_, k) => possible[k]) ?? null) : null;
}

/** The side to look from: x to the right where it can be, otherwise y; the normal points to the reader. */
export function faceReader(normal: Vector3, up: Vector3): Vector3 {
  const n = normal.clone();
  if (Math.abs(n.dot(up)) > 0.7) return n.dot(up) < 0 ? n.negate() : n;
  const right = new Vector3().crossVectors(up, n);
  const along = Math.abs(right.x) > 1e-3 ? right.x : right.y;
  return along < 0 ? n.negate() : n;
}
