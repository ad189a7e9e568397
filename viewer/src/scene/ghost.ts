// The motion of another result: its bodies, springs and tyres in one colour, half transparent.

import { Mesh, MeshLambertMaterial, type Object3D } from "three";
import type { SceneData } from "../format";
import { Mechanism } from "./mechanism";
import { Poses } from "./poses";

export interface GhostData {
  name: string;
  data: SceneData;
  colour: string;
}

export class Ghost {
  readonly mechanism: Mechanism;
  private readonly material: MeshLambertMaterial;

  constructor({ name, data, colour }: GhostData, reduced: boolean) {
    this.mechanism = new Mechanism(data, new Poses(data.t.get(), data.poses.get(), data.bodies.length), reduced);
    // Pushed back a little: where both motions are the same, the other one covers it.
    this.material = new MeshLambertMaterial({ color: colour, transparent: true, opacity: 0.34, depthWrite: false, fog: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 8 });
    if (this.mechanism.road) this.mechanism.road.visible = false;
    const ground = this.mechanism.bodies[0] as Object3D;
    const lines: Object3D[] = [];
    this.mechanism.root.traverse((object) => {
      if (object instanceof Mesh) object.material = this.material;
      else if ("isLine" in object) lines.push(object);
      const label = object.userData.label as string | undefined;
      if (label) object.userData.label = `${label} of ${name}`;
      object.userData.body = 0;
    });
    for (const line of lines) line.visible = false;
    for (const child of ground.children) child.visible = false; // the same for all
  }

  dispose(): void {
    this.mechanism.root.traverse((object) => object instanceof Mesh && object.geometry.dispose());
    this.material.dispose();
  }
}
