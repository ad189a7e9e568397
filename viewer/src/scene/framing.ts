// From how far and past what point to look, so that all points are in the picture and in its middle.

import { Vector3, type PerspectiveCamera } from "three";

/**
 * With x across the picture and d towards the camera, a point is inside when |x - s| <= (D - d) tan(half angle): the
 * smallest distance D follows from the extremes of x + d tan and -x + d tan, in both directions of the picture.
 */
export function frame(camera: PerspectiveCamera, up: Vector3, direction: Vector3, points: Vector3[], centre: Vector3, least: number): { target: Vector3; distance: number } {
  const right = new Vector3().crossVectors(up, direction).normalize();
  const above = new Vector3().crossVectors(direction, right);
  const tanY = Math.tan((camera.fov * Math.PI) / 360) / 1.16; // leaves a margin
  const tanX = tanY * camera.aspect;
  const seen = points.map((point) => {
    const p = point.clone().sub(centre);
    return { x: p.dot(right), y: p.dot(above), d: p.dot(direction) };
  });
  const reach = (f: (p: { x: number; y: number; d: number }) => number): number => seen.reduce((m, p) => Math.max(m, f(p)), 0);
  const distance = Math.max(
    (reach((p) => p.x + p.d * tanX) + reach((p) => -p.x + p.d * tanX)) / (2 * tanX),
    (reach((p) => p.y + p.d * tanY) + reach((p) => -p.y + p.d * tanY)) / (2 * tanY),
    least,
  );
  const middle = (values: number[]): number => middleAt(distance, values, seen.map((p) => p.d));
  const target = centre.clone().addScaledVector(right, middle(seen.map((p) => p.x))).addScaledVector(above, middle(seen.map((p) => p.y)));
  return { target, distance };
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
