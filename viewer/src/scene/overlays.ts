// What may be switched on over the mechanism: trails of points, reaction arrows, body frames, the ground grid.

import {
  Color, DoubleSide, Group, Mesh, PlaneGeometry, Quaternion, ShaderMaterial, Vector3,
} from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { locate, type Numbers } from "../array";
import type { Reaction } from "../format";
import { aim, cylinderGeometry, onTop, solid, type Materials } from "./materials";
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

/** The force of a joint as an arrow. */
export class ReactionView {
  readonly group = new Group();
  private readonly shaft: Mesh;
  private readonly head: Mesh;
  private readonly force = new Vector3();
  private readonly values: Numbers;

  constructor(readonly reaction: Reaction, materials: Materials, private readonly size: number) {
    this.values = reaction.force.get();
    this.shaft = solid(cylinderGeometry(0.006 * size, 1, 14), materials.reaction);
    this.head = solid(cylinderGeometry(0.018 * size, 0.055 * size, 20, 0), materials.reaction);
    this.group.add(this.shaft, this.head);
    this.group.traverse((o) => {
      o.userData.label = `reaction of ${reaction.joint}`;
      o.renderOrder = 10;
    });
  }

  /** Largest norm over all frames, and the one that a tenth of them exceeds. */
  static sizes(reactions: Reaction[]): { largest: number; usual: number } {
    const norms: number[] = [];
    for (const reaction of reactions) {
      const f = reaction.force.get();
      for (let i = 0; i + 2 < f.length; i += 3) norms.push(Math.hypot(f[i] as number, f[i + 1] as number, f[i + 2] as number));
    }
    const sorted = Float64Array.from(norms.filter(Number.isFinite)).sort();
    const largest = sorted[sorted.length - 1] ?? 0;
    return { largest, usual: sorted[Math.floor(0.9 * (sorted.length - 1))] || largest };
  }

  update(poses: Poses, origin: Vector3, scale: number): void {
    this.force.set(poses.interpolate(this.values, 3, 0), poses.interpolate(this.values, 3, 1), poses.interpolate(this.values, 3, 2));
    const length = Math.min(this.force.length() * scale, 1.2 * this.size); // an impact must not fill the picture
    this.group.visible = Number.isFinite(length) && length > 0.01 * this.size;
    if (!this.group.visible) return;
    const head = 0.055 * this.size;
    this.group.position.copy(origin);
    aim(this.group, this.force);
    const shaft = Math.max(length - head, 1e-6);
    this.shaft.scale.z = shaft;
    this.shaft.position.z = shaft / 2;
    this.head.position.z = Math.max(length - head / 2, head / 2);
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

const vertexShader = `
varying vec2 place;
uniform vec2 offset;
void main() {
  place = position.xy + offset;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const fragmentShader = `
varying vec2 place;
uniform vec3 colour;
uniform float cell;
uniform float reach;
uniform vec2 offset;
float lines(float spacing, float width) {
  vec2 x = place / spacing;
  vec2 d = fwidth(x);
  vec2 g = abs(fract(x - 0.5) - 0.5) / d;
  float fade = 1.0 - clamp(max(d.x, d.y) * 2.5, 0.0, 1.0);
  return (1.0 - min(min(g.x, g.y) / width, 1.0)) * fade;
}
void main() {
  float distance = length(place - offset) / reach;
  float strength = max(0.45 * lines(cell, 1.1), 0.9 * lines(5.0 * cell, 1.4));
  float fade = pow(max(0.0, 1.0 - distance), 1.6);
  if (strength * fade < 0.004) discard;
  gl_FragColor = vec4(colour, strength * fade);
  #include <colorspace_fragment>
}`;

/** A grid that fades out around the place it is centred on. */
export class Grid {
  readonly mesh: Mesh;
  readonly cell: number;
  private readonly material: ShaderMaterial;
  private readonly inverse: Quaternion;

  constructor(up: Vector3, private readonly height: number, size: number) {
    const decade = 10 ** Math.floor(Math.log10(size * 0.12));
    const ratio = (size * 0.12) / decade;
    this.cell = decade * (ratio < 2 ? 1 : ratio < 5 ? 2 : 5);
    const reach = size * 6;
    this.material = new ShaderMaterial({
      vertexShader,
      fragmentShader,
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
      uniforms: { colour: { value: new Color() }, cell: { value: this.cell }, reach: { value: reach }, offset: { value: { x: 0, y: 0 } } },
    });
    this.mesh = new Mesh(new PlaneGeometry(2 * reach, 2 * reach), this.material);
    this.mesh.renderOrder = -1;
    aim(this.mesh, up);
    this.inverse = this.mesh.quaternion.clone().invert();
  }

  setColour(colour: Color): void {
    (this.material.uniforms.colour as { value: Color }).value.copy(colour);
  }

  /** Keeps the grid under what is looked at; its lines stay where they are. */
  centre(target: Vector3): void {
    const local = target.clone().applyQuaternion(this.inverse);
    (this.material.uniforms.offset as { value: { x: number; y: number } }).value = { x: local.x, y: local.y };
    local.z = this.height;
    this.mesh.position.copy(local.applyQuaternion(this.mesh.quaternion));
  }
}
