// The look: matt surfaces, thin dark edges, colours for light and dark ground.

import { BackSide, Color, DoubleSide, LineBasicMaterial, MeshLambertMaterial, type Object3D, Mesh, BufferGeometry, CylinderGeometry, EdgesGeometry, LineSegments, Vector3, Quaternion } from "three";

export interface Look {
  background: Color;
  grid: Color;
  ground: Color;
  road: Color;
  band: Color;
  edge: Color;
  glyph: Color;
}

export const looks: { light: Look; dark: Look } = {
  light: {
    background: new Color("#f4f6f8"),
    grid: new Color("#b9c1cc"),
    ground: new Color("#aeb6c1"),
    road: new Color("#b9bec6"),
    band: new Color("#8d949f"),
    edge: new Color("#1d2530"),
    glyph: new Color("#3a4350"),
  },
  dark: {
    background: new Color("#12161c"),
    grid: new Color("#3c4552"),
    ground: new Color("#5d6775"),
    road: new Color("#464d58"),
    band: new Color("#6b7480"),
    edge: new Color("#05070a"),
    glyph: new Color("#c9d1dc"),
  },
};

/** Materials shared by many objects; `apply` recolours them for a theme. */
export class Materials {
  /** Segments of round parts: fewer where the level of detail is reduced. */
  readonly round = (segments: number): number => (this.reduced ? Math.max(4, Math.round(segments * 0.45)) : segments);
  readonly ground = new MeshLambertMaterial();
  readonly road = new MeshLambertMaterial({ fog: true, side: DoubleSide });
  readonly roadBand = new MeshLambertMaterial({ fog: true, side: DoubleSide, transparent: true, opacity: 0.45, depthWrite: false });
  readonly roadLine = new LineBasicMaterial({ fog: true, transparent: true, opacity: 0.4 });
  readonly edge = new LineBasicMaterial({ transparent: true, opacity: 0.32, fog: false });
  readonly glyph = matt("#3a4350");
  readonly cut = matt("#d9822b");
  readonly rubber = matt("#2b2f36");
  readonly tread = matt("#454b55");
  readonly rim = matt("#c3c9d1");
  readonly wheel = new MeshLambertMaterial({ color: "#8b939f", fog: false, side: DoubleSide });
  readonly rimInside = new MeshLambertMaterial({ color: "#aab1bb", fog: false, side: BackSide });
  readonly marker = matt("#f2c230");
  readonly spring = matt("#d8475a");
  readonly damper = matt("#7f8a99");
  readonly rod = matt("#c9cfd8");
  readonly bushing = matt("#8a6fb8");

  constructor(readonly reduced = false) {}

  apply(look: Look): void {
    this.ground.color.copy(look.ground);
    this.road.color.copy(look.road);
    this.roadLine.color.copy(look.glyph);
    this.roadBand.color.copy(look.band);
    this.edge.color.copy(look.edge);
    this.glyph.color.copy(look.glyph);
  }
}

export const matt = (colour: string): MeshLambertMaterial => new MeshLambertMaterial({ color: colour, fog: false });

/** For what must be seen although it is inside a body: drawn last and over everything. */
export const onTop = (colour: string): MeshLambertMaterial => new MeshLambertMaterial({ color: colour, emissive: colour, emissiveIntensity: 0.35, fog: false, depthTest: false, transparent: true });

/** A mesh, with its edges drawn when they help. */
export function solid(geometry: BufferGeometry, material: MeshLambertMaterial, edges: LineBasicMaterial | null = null): Mesh {
  const mesh = new Mesh(geometry, material);
  if (edges) mesh.add(new LineSegments(new EdgesGeometry(geometry, 35), edges));
  return mesh;
}

const up = new Vector3(0, 0, 1);

/** A cylinder about the local z axis, centred. */
export function cylinderGeometry(radius: number, length: number, segments = 32, top = radius): CylinderGeometry {
  return new CylinderGeometry(top, radius, length, segments).rotateX(Math.PI / 2) as CylinderGeometry;
}

/** Turns the local z axis of an object into the direction. */
export function aim(object: Object3D, direction: Vector3): void {
  object.quaternion.copy(rotationTo(direction));
}

export function rotationTo(direction: Vector3): Quaternion {
  const length = direction.length();
  return length > 0 ? new Quaternion().setFromUnitVectors(up, direction.clone().divideScalar(length)) : new Quaternion();
}

export function rod(from: Vector3, to: Vector3, radius: number, material: MeshLambertMaterial, segments = 14): Mesh {
  const d = to.clone().sub(from);
  const mesh = solid(cylinderGeometry(radius, Math.max(d.length(), 1e-9), segments), material);
  mesh.position.copy(from).addScaledVector(d, 0.5);
  aim(mesh, d);
  return mesh;
}
