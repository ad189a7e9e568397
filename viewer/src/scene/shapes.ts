// What bodies look like: their shapes, or rods between their joints when the model gives none.

import { BoxGeometry, Group, MeshLambertMaterial, Quaternion, SphereGeometry, Vector3 } from "three";
import type { Body, SceneData, Shape, Tyre } from "../format";
import { cylinderGeometry, rod, solid, type Materials } from "./materials";

const vector = (p: readonly number[]): Vector3 => new Vector3(p[0], p[1], p[2]);

function addShape(group: Group, shape: Shape, material: MeshLambertMaterial, materials: Materials, size: number): void {
  if (shape.kind === "line") {
    const from = vector(shape.from);
    const to = vector(shape.to);
    const radius = 0.008 * size;
    group.add(rod(from, to, radius, material));
    for (const end of [from, to]) {
      const ball = solid(new SphereGeometry(radius * 1.25, 16, 12), material);
      ball.position.copy(end);
      group.add(ball);
    }
    return;
  }
  const mesh =
    shape.kind === "box"
      ? solid(new BoxGeometry(...shape.size), material, materials.edge)
      : shape.kind === "cylinder"
        ? solid(cylinderGeometry(shape.radius, shape.length, 40), material, materials.edge)
        : solid(new SphereGeometry(shape.radius, 32, 20), material);
  mesh.position.set(...shape.position);
  if (shape.kind !== "sphere") {
    const [w, x, y, z] = shape.rotation;
    mesh.quaternion.copy(new Quaternion(x, y, z, w));
  }
  group.add(mesh);
}

/** A wheel drawn as a tyre needs no cylinder of the same size around it. */
function isHiddenByTyre(shape: Shape, tyres: Tyre[]): boolean {
  return tyres.some(
    (tyre) =>
      shape.kind === "cylinder" &&
      Math.abs(shape.radius - tyre.radius) < 0.15 * tyre.radius &&
      vector(shape.position).distanceTo(vector(tyre.position)) < tyre.radius + shape.length,
  );
}

function addStick(group: Group, ends: Vector3[], material: MeshLambertMaterial, size: number): void {
  const radius = 0.011 * size;
  const centre = ends.reduce((sum, p) => sum.add(p), new Vector3()).divideScalar(Math.max(1, ends.length));
  if (ends.length === 2) group.add(rod(ends[0] as Vector3, ends[1] as Vector3, radius, material));
  else for (const end of ends) group.add(rod(centre, end, radius, material));
  const ball = solid(new SphereGeometry(radius * 1.9, 20, 14), material);
  if (ends.length > 2) ball.position.copy(centre);
  group.add(ball);
}

/** Fills the group of a body. `ends`: its joints and anchors, in body axes. */
export function fillBody(group: Group, body: Body, index: number, scene: SceneData, ends: Vector3[], material: MeshLambertMaterial, materials: Materials, size: number): void {
  const tyres = scene.tyres.filter((tyre) => tyre.body === index);
  for (const shape of body.shapes) if (!isHiddenByTyre(shape, tyres)) addShape(group, shape, material, materials, size);
  if (body.shapes.length === 0 && index > 0) addStick(group, [...ends, ...tyres.map((tyre) => vector(tyre.position))], material, size);
}
