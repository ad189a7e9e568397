// From JSON to the types of format.ts. What is missing and can be done without becomes a note; what cannot be done
// without makes the entry unreadable, with the place and the reason. Nothing here trusts its input.

import { LazyArray, Problem } from "./array";
import type {
  Anchor, Axis, Body, Channel, Column, Force, Item, Joint, Page, Paper, Plot, Quaternion, Residuals, Result, Road,
  Row, SceneData, Series, Shape, SimulationEvent, Spring, Steps, Study, Tyre, Value, Vec3, View,
} from "./format";

export const FORMAT = 1;

type Json = Record<string, unknown>;

const isObject = (v: unknown): v is Json => typeof v === "object" && v !== null && !Array.isArray(v);
const text = (v: unknown, or = ""): string => (typeof v === "string" ? v : or);
const number = (v: unknown, or = 0): number => (typeof v === "number" && Number.isFinite(v) ? v : or);
const numberOrNull = (v: unknown): number | null => (typeof v === "number" && Number.isFinite(v) ? v : null);
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
const objects = (v: unknown): Json[] => list(v).filter(isObject);

function vec3(v: unknown, or: Vec3 = [0, 0, 0]): Vec3 {
  const a = list(v);
  return a.length >= 3 ? [number(a[0]), number(a[1]), number(a[2])] : [...or];
}

function quaternion(v: unknown): Quaternion {
  const a = list(v).map((x) => number(x));
  const norm = Math.hypot(...a);
  return a.length === 4 && norm > 0 ? (a.map((x) => x / norm) as Quaternion) : [1, 0, 0, 0];
}

function array(v: unknown, path: string): LazyArray {
  if (!isObject(v)) throw new Problem(`${path} is missing.`);
  const { type, shape, base64 } = v;
  if (type !== "f32" && type !== "f64") throw new Problem(`${path} has the unknown type ${JSON.stringify(type)}; f32 and f64 are known.`);
  if (!Array.isArray(shape) || !shape.every((n) => Number.isInteger(n) && n >= 0)) throw new Problem(`${path} has no valid shape.`);
  if (typeof base64 !== "string") throw new Problem(`${path} has no data (base64).`);
  return new LazyArray(type, shape as number[], base64, path);
}

const optionalArray = (v: unknown, path: string): LazyArray | null => (v === null || v === undefined ? null : array(v, path));

function sameLength(a: LazyArray, b: LazyArray | null, path: string): void {
  if (b && b.length !== a.length) throw new Problem(`${path} has ${b.length} values beside ${a.length} times.`);
}

/** Runs a reader whose part of the page may be left out: a problem becomes a note. */
function attempt<T>(notes: string[], or: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    notes.push(error.message);
    return or;
  }
}

function readShape(v: Json): Shape | null {
  const position = vec3(v.position);
  const rotation = quaternion(v.rotation);
  switch (v.kind) {
    case "box":
      return { kind: "box", position, rotation, size: vec3(v.size) };
    case "cylinder":
      return { kind: "cylinder", position, rotation, radius: number(v.radius), length: number(v.length) };
    case "sphere":
      return { kind: "sphere", position, radius: number(v.radius) };
    case "line":
      return { kind: "line", from: vec3(v.from), to: vec3(v.to) };
    default:
      return null;
  }
}

function readBody(v: Json, i: number): Body {
  return {
    name: text(v.name, i === 0 ? "ground" : `body ${i}`),
    mass: numberOrNull(v.mass),
    shapes: objects(v.shapes).map(readShape).filter((s): s is Shape => s !== null),
    points: objects(v.points).map((p) => ({ name: text(p.name, "point"), position: vec3(p.position) })),
    colour: /^#[0-9a-f]{6}$/i.test(text(v.colour)) ? text(v.colour) : "",
    opacity: Math.min(1, Math.max(0, number(v.opacity, 1))),
    hidden: v.hidden === true,
  };
}

function readView(v: unknown, nbodies: number): View {
  if (!isObject(v)) return { from: null, follow: null, turn: false, camera: "" };
  const from = vec3(v.from);
  const follow = numberOrNull(v.follow);
  return { from: Math.hypot(...from) > 0 ? from : null, follow: follow !== null && Number.isInteger(follow) && follow >= 0 && follow < nbodies ? follow : null, turn: v.turn === true, camera: text(v.camera) };
}

function readRoad(v: unknown): Road | null {
  if (!isObject(v)) return null;
  const profile = list(v.profile)
    .map((p) => list(p).map((x) => number(x, NaN)))
    .filter((p) => p.length === 2 && p.every(Number.isFinite)) as [number, number][];
  if (profile.length < 2) return null;
  const rows = list(v.heights).map((row) => list(row).map((z) => number(z, NaN)));
  const lanes = rows[0]?.length ?? 0;
  const whole = rows.length === profile.length && lanes >= 2 && rows.every((row) => row.length === lanes && row.every(Number.isFinite));
  return { name: text(v.name, "road"), profile, heights: whole ? rows : null, width: number(v.width, 1), y: number(v.y), speed: number(v.speed), start: number(v.start) };
}

function readScene(v: Json, path: string, notes: string[]): SceneData {
  const t = array(v.t, `${path}.t`);
  const poses = array(v.poses, `${path}.poses`);
  const bodies = objects(v.bodies).map(readBody);
  if (bodies.length === 0) throw new Problem(`${path}.bodies is missing or empty.`);
  if (poses.length !== t.length * bodies.length * 7)
    throw new Problem(`${path}.poses has ${poses.length} values; ${t.length} frames of ${bodies.length} bodies need ${t.length * bodies.length * 7}.`);
  const known = (i: unknown): i is number => Number.isInteger(i) && (i as number) >= 0 && (i as number) < bodies.length;
  const anchor = (a: unknown): Anchor | null => (isObject(a) && known(a.body) ? { body: a.body, position: vec3(a.position) } : null);

  const joints = objects(v.joints).flatMap((j): Joint[] => {
    const pair = list(j.bodies);
    if (!known(pair[0]) || !known(pair[1])) return [];
    return [{ name: text(j.name, "joint"), type: text(j.type), bodies: [pair[0], pair[1]], position: vec3(j.position), axis: Array.isArray(j.axis) ? vec3(j.axis) : null, cut: j.cut === true }];
  });
  const springs = objects(v.springs).flatMap((s): Spring[] => {
    const from = anchor(s.from);
    const to = anchor(s.to);
    return from && to ? [{ name: text(s.name, "spring"), type: text(s.type), from, to }] : [];
  });
  const tyres = objects(v.tyres).flatMap((w): Tyre[] =>
    known(w.body) && number(w.radius) > 0
      ? [{ name: text(w.name, "tyre"), body: w.body, position: vec3(w.position), axis: vec3(w.axis, [0, 1, 0]), radius: number(w.radius), width: number(w.width, number(w.radius) * 0.6), flange: Math.sign(number(w.flange)) }]
      : [],
  );
  const force = (f: Json, kind: Force["kind"], name: string, place: string): Force[] => {
    const values = attempt(notes, null, () => optionalArray(f.force, `${path}.${place}.force`));
    return values && known(f.body) && values.length === t.length * 3 ? [{ kind, name, body: f.body, position: vec3(f.position), force: values }] : [];
  };
  const forces = [
    ...objects(v.reactions).flatMap((r, i) => force(r, "reaction", text(r.joint, "joint"), `reactions[${i}]`)),
    ...objects(v.forces).flatMap((f, i) => force(f, f.kind === "tyre" ? "tyre" : "spring", text(f.name, "force"), `forces[${i}]`)),
  ];
  return { up: vec3(v.up, [0, 0, 1]), gravity: vec3(v.gravity), view: readView(v.view, bodies.length), bodies, joints, springs, tyres, road: readRoad(v.road), rightRoad: readRoad(v.right_road), forces, t, poses };
}

function readSteps(v: unknown, path: string): Steps | null {
  if (!isObject(v)) return null;
  const t = array(v.t, `${path}.t`);
  const steps = { t, h: array(v.h, `${path}.h`), order: optionalArray(v.order, `${path}.order`), accepted: optionalArray(v.accepted, `${path}.accepted`) };
  for (const key of ["h", "order", "accepted"] as const) sameLength(t, steps[key], `${path}.${key}`);
  return t.length ? steps : null;
}

function readResiduals(v: unknown, path: string): Residuals | null {
  if (!isObject(v)) return null;
  const t = array(v.t, `${path}.t`);
  const residuals = { t, g: optionalArray(v.g, `${path}.g`), gv: optionalArray(v.gv, `${path}.gv`), ga: optionalArray(v.ga, `${path}.ga`) };
  for (const key of ["g", "gv", "ga"] as const) sameLength(t, residuals[key], `${path}.${key}`);
  return t.length ? residuals : null;
}

function readEvents(v: unknown): SimulationEvent[] {
  return objects(v)
    .filter((e) => Number.isFinite(e.t))
    .map((e) => ({ t: e.t as number, name: text(e.name, "event"), direction: number(e.direction) }))
    .sort((a, b) => a.t - b.t);
}

const place = (v: Record<string, unknown>): { group: string; name: string } => ({ group: text(v.group, "outputs"), name: text(v.name) });

export function readResult(v: unknown, path: string, name: string): Result {
  if (!isObject(v)) throw new Problem(`${path} is not an object; the data is damaged.`);
  const notes: string[] = [];
  const t = array(v.t, `${path}.t`);
  if (!Array.isArray(v.channels)) throw new Problem(`${path}.channels is missing; without it there is nothing to plot.`);
  const channels = objects(v.channels).flatMap((c, i): Channel[] =>
    attempt(notes, [], () => {
      const data = array(c.data, `${path}.channels[${i}].data`);
      sameLength(t, data, `${path}.channels[${i}].data`);
      return [{ name: text(c.name, `channel ${i}`), unit: text(c.unit), group: text(c.group, "outputs"), data }];
    }),
  );
  if (!isObject(v.summary)) notes.push("The result carries no summary, so there is no certificate.");
  return {
    kind: "result",
    name: text(v.name, name),
    summary: isObject(v.summary) ? v.summary : {},
    facts: list(v.facts).flatMap((f): [string, string][] => (Array.isArray(f) && f.length >= 2 ? [[String(f[0]), String(f[1])]] : [])),
    t,
    channels,
    plots: objects(v.plots).map((p) => ({ title: text(p.title), channels: objects(p.channels).map(place), over: isObject(p.over) ? place(p.over) : null, spectrum: p.spectrum === true })),
    steps: attempt(notes, null, () => readSteps(v.steps, `${path}.steps`)),
    residuals: attempt(notes, null, () => readResiduals(v.residuals, `${path}.residuals`)),
    events: readEvents(v.events),
    scene: attempt(notes, null, () => (isObject(v.scene) ? readScene(v.scene, `${path}.scene`, notes) : null)),
    notes,
  };
}

const axis = (v: unknown): Axis => (isObject(v) ? { label: text(v.label), unit: text(v.unit), log: v.log === true } : { label: "", unit: "", log: false });
const value = (v: unknown): Value => (typeof v === "number" || typeof v === "string" || typeof v === "boolean" ? v : null);

function readSeries(v: Json, i: number): Series {
  return {
    name: text(v.name, `series ${i + 1}`),
    x: list(v.x).map(numberOrNull),
    y: list(v.y).map(numberOrNull),
    slope: numberOrNull(v.slope),
    line: v.line !== false,
    points: v.points !== false,
    paper: v.paper === true,
  };
}

function readPaper(v: unknown): Paper | null {
  if (!isObject(v)) return null;
  return { source: text(v.source), columns: list(v.columns).map(String), rows: list(v.rows).filter(Array.isArray).map((r) => (r as unknown[]).map(value)), note: text(v.note) };
}

export function readStudy(v: unknown, path: string, name: string): Study {
  if (!isObject(v)) throw new Problem(`${path} is not an object; the data is damaged.`);
  if (number(v.format, FORMAT) > FORMAT) throw new Problem(newer(path, number(v.format)));
  if (!Array.isArray(v.columns)) throw new Problem(`${path}.columns is missing; without it the table has no meaning.`);
  if (!Array.isArray(v.rows)) throw new Problem(`${path}.rows is missing; the study has no table.`);
  const columns = objects(v.columns).map((c, i): Column => ({ key: text(c.key, `column ${i}`), label: text(c.label, text(c.key, `column ${i}`)), unit: text(c.unit), timing: c.timing === true }));
  const rows = objects(v.rows).map((r, i): Row => ({
    case: numberOrNull(r.case),
    name: text(r.name, `case ${i}`),
    status: text(r.status, "ok"),
    reason: text(r.reason),
    settings: isObject(r.settings) ? r.settings : {},
    values: list(r.values).map(value),
  }));
  const cases = isObject(v.cases) ? v.cases : {};
  const failed = rows.filter((r) => r.status !== "ok").length;
  return {
    kind: "study",
    name: text(v.name, name),
    title: text(v.title, text(v.name, name)),
    text: text(v.text),
    source: text(v.source),
    columns,
    rows,
    paper: readPaper(v.paper),
    plots: objects(v.plots).map((p): Plot => ({ kind: text(p.kind, "lines"), title: text(p.title), x: axis(p.x), y: axis(p.y), series: objects(p.series).map(readSeries) })),
    cases: { total: number(cases.total, rows.length), ok: number(cases.ok, rows.length - failed), failed: number(cases.failed, failed) },
    notes: [],
  };
}

const newer = (what: string, format: number): string =>
  `${what} is written in format ${format}, and this page understands formats up to ${FORMAT}. Write it again with a bogie report of the same version as the program that made the data.`;

function readItem(v: unknown, path: string, name: string, read: (v: unknown, path: string, name: string) => Item): Item {
  try {
    return read(v, path, name);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { kind: "unreadable", name: isObject(v) ? text(v.name, name) : name, problem: error.message };
  }
}

/** Reads the text of the data element. Throws a Problem when there is nothing to show at all. */
export function readPage(json: string): Page {
  let v: unknown;
  try {
    v = JSON.parse(json);
  } catch (error) {
    throw new Problem(`The data in this page is not valid JSON (${(error as Error).message}). The file is probably truncated; write it again with bogie report.`);
  }
  if (v === null) throw new Problem("This page is the empty template: it carries no data. Make a report with: bogie report RESULT.h5 -o page.html");
  if (!isObject(v)) throw new Problem("The data in this page is not an object. Write it again with bogie report.");
  if (typeof v.format !== "number") throw new Problem("The data in this page names no format. Write it again with bogie report.");
  if (v.format > FORMAT) throw new Problem(newer("The data in this page", v.format));
  const items = [
    ...list(v.results).map((r, i) => readItem(r, `results[${i}]`, `result ${i + 1}`, readResult)),
    ...list(v.studies).map((s, i) => readItem(s, `studies[${i}]`, `study ${i + 1}`, readStudy)),
  ];
  if (items.length === 0) throw new Problem("The data in this page holds neither results nor studies. Name at least one file: bogie report RESULT.h5 -o page.html");
  return { title: text(v.title, "Bogie report"), version: text(v.version, "Bogie"), items };
}
