// What may be switched on over the mechanism: trails of points, body frames.

import { Group, Quaternion, Vector3 } from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { locate } from "../array";
import { aim, cylinderGeometry, onTop, solid } from "./materials";
import type { Poses } from "./poses";

/** The path of a point of a body: all of it faintly and through bodies, what has passed strongly. */
export class Trail {
  readonly group = new Group();
  private readonly past: Line2;
  private readonly frames: number[] = []; // that have a pose

  constructor(poses: Poses, body: number, point: Vector3, colour: string) {
    const positions: number[] = [];
    const p = new Vector3();
    const q = new Quaternion();
    for (let i = 0; i < poses.frames; i++) {
      poses.seekFrame(i);
      if (!poses.read(body, p, q)) continue;
      p.add(point.clone().applyQuaternion(q));
      positions.push(p.x, p.y, p.z);
      this.frames.push(i);
    }
    if (this.frames.length === 1) positions.push(...positions);
    const line = (width: number, opacity: number, depthTest: boolean): Line2 => {
      const geometry = new LineGeometry();
      if (positions.length) geometry.setPositions(positions);
      const made = new Line2(geometry, new LineMaterial({ color: colour, linewidth: width, transparent: true, opacity, depthTest, fog: false }));
      made.frustumCulled = false;
      made.visible = positions.length > 0;
      return made;
    };
    this.past = line(2.2, 1, true);
    this.group.add(line(1.4, 0.55, false), this.past);
  }

  update(frame: number): void {
    this.past.geometry.instanceCount = locate(this.frames, frame);
  }

  dispose(): void {
    for (const line of this.group.children as Line2[]) {
      line.geometry.dispose();
      line.material.dispose();
    }
  }
}

const axisColours = ["#d64545", "#3f9b4f", "#3b6fd8"] as const;

/** x, y, z axes of a body in red, green, blue. */
export function makeFrame(size: number): Group {
  const group = new Group();
  axisColours.forEach((colour, i) => {
    const direction = new Vector3().setComponent(i, 1);
    const material = onTop(colour);
    const length = 0.11 * size;
    const shaft = solid(cylinderGeometry(0.0035 * size, length, 10), material);
    const head = solid(cylinderGeometry(0.009 * size, 0.025 * size, 14, 0), material);
    shaft.position.copy(direction).multiplyScalar(length / 2);
    head.position.copy(direction).multiplyScalar(length);
    aim(shaft, direction);
    aim(head, direction);
    group.add(shaft, head);
  });
  group.traverse((o) => (o.renderOrder = 9));
  return group;
}
