// The data in the page, after reading: every field present, arrays decoded on first use.

import type { LazyArray } from "./array";

export type Vec3 = [number, number, number];
export type Quaternion = [number, number, number, number]; // w, x, y, z

export interface Channel {
  name: string;
  unit: string;
  group: string;
  data: LazyArray;
}

export interface Steps {
  t: LazyArray;
  h: LazyArray;
  order: LazyArray | null;
  accepted: LazyArray | null;
}

export interface Residuals {
  t: LazyArray;
  g: LazyArray | null;
  gv: LazyArray | null;
  ga: LazyArray | null;
}

export interface SimulationEvent {
  t: number;
  name: string;
  direction: number;
}

export type Shape =
  | { kind: "box"; position: Vec3; rotation: Quaternion; size: Vec3 }
  | { kind: "cylinder"; position: Vec3; rotation: Quaternion; radius: number; length: number }
  | { kind: "sphere"; position: Vec3; radius: number }
  | { kind: "line"; from: Vec3; to: Vec3 };

export interface BodyPoint {
  name: string;
  position: Vec3;
}

export interface Body {
  name: string;
  mass: number | null;
  shapes: Shape[];
  points: BodyPoint[];
  colour: string; // "" where the page chooses
  opacity: number;
  hidden: boolean; // itself; what it carries is drawn
}

export interface Joint {
  name: string;
  type: string;
  bodies: [number, number];
  position: Vec3; // in axes of the second body
  axis: Vec3 | null; // in axes of the second body
  cut: boolean;
}

export interface Anchor {
  body: number;
  position: Vec3;
}

export interface Spring {
  name: string;
  type: string;
  from: Anchor;
  to: Anchor;
}

export interface Tyre {
  name: string;
  body: number;
  position: Vec3;
  axis: Vec3;
  radius: number;
  width: number;
  flange: number; // of a wheel on a rail: on which side along the axis, 1 or -1; 0: it has a tyre
}

export interface Road {
  name: string;
  profile: [number, number][];
  heights: number[][] | null; // of every point, evenly from the right edge to the left one; null: the same across
  width: number;
  y: number;
  speed: number; // the road passes under the vehicle: a point of the profile is at x - speed t - start
  start: number;
}

export type ForceKind = "tyre" | "spring" | "reaction";

/** A force on a body: of a joint on its second body, of a spring or a tyre. */
export interface Force {
  kind: ForceKind;
  name: string;
  body: number;
  position: Vec3; // of a tyre: the middle of the wheel
  force: LazyArray; // frames x 3, world axes
}

/** Where the author of the model wants the page to look from. */
export interface View {
  from: Vec3 | null; // direction of the camera
  follow: number | null; // body; 0: none
  turn: boolean; // the camera turns with it
  camera: string; // "driver", or the tyre beside which it stands; "": neither
}

export interface SceneData {
  up: Vec3;
  gravity: Vec3;
  view: View;
  bodies: Body[];
  joints: Joint[];
  springs: Spring[];
  tyres: Tyre[];
  road: Road | null;
  rightRoad: Road | null; // of a road with two sides, of which `road` is the left one
  forces: Force[];
  t: LazyArray;
  poses: LazyArray; // frames x bodies x (x, y, z, qw, qx, qy, qz)
}

export interface Summary {
  [key: string]: unknown;
}

export interface OpeningPlot {
  title: string;
  channels: { group: string; name: string }[];
  over: { group: string; name: string } | null;
  spectrum: boolean;
}

export interface Result {
  kind: "result";
  name: string;
  summary: Summary;
  facts: [string, string][];
  t: LazyArray;
  channels: Channel[];
  plots: OpeningPlot[]; // that the model names, or that were chosen by meaning
  steps: Steps | null;
  residuals: Residuals | null;
  events: SimulationEvent[];
  scene: SceneData | null;
  notes: string[]; // what was missing or unusable, in sentences
}

export type Value = number | string | boolean | null;

export interface Column {
  key: string;
  label: string;
  unit: string;
  timing: boolean;
}

export interface Row {
  case: number | null;
  name: string;
  status: string;
  reason: string;
  settings: Record<string, unknown>;
  values: Value[];
}

export interface Paper {
  source: string;
  columns: string[];
  rows: Value[][];
  note: string;
}

export interface Axis {
  label: string;
  unit: string;
  log: boolean;
}

export interface Series {
  name: string;
  x: (number | null)[];
  y: (number | null)[];
  slope: number | null;
  line: boolean;
  points: boolean;
  paper: boolean;
}

export interface Plot {
  kind: string;
  title: string;
  x: Axis;
  y: Axis;
  series: Series[];
}

export interface Study {
  kind: "study";
  name: string;
  title: string;
  text: string;
  source: string;
  columns: Column[];
  rows: Row[];
  paper: Paper | null;
  plots: Plot[];
  cases: { total: number; ok: number; failed: number };
  notes: string[];
}

/** An entry that could not be read; the others are still shown. */
export interface Unreadable {
  kind: "unreadable";
  name: string;
  problem: string;
}

export type Item = Result | Study | Unreadable;

export interface Page {
  title: string;
  version: string;
  items: Item[];
}
