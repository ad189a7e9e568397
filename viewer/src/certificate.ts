// What the run's figures mean, in plain words.

import { h } from "./dom";
import type { Result, Summary } from "./format";
import { full, short } from "./numbers";

type Level = "good" | "fair" | "bad" | "plain";

interface Row {
  level: Level;
  label: string;
  figure: string;
  exact: string;
  text: string;
}

interface Warning {
  level: Level;
  topic: string;
  text: string;
}

const part = (summary: Summary, key: string): Record<string, unknown> => {
  const v = summary[key];
  return typeof v === "object" && v !== null && !Array.isArray(v) ? (v as Record<string, unknown>) : {};
};

const number = (v: unknown): number | null => (typeof v === "number" && Number.isFinite(v) ? v : null);

const words = (v: unknown): string => (typeof v === "string" ? v : "");

/** What Bogie calls it, as a colour; a remark is "good" and casts no doubt. */
const levels: Record<string, Level> = { good: "good", doubtful: "fair", bad: "bad" };

/** What was noticed, as the program says it; the page judges nothing by itself. */
function warnings(summary: Summary): Warning[] {
  const list = Array.isArray(summary.warnings) ? (summary.warnings as unknown[]) : [];
  return list.flatMap((w) => {
    if (typeof w !== "object" || w === null) return [];
    const { verdict, topic, text } = w as Record<string, unknown>;
    const level = levels[words(verdict)] ?? "plain";
    return [{ level: level === "good" ? "plain" : level, topic: words(topic), text: words(text) }];
  });
}

/** The level of a figure: that of the worst warning on its topic. */
function judge(summary: Summary, topic: string): Level {
  if (typeof summary.verdict !== "string") return "plain";
  const found = warnings(summary).filter((w) => w.topic === topic);
  return found.some((w) => w.level === "bad") ? "bad" : found.some((w) => w.level === "fair") ? "fair" : "good";
}

function verdict(summary: Summary): Row {
  const word = words(summary.verdict);
  const text = word === "good" ? "Nothing was noticed that speaks against this result." : words(summary.reason) || words(summary.message) || "The data does not say whether the result can be trusted.";
  return { level: levels[word] ?? "plain", label: "Verdict", figure: word || "not given", exact: "", text };
}

/** Warnings beside the one that the verdict gives as its reason. */
const remarks = (summary: Summary): Row[] =>
  warnings(summary)
    .filter((w) => w.text !== summary.reason)
    .map((w) => ({ level: w.level, label: w.level === "plain" ? "Remark" : "Warning", figure: w.topic, exact: "", text: w.text }));

function ending(summary: Summary): Row {
  const status = words(summary.status);
  const message = words(summary.message);
  const t = number(summary.t_end);
  const text = status === "done" ? "The run reached its end." : status === "" ? "The data does not say how the run ended." : `The run ended early (${status})${message ? `: ${message}` : "."}`;
  return { level: judge(summary, "end"), label: "End of the run", figure: t === null ? "–" : `t = ${short(t, 6)} s`, exact: t === null ? "" : full(t), text };
}

function constraint(level: Level, value: unknown, label: string, text: string): Row | null {
  const x = number(value);
  return x === null ? null : { level, label, figure: short(x, 3), exact: full(x), text };
}

function energy(summary: Summary, certificate: Record<string, unknown>): Row {
  const error = number(certificate.energy_error);
  const range = number(certificate.energy_range) ?? number(certificate.energy_scale);
  const label = "Energy balance";
  if (error === null) return { level: "plain", label, figure: "–", exact: "", text: "Not known: the system supplies no energies." };
  const share = range !== null && range > 0 ? ` It is ${short(Math.abs(error) / range, 2)} of the range of the energies, ${short(range, 3)} J.` : "";
  return { level: judge(summary, "energy"), label, figure: `${short(error, 3)} J`, exact: full(error), text: `Energy that appeared or vanished beside the work of the forces.${share}` };
}

function convergence(certificate: Record<string, unknown>): Row | null {
  const n = number(certificate.unconverged_steps);
  if (n === null) return null;
  return { level: n === 0 ? "good" : "plain", label: "Convergence", figure: String(n), exact: String(n), text: n === 0 ? "Every step converged at the first attempt." : "Steps that did not converge were repeated with a smaller step; none was accepted." };
}

function realTime(certificate: Record<string, unknown>): Row | null {
  const x = number(certificate.real_time_factor);
  if (x === null || x <= 0) return null;
  const text = x >= 1 ? `Its processor time is ${short(x, 3)} times shorter than the motion.` : `Its processor time is ${short(1 / x, 3)} times longer than the motion.`;
  return { level: "plain", label: "Speed", figure: `${short(x, 3)}×`, exact: full(x), text };
}

function redundancy(summary: Summary): Row | null {
  const n = number(part(summary, "dimensions").redundant);
  if (!n) return null;
  return { level: "plain", label: "Reactions", figure: `${n} redundant`, exact: String(n), text: "Some constraints repeat others: the motion is unique, single reaction forces are not." };
}

function rows(summary: Summary): Row[] {
  const certificate = part(summary, "certificate");
  const list: (Row | null)[] = [verdict(summary), ...remarks(summary), ending(summary)];
  if (number(part(summary, "dimensions").ng) !== 0) {
    const level = judge(summary, "constraints");
    const closed = level === "good" ? "Joints and loops stay closed." : level === "plain" ? "How far joints and loops open." : "Joints and loops come apart.";
    list.push(
      constraint(level, certificate.max_g, "Position constraints", `${closed} Largest |g|.`),
      constraint("plain", certificate.max_gv, "Velocity constraints", "How far velocities violate the joints. Largest |G v + gₜ|."),
      constraint("plain", certificate.max_ga, "Acceleration constraints", "How far accelerations violate the joints. Largest |G v′ + γ|."),
    );
  }
  if (Object.keys(certificate).length) list.push(energy(summary, certificate), convergence(certificate), realTime(certificate));
  list.push(redundancy(summary));
  return list.filter((v): v is Row => v !== null);
}

const signs: Record<Level, string> = { good: "✓", fair: "!", bad: "✕", plain: "·" };
const names: Record<Level, string> = { good: "good", fair: "doubtful", bad: "bad", plain: "for information" };

/** The verdict in a few words for the header. */
export function makeBadge(result: Result): HTMLElement | null {
  const word = words(result.summary.verdict);
  const level = levels[word];
  if (level === undefined) return null;
  const early = level === "bad" && result.summary.status !== "done";
  return h("a", { class: `badge ${level}`, href: "#certificate", title: words(result.summary.reason), click: scrollToCertificate }, h("span", { "aria-hidden": "true" }, signs[level]), early ? "Bad: ended early" : `Result: ${word}`);
}

function scrollToCertificate(event: Event): void {
  event.preventDefault();
  document.getElementById("certificate")?.scrollIntoView({ behavior: "smooth", block: "start" });
}

export function makeCertificate(result: Result): HTMLElement {
  const items = rows(result.summary).map((v) =>
    h(
      "li",
      { class: `verdict ${v.level}` },
      h("span", { class: "sign", role: "img", "aria-label": names[v.level] }, signs[v.level]),
      h("div", {}, h("div", { class: "verdict-head" }, h("span", {}, v.label), h("b", { title: v.exact }, v.figure)), h("p", {}, v.text)),
    ),
  );
  return h("section", { class: "card", id: "certificate" }, h("h2", {}, "Certificate"), h("ul", { class: "verdicts" }, ...items));
}

const labels: [string, string, string][] = [
  ["", "model", "model"],
  ["", "formulation", "formulation"],
  ["", "integrator", "integrator"],
  ["", "cpu_seconds", "CPU time, s"],
  ["steps", "accepted", "steps accepted"],
  ["steps", "rejected", "steps rejected"],
  ["dimensions", "nq", "positions, nq"],
  ["dimensions", "nv", "velocities, nv"],
  ["dimensions", "nz", "element states, nz"],
  ["dimensions", "ng", "constraints, ng"],
  ["dimensions", "dof", "degrees of freedom"],
  ["dimensions", "redundant", "redundant constraints"],
  ["evaluations", "terms", "evaluations of all terms"],
  ["evaluations", "constraints", "evaluations of constraints alone"],
  ["evaluations", "explicit", "explicit formalism"],
  ["evaluations", "residual", "residual formalism"],
  ["evaluations", "jacobian", "Jacobians"],
  ["evaluations", "jacobian_updates", "Jacobian updates"],
  ["evaluations", "factorisations", "factorisations"],
  ["evaluations", "projections", "projections of the integration"],
  ["event_evaluations", "terms", "for events: evaluations of all terms"],
  ["event_evaluations", "switching", "for events: switching functions alone"],
  ["event_evaluations", "projections", "for events: projections"],
  ["row_evaluations", "terms", "for rows: evaluations of all terms"],
  ["row_evaluations", "projections", "for rows: projections"],
];

export function makeSummary(result: Result): HTMLElement | null {
  const rows = labels.flatMap(([section, key, label]) => {
    const value = section ? part(result.summary, section)[key] : result.summary[key];
    if (section?.endsWith("evaluations") && value === 0) return []; // kinds of work that this method does not do
    if (typeof value === "number") return [pair(label, short(value), full(value))];
    return typeof value === "string" ? [pair(label, value)] : [];
  });
  return rows.length ? h("section", { class: "card" }, h("h2", {}, "Run"), h("table", { class: "pairs" }, h("tbody", {}, ...rows))) : null;
}

export function makeFacts(result: Result): HTMLElement | null {
  if (result.facts.length === 0) return null;
  const isAbout = ([label]: [string, string]): boolean => label === "about";
  const about = paragraphs(result.facts.filter(isAbout).map(([, text]) => text));
  const rows = result.facts.filter((fact) => !isAbout(fact)).map(([label, text]) => pair(label, text));
  return h("section", { class: "card" }, h("h2", {}, "Model"), about ? h("p", { class: "about" }, about) : null, h("table", { class: "pairs" }, h("tbody", {}, ...rows)));
}

/** Lines of a comment, which are broken anywhere, as text that flows: new lines behind full stops and around what is indented. */
export function paragraphs(lines: string[]): string {
  const apart = (before: string, after: string): boolean => /[.:]$/.test(before) || /^\s/.test(before) || /^\s/.test(after);
  return lines.reduce((text, line, k) => text + (k === 0 ? "" : apart(lines[k - 1] as string, line) ? "\n" : " ") + line, "");
}

const pair = (label: string, text: string, title = ""): HTMLElement => h("tr", {}, h("th", { scope: "row" }, label), h("td", { title: title || null }, text));
