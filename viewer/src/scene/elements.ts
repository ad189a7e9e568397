// Joints, springs, tyres and the road.

import {
  BoxGeometry, BufferAttribute, BufferGeometry, CatmullRomCurve3, CylinderGeometry, Group, LatheGeometry, Line, LineSegments, Mesh, OctahedronGeometry,
  RingGeometry, SphereGeometry,
  TorusGeometry, TubeGeometry, Vector2, Vector3,
} from "three";
import type { Joint, Road, Spring, Tyre } from "../format";
import { aim, cylinderGeometry, solid, type Materials } from "./materials";
import { mergeGroup } from "./merge";

/** A small sign for the kind of joint, in axes of its second body. */
export function makeJoint(joint: Joint, materials: Materials, size: number): Group {
  const group = new Group();
  const r = 0.014 * size;
  const n = materials.round;
  const material = joint.cut ? materials.cut : materials.glyph;
  const pin = (): Mesh => solid(cylinderGeometry(r * 0.8, r * 4.4, n(20)), material);
  const turned = (mesh: Mesh): Mesh => {
    mesh.rotateX(Math.PI / 2);
    return mesh;
  };
  switch (joint.type) {
    case "revolute":
      group.add(pin(), solid(new TorusGeometry(r * 1.35, r * 0.35, n(10), n(28)), material));
      break;
    case "cylindrical":
    case "screw":
      group.add(solid(cylinderGeometry(r * 0.6, r * 7, n(20)), material), solid(cylinderGeometry(r * 1.2, r * 2.5, n(24)), material));
      break;
    case "prismatic":
      group.add(solid(new BoxGeometry(r * 0.9, r * 0.9, r * 7), material), solid(new BoxGeometry(r * 2.1, r * 2.1, r * 2.6), material));
      break;
    case "universal":
      group.add(pin(), turned(pin()));
      break;
    case "spherical":
      group.add(solid(new SphereGeometry(r * 1.35, n(22), n(14)), material));
      break;
    case "fixed":
      group.add(solid(new BoxGeometry(r * 2, r * 2, r * 2), material));
      break;
    case "free": // and joints that only say from where coordinates count
    case "track":
    case "cardan":
    case "cardan-held":
    case "rolling":
      break;
    default:
      group.add(solid(new OctahedronGeometry(r * 1.5), material));
  }
  mergeGroup(group);
  group.position.set(...joint.position);
  if (joint.axis) aim(group, new Vector3(...joint.axis));
  return group;
}

function helix(length: number, radius: number, turns: number, wire: number, n: (segments: number) => number): TubeGeometry {
  const points: Vector3[] = [];
  const perTurn = n(14);
  const count = turns * perTurn;
  const lead = 0.09;
  points.push(new Vector3(0, 0, 0));
  for (let i = 0; i <= count; i++) {
    const angle = (2 * Math.PI * i) / perTurn;
    const grow = Math.min(1, i / (perTurn / 2), (count - i) / (perTurn / 2)); // winds out of the axis and back into it
    points.push(new Vector3(radius * grow * Math.cos(angle), radius * grow * Math.sin(angle), length * (lead + (1 - 2 * lead) * (i / count))));
  }
  points.push(new Vector3(0, 0, length));
  return new TubeGeometry(new CatmullRomCurve3(points, false, "centripetal"), count * 2, wire, n(7));
}

/** A spring between two moving points: `place` stretches it. */
export class SpringView {
  readonly group = new Group();
  private readonly length: number;
  private readonly stretch: Group = new Group();
  private readonly tube: Mesh | null = null;
  private readonly piston: Mesh | null = null;
  private readonly direction = new Vector3();

  constructor(readonly spring: Spring, length: number, materials: Materials, size: number) {
    this.length = Math.max(length, 1e-6 * size);
    const radius = Math.min(0.035 * size, 0.22 * Math.max(length, 0.05 * size));
    const type = spring.type;
    if (type.includes("bushing")) {
      this.stretch.add(this.centred(solid(cylinderGeometry(radius * 0.8, this.length, materials.round(24)), materials.bushing)));
    } else if (type.includes("spring") || type === "") {
      const turns = Math.round(Math.min(12, Math.max(5, this.length / (radius * 0.8))));
      this.stretch.add(solid(helix(this.length, radius, turns, radius * 0.15, materials.round), materials.spring));
    } else if (!type.includes("damper")) {
      this.stretch.add(this.centred(solid(cylinderGeometry(radius * 0.15, this.length, materials.round(12)), materials.spring)));
    }
    this.group.add(this.stretch);
    if (type.includes("damper")) {
      this.tube = this.centred(solid(cylinderGeometry(radius * 0.45, this.length * 0.5, materials.round(24)), materials.damper), this.length * 0.25);
      this.piston = solid(cylinderGeometry(radius * 0.18, 1, materials.round(14)), materials.rod);
      this.group.add(this.tube, this.piston);
    }
    this.group.traverse((o) => (o.userData.label = spring.name));
  }

  private centred(mesh: Mesh, z = this.length / 2): Mesh {
    mesh.position.z = z;
    return mesh;
  }

  place(from: Vector3, to: Vector3): void {
    this.direction.copy(to).sub(from);
    const length = this.direction.length();
    this.group.visible = Number.isFinite(length) && length > 0;
    if (!this.group.visible) return;
    this.group.position.copy(from);
    aim(this.group, this.direction);
    this.stretch.scale.z = length / this.length;
    if (this.piston) {
      const start = Math.min(this.length * 0.3, length * 0.3);
      this.piston.scale.z = length - start;
      this.piston.position.z = (start + length) / 2;
    }
    if (this.tube) {
      const z = Math.min(1, length / (0.5 * this.length));
      this.tube.scale.z = z;
      this.tube.position.z = this.length * 0.25 * z;
    }
  }
}

/** A band seen from inside, between two flat rings. */
function makeRim(radius: number, width: number, materials: Materials): Mesh[] {
  const band = new Mesh(new CylinderGeometry(radius * 0.9, radius * 0.9, width, materials.round(56), 1, true).rotateX(Math.PI / 2), materials.rimInside);
  const rings = [-1, 1].map((side) => {
    const ring = new Mesh(new RingGeometry(radius * 0.9, radius * 1.02, materials.round(56)), materials.rim);
    ring.position.z = (side * width) / 2;
    if (side < 0) ring.rotation.y = Math.PI;
    return ring;
  });
  return [band, ...rings];
}

/** Tyre, rim and spokes about the wheel's axis, so that its rotation can be seen. */
/** A wheel, turning about its axis, at its place on its body. */
export function makeWheel(tyre: Tyre, materials: Materials): Group {
  const group = tyre.flange ? makeRailWheel(tyre, materials) : makeTyre(tyre, materials);
  mergeGroup(group);
  group.position.set(...tyre.position);
  aim(group, new Vector3(...tyre.axis));
  group.traverse((o) => (o.userData.label = tyre.name));
  return group;
}

/** Tread, flange and a thinner web, in the measures of wheels in use beside the radius; one mark shows that it turns. */
function makeRailWheel({ radius: R, width: W, flange }: Tyre, materials: Materials): Group {
  const group = new Group();
  const side = (x: number): number => x * flange * W; // from the tape circle towards the flange
  const outline = [[0.1, 0.62], [0.1, 0.12], [0.84, 0.12], [0.86, -0.5], [0.985, -0.5], [1, 0], [1.02, 0.3], [1.055, 0.36], [1.06, 0.45], [1.045, 0.5], [0.86, 0.5], [0.84, 0.3], [0.25, 0.3], [0.25, 0.62], [0.1, 0.62]];
  const points = outline.map(([r, x]) => new Vector2((r as number) * R, side(x as number)));
  const wheel = solid(new LatheGeometry(flange > 0 ? points : points.reverse(), materials.round(64)).rotateX(Math.PI / 2), materials.wheel);
  const mark = solid(new BoxGeometry(0.34 * R, 0.05 * R, 0.02 * W), materials.marker);
  mark.position.set(0.55 * R, 0, side(0.115));
  group.add(wheel, mark);
  return group;
}

function makeTyre(tyre: Tyre, materials: Materials): Group {
  const group = new Group();
  const { radius: R, width: W } = tyre;
  const rim = 0.66 * R;
  const shoulder = Math.min(0.35 * W, 0.16 * R);
  const outline: Vector2[] = [new Vector2(rim, -W * 0.42), new Vector2(rim + 0.05 * R, -W / 2), new Vector2(R - shoulder, -W / 2)];
  for (let i = 1; i <= 6; i++) {
    const angle = ((Math.PI / 2) * i) / 6;
    outline.push(new Vector2(R - shoulder + shoulder * Math.sin(angle), -W / 2 + shoulder * (1 - Math.cos(angle))));
  }
  const closed = [...outline, ...outline.map((p) => new Vector2(p.x, -p.y)).reverse()];
  const rubber = solid(new LatheGeometry([...closed, closed[0] as Vector2], materials.round(64)).rotateX(Math.PI / 2), materials.rubber);
  group.add(rubber);
  for (const y of [-0.22, 0.22]) {
    const groove = solid(new TorusGeometry(R * 1.0005, 0.012 * R, materials.round(6), materials.round(64)), materials.tread);
    groove.position.z = y * W;
    group.add(groove);
  }
  group.add(...makeRim(rim, W * 0.86, materials), solid(cylinderGeometry(0.16 * R, W * 0.62, materials.round(28)), materials.rim));
  const spokes = 5;
  for (let i = 0; i < spokes; i++) {
    const holder = new Group();
    const spoke = solid(new BoxGeometry(rim * 0.86, 0.13 * R, W * 0.34), materials.rim);
    spoke.position.x = rim * 0.5;
    holder.add(spoke);
    holder.rotation.z = (2 * Math.PI * i) / spokes;
    group.add(holder);
  }
  const valve = solid(new BoxGeometry(0.1 * R, 0.05 * R, W * 1.012), materials.marker);
  valve.position.x = Math.min(rim + 0.16 * R, R - shoulder - 0.06 * R);
  group.add(valve);
  return group;
}

/** The road as a band along x with sides; the group is moved when the road passes under the vehicle. */
export function makeRoad(road: Road, materials: Materials, size: number): Group {
  const group = new Group();
  const rows = rowsOf(road);
  const bottom = rows.reduce((low, row) => row.z.reduce((l, z) => Math.min(l, z), low), Infinity) - 0.03 * size;
  const positions: number[] = [];
  rows.slice(1).forEach((b, i) => {
    const a = rows[i] as Row;
    const last = a.z.length - 1;
    const corner = (row: Row, k: number, z = row.z[k] as number): number[] => [row.x, lane(road, last, k), z];
    for (let k = 0; k < last; k++) quad(positions, corner(a, k), corner(b, k), corner(b, k + 1), corner(a, k + 1));
    quad(positions, corner(a, 0, bottom), corner(b, 0, bottom), corner(b, 0), corner(a, 0));
    quad(positions, corner(b, last, bottom), corner(a, last, bottom), corner(a, last), corner(b, last));
  });
  group.add(new Mesh(surface(positions), materials.road));
  for (const edge of [0, 1]) {
    const points = rows.map((row) => new Vector3(row.x, lane(road, 1, edge), (row.z[edge * (row.z.length - 1)] as number) + 0.001 * size));
    group.add(new Line(new BufferGeometry().setFromPoints(points), materials.roadLine));
  }
  group.add(distanceMarks(road, rows, materials, size), bands(road, rows, materials, size));
  group.traverse((o) => (o.userData.label = road.name));
  return group;
}

/** Heights at a place along the road, evenly from the right edge to the left one. */
interface Row {
  x: number;
  z: number[];
}

const rowsOf = (road: Road): Row[] => road.profile.map(([x, z], i) => ({ x, z: road.heights?.[i] ?? [z, z] }));

/** Where the k-th of last + 1 lines along the road runs. */
const lane = (road: Road, last: number, k: number): number => road.y + (k / last - 0.5) * road.width;

/** The row between two others. */
const between = (a: Row, b: Row, x: number): Row => {
  const share = b.x > a.x ? (x - a.x) / (b.x - a.x) : 1;
  return { x, z: a.z.map((z, k) => z + share * ((b.z[k] as number) - z)) };
};

const quad = (positions: number[], a: number[], b: number[], c: number[], d: number[]): void => {
  for (const p of [a, b, c, a, c, d]) positions.push(p[0] as number, p[1] as number, p[2] as number);
};

function surface(positions: number[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(positions), 3));
  geometry.computeVertexNormals();
  return geometry;
}

const markSpacing = (road: Road, size: number): number => {
  const length = (road.profile[road.profile.length - 1] as [number, number])[0] - (road.profile[0] as [number, number])[0];
  return Math.max(10 ** Math.ceil(Math.log10(0.3 * size)) / 2, length / 2000);
};

/** Every other stretch between two marks in another shade: the road is seen to pass. */
function bands(road: Road, rows: Row[], materials: Materials, size: number): Mesh {
  const spacing = markSpacing(road, size);
  const positions: number[] = [];
  const lift = 0.0008 * size; // below the lines, above the road
  rows.slice(1).forEach((end, i) => {
    const begin = rows[i] as Row;
    if (!(end.x > begin.x)) return;
    for (let k = Math.floor(begin.x / spacing); k * spacing < end.x; k++) {
      const [a, b] = [between(begin, end, Math.max(begin.x, k * spacing)), between(begin, end, Math.min(end.x, (k + 1) * spacing))];
      if (k % 2 !== 0 || !(b.x > a.x)) continue;
      const last = a.z.length - 1;
      const corner = (row: Row, j: number): number[] => [row.x, lane(road, last, j), (row.z[j] as number) + lift];
      for (let j = 0; j < last; j++) quad(positions, corner(a, j), corner(b, j), corner(b, j + 1), corner(a, j + 1));
    }
  });
  return new Mesh(surface(positions), materials.roadBand);
}

/** Thin lines across the road, so that its speed can be seen and steps stand out. */
function distanceMarks(road: Road, rows: Row[], materials: Materials, size: number): LineSegments {
  const [first, last] = [(rows[0] as Row).x, (rows[rows.length - 1] as Row).x];
  const spacing = markSpacing(road, size);
  const points: Vector3[] = [];
  let i = 0;
  // In pieces: of a line that passes behind the camera some renderers draw nothing at all.
  const fewest = Math.min(64, Math.max(1, Math.ceil(road.width / (0.4 * size))));
  const across = (row: Row): void => {
    const lanes = row.z.length - 1;
    const pieces = lanes > 1 ? lanes : fewest;
    const point = (k: number): Vector3 => {
      const height = lanes > 1 ? row.z[k] : row.z[0];
      return new Vector3(row.x, lane(road, pieces, k), (height as number) + 0.001 * size);
    };
    for (let k = 0; k < pieces; k++) points.push(point(k), point(k + 1));
  };
  for (let x = Math.ceil(first / spacing) * spacing; x <= last; x += spacing) {
    while (i + 2 < rows.length && (rows[i + 1] as Row).x < x) i++;
    across(between(rows[i] as Row, rows[i + 1] as Row, x));
  }
  rows.slice(1).forEach((row, j) => {
    const before = rows[j] as Row;
    if (Math.abs(before.x - row.x) < 1e-9 && before.z[0] !== row.z[0]) {
      across(before);
      across(row);
    }
  });
  return new LineSegments(new BufferGeometry().setFromPoints(points), materials.roadLine);
}
