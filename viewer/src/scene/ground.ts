// The ground: a grid with squares of two shades that fades out, and moves with the road where that passes under the vehicle.

import { Color, DoubleSide, Mesh, PlaneGeometry, Quaternion, ShaderMaterial, Vector3 } from "three";
import { aim } from "./materials";

const vertexShader = `
varying vec2 place;
varying vec2 around;
uniform vec2 offset;
void main() {
  around = position.xy;
  place = position.xy + offset;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

// Squares and specks have sizes of the world: they pass by as fast as the vehicle drives.
const fragmentShader = `
varying vec2 place;
varying vec2 around;
uniform vec3 colour;
uniform float cell;
uniform float reach;
float lines(float spacing, float width) {
  vec2 x = place / spacing;
  vec2 d = fwidth(x);
  vec2 g = abs(fract(x - 0.5) - 0.5) / d;
  float fade = 1.0 - clamp(max(d.x, d.y) * 2.5, 0.0, 1.0);
  return (1.0 - min(min(g.x, g.y) / width, 1.0)) * fade;
}
float squares(float spacing) {
  vec2 x = place / spacing;
  vec2 d = fwidth(x);
  vec2 s = clamp((abs(fract(x * 0.5) - 0.5) - 0.25) / max(d, vec2(1e-4)) * 2.0, -0.5, 0.5);
  float fade = 1.0 - clamp(max(d.x, d.y) * 1.5, 0.0, 1.0);
  return (0.5 - 2.0 * s.x * s.y) * fade;
}
void main() {
  float distance = length(around) / reach;
  float strength = max(max(0.45 * lines(cell, 1.1), 0.9 * lines(5.0 * cell, 1.4)), 0.26 * squares(5.0 * cell));
  float fade = pow(max(0.0, 1.0 - distance), 1.6);
  if (strength * fade < 0.004) discard;
  gl_FragColor = vec4(colour, strength * fade);
  #include <colorspace_fragment>
}`;

export class Ground {
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

  /** Keeps the ground under what is looked at; its lines stay where they are, or `travelled` along x. */
  centre(target: Vector3, travelled: number): void {
    const local = target.clone().applyQuaternion(this.inverse);
    const moved = new Vector3(travelled, 0, 0).applyQuaternion(this.inverse);
    // Squares repeat after ten cells: counting from there keeps the digits of a long journey.
    const wrap = (x: number): number => x - Math.floor(x / (10 * this.cell)) * 10 * this.cell;
    (this.material.uniforms.offset as { value: { x: number; y: number } }).value = { x: wrap(local.x + moved.x), y: wrap(local.y + moved.y) };
    local.z = this.height;
    this.mesh.position.copy(local.applyQuaternion(this.mesh.quaternion));
  }
}
