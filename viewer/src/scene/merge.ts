// Fewer and larger objects: every one that is drawn costs, most of all where the processor draws.

import { BufferGeometry, Group, LineSegments, Matrix4, Mesh, type Material, type Object3D } from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";

type Drawn = Mesh | LineSegments;

function join(objects: Drawn[], into: Matrix4): BufferGeometry | null {
  const mixed = objects.some((o) => !o.geometry.index);
  const parts = objects.map((o) => {
    const part = (mixed && o.geometry.index ? o.geometry.toNonIndexed() : (o.geometry as BufferGeometry).clone()) as BufferGeometry;
    return part.applyMatrix4(new Matrix4().multiplyMatrices(into, o.matrixWorld));
  });
  const joined = mergeGeometries(parts);
  for (const part of parts) part.dispose();
  return joined;
}

/** Puts all meshes of a group that share a material into one, and all lines; the group must have its final contents. */
export function mergeGroup(group: Group): void {
  group.updateMatrixWorld(true);
  const into = group.matrixWorld.clone().invert();
  const families = new Map<string, Drawn[]>();
  group.traverse((object: Object3D) => {
    if (!(object instanceof Mesh || object instanceof LineSegments)) return;
    const key = `${object.type} ${(object.material as Material).uuid}`;
    families.set(key, [...(families.get(key) ?? []), object]);
  });
  const made: Drawn[] = [];
  for (const objects of families.values()) {
    const first = objects[0] as Drawn;
    const geometry = join(objects, into);
    if (!geometry) return; // of different kinds: they stay as they are
    made.push(first instanceof Mesh ? new Mesh(geometry, first.material) : new LineSegments(geometry, first.material));
  }
  for (const objects of families.values()) for (const object of objects) object.geometry.dispose();
  group.clear();
  if (made.length) group.add(...made);
}
