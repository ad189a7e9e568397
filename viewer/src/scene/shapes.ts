// What bodies look like: their shapes, or rods between their joints when the model gives none.

import { BoxGeometry, Group, Line3, MeshLambertMaterial, Quaternion, SphereGeometry, Vector3, type LineBasicMaterial } from "three";
import type { Body, SceneData, Shape, Tyre } from "../format";
import { cylinderGeometry, rod, solid, type Materials } from "./materials";

const vector = (p: readonly number[]): Vector3 => new Vector3(p[0], p[1], p[2]);

function addShape(group: Group, shape: Shape, material: MeshLambertMaterial, edges: LineBasicMaterial | null, size: number, n: Materials["round"]): void {
  if (shape.kind === "line") {
    const from = vector(shape.from);
    const to = vector(shape.to);
    const radius = 0.008 * Math.min(size, 5 * Math.max(from.distanceTo(to), 0.02 * size));
    group.add(rod(from, to, radius, material, n(14)));
    for (const end of [from, to]) {
      const ball = solid(new SphereGeometry(radius * 1.25, n(16), n(12)), material);
      ball.position.copy(end);
      group.add(ball);
    }
    return;
  }
  const mesh =
    shape.kind === "box"
      ? solid(new BoxGeometry(...shape.size), material, edges)
      : shape.kind === "cylinder"
        ? solid(cylinderGeometry(shape.radius, shape.length, n(40)), material, edges)
        : solid(new SphereGeometry(shape.radius, n(32), n(20)), material);
  mesh.position.set(...shape.position);
  if (shape.kind !== "sphere") {
    const [w, x, y, z] = shape.rotation;
    mesh.quaternion.copy(new Quaternion(x, y, z, w));
  }
  group.add(mesh);
}

/**
 * A wheel drawn as a tyre needs no cylinder of the same size around it, and neither the ball nor the short lines that a
 * model without shapes gets: they would cover the rim.
 */
function isHiddenByTyre(shape: Shape, tyres: Tyre[]): boolean {
  return tyres.some((tyre) => {
    const away = (p: readonly number[]): number => vector(p).distanceTo(vector(tyre.position)) / tyre.radius;
    if (shape.kind === "cylinder") return Math.abs(shape.radius - tyre.radius) < 0.15 * tyre.radius && away(shape.position) < 1 + shape.length / tyre.radius;
    if (shape.kind === "sphere") return shape.radius < tyre.radius && away(shape.position) < 0.5;
    return shape.kind === "line" && away(shape.from) < 0.45 && away(shape.to) < 0.45;
  });
}

function addStick(group: Group, ends: Vector3[], material: MeshLambertMaterial, size: number, n: Materials["round"]): void {
  const reach = ends.reduce((most, p) => Math.max(most, ...ends.map((q) => p.distanceTo(q))), 0);
  const radius = 0.011 * (reach > 0 ? Math.min(size, 5 * reach) : size);
  const centre = ends.reduce((sum, p) => sum.add(p), new Vector3()).divideScalar(Math.max(1, ends.length));
  if (ends.length === 2) group.add(rod(ends[0] as Vector3, ends[1] as Vector3, radius, material, n(14)));
  else for (const end of ends) group.add(rod(centre, end, radius, material, n(14)));
  const ball = solid(new SphereGeometry(radius * 1.9, n(20), n(14)), material);
  if (ends.length > 2) ball.position.copy(centre);
  group.add(ball);
}

/** A body of lines alone reaches to where springs hold it, too. */
function addArms(group: Group, shapes: Shape[], ends: Vector3[], material: MeshLambertMaterial, size: number, n: Materials["round"]): void {
  const lines = shapes.flatMap((s) => (s.kind === "line" ? [{ from: vector(s.from), to: vector(s.to) }] : []));
  if (lines.length < shapes.length) return;
  const nearest = new Vector3();
  for (const end of ends)
    if (lines.every(({ from, to }) => new Line3(from, to).closestPointToPoint(end, true, nearest).distanceTo(end) > 0.01 * size))
      addShape(group, { kind: "line", from: [0, 0, 0], to: [end.x, end.y, end.z] }, material, null, size, n);
}

/** Fills the group of a body. `ends`: its joints and anchors, in body axes; `size`: that it is drawn for. */
export function fillBody(group: Group, body: Body, index: number, scene: SceneData, ends: Vector3[], material: MeshLambertMaterial, materials: Materials, size: number): void {
  const tyres = scene.tyres.filter((tyre) => tyre.body === index);
  for (const shape of body.shapes) if (!isHiddenByTyre(shape, tyres)) addShape(group, shape, material, materials.edge, size, materials.round);
  if (body.shapes.length > 0) addArms(group, body.shapes, index > 0 ? ends : [], material, size, materials.round);
  if (body.shapes.length > 0 || index === 0) return;
  const hubs = tyres.map((tyre) => vector(tyre.position));
  const far = ends.filter((p) => !tyres.some((tyre) => p.distanceTo(vector(tyre.position)) < 0.5 * tyre.radius));
  if (hubs.length === 0 || far.length > 0) addStick(group, [...far, ...hubs], material, hubs.length ? Math.min(size, 4 * (tyres[0] as Tyre).radius) : size, materials.round); // a wheel is its tyre
}
