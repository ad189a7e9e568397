// Where to look from: among a few directions the one from which most of the parts can be seen.

import { Color, Line, Mesh, MeshBasicMaterial, WebGLRenderTarget, type Material, type Object3D, type PerspectiveCamera, type Scene, type Vector3, type WebGLRenderer } from "three";

const width = 160;
const height = 120;

/** Draws every part in a colour of its own and counts its pixels. Parts are told apart by their labels. */
export function chooseDirection(renderer: WebGLRenderer, scene: Scene, root: Object3D, camera: PerspectiveCamera, candidates: Vector3[], place: (direction: Vector3) => void): Vector3 {
  const first = candidates[0] as Vector3;
  if (candidates.length < 2) return first;
  const kept: { mesh: Mesh; material: Material | Material[] }[] = [];
  const ids = new Map<string, number>();
  const materials: MeshBasicMaterial[] = [];
  const lines: Object3D[] = [];
  root.traverse((object) => {
    if (object instanceof Line && object.visible) lines.push(object);
    const label = object.userData.label as string | undefined;
    if (!(object instanceof Mesh) || !label) return;
    const id = ids.get(label) ?? Math.min(255, ids.size + 1);
    ids.set(label, id);
    kept.push({ mesh: object, material: object.material as Material });
    object.material = new MeshBasicMaterial({ color: new Color().setRGB(id / 255, 0, 0), fog: false });
    materials.push(object.material as MeshBasicMaterial);
  });
  for (const line of lines) line.visible = false; // they would mix with the colours that are counted
  const target = new WebGLRenderTarget(width, height);
  const { background } = scene;
  scene.background = new Color(0);
  const pixels = new Uint8Array(width * height * 4);
  const score = (direction: Vector3): number => {
    place(direction);
    renderer.render(scene, camera);
    renderer.readRenderTargetPixels(target, 0, 0, width, height, pixels);
    const counts = new Map<number, number>();
    for (let i = 0; i < pixels.length; i += 4) counts.set(pixels[i] as number, (counts.get(pixels[i] as number) ?? 0) + 1);
    return [...ids.values()].reduce((sum, id) => sum + Math.sqrt(counts.get(id) ?? 0), 0);
  };
  let best = first;
  try {
    renderer.setRenderTarget(target);
    let highest = 1.05 * score(first); // the usual direction, unless another one is clearly better
    for (const candidate of candidates.slice(1)) {
      const value = score(candidate);
      if (value > highest) [best, highest] = [candidate, value];
    }
  } finally {
    renderer.setRenderTarget(null);
    scene.background = background;
    for (const line of lines) line.visible = true;
    for (const { mesh, material } of kept) mesh.material = material;
    for (const material of materials) material.dispose();
    target.dispose();
  }
  return best;
}
