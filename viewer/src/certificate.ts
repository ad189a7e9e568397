// What the run's figures mean, in plain words.

import { h } from "./dom";
import type { Result, Summary } from "./format";
import { full, short } from "./numbers";

type Level = "good" | "fair" | "bad" | "plain";

interface Verdict {
  level: Level;
  label: string;
  figure: string;
  exact: string;
  text: string;
}

const part = (summary: Summary, key: string): Record<string, unknown> => {
  const v = summary[key];
  return typeof v === "object" && v !== null && !Array.isArray(v) ? (v as Record<string, unknown>) : {};
};

const number = (v: unknown): number | null => (typeof v === "number" && Number.isFinite(v) ? v : null);

const judge = (x: number, good: number, fair: number): Level => (x <= good ? "good" : x <= fair ? "fair" : "bad");

const words = (level: Level, good: string, fair: string, bad: string): string => (level === "good" ? good : level === "fair" ? fair : bad);

function ending(summary: Summary): Verdict {
  const status = typeof summary.status === "string" ? summary.status : "";
  const message = typeof summary.message === "string" ? summary.message : "";
  const t = number(summary.t_end);
  const reached = t === null ? "" : `t = ${short(t, 6)} s`;
  const row = (level: Level, text: string): Verdict => ({ level, label: "End of the run", figure: reached || "–", exact: t === null ? "" : full(t), text });
  if (status === "done") return row("good", "The run reached its end.");
  if (status === "stopped") return row("fair", "The run was stopped on request before its end.");
  if (status === "") return row("plain", "The data does not say how the run ended.");
  return row("bad", `The run ended early (${status})${message ? `: ${message}` : "."}`);
}

function constraint(value: unknown, label: string, symbol: string, good: number, fair: number, texts: [string, string, string]): Verdict | null {
  const x = number(value);
  if (x === null) return null;
  const level = judge(x, good, fair);
  return { level, label, figure: short(x, 3), exact: full(x), text: `${words(level, ...texts)} Largest ${symbol}.` };
}

function energy(certificate: Record<string, unknown>): Verdict {
  const error = number(certificate.energy_error);
  const scale = number(certificate.energy_scale);
  const label = "Energy balance";
  if (error === null) return { level: "plain", label, figure: "–", exact: "", text: "Not known: the system supplies no energies." };
  const size = Math.abs(error);
  const figure = `${short(error, 3)} J`;
  if (scale === null || scale <= 0) return { level: "plain", label, figure, exact: full(error), text: "Energy that appeared or vanished beside the work of the forces." };
  const level = judge(size / scale, 1e-5, 1e-2);
  const text = words(level, "The books balance", "A small part of the energy is unaccounted for", "A large part of the energy is unaccounted for; tighten the tolerances");
  return { level, label, figure, exact: full(error), text: `${text}: the error is ${short(size / scale, 2)} of the largest energy, ${short(scale, 3)} J.` };
}

function convergence(certificate: Record<string, unknown>): Verdict | null {
  const n = number(certificate.unconverged_steps);
  if (n === null) return null;
  return { level: n === 0 ? "good" : "plain", label: "Convergence", figure: String(n), exact: String(n), text: n === 0 ? "Every step converged at the first attempt." : "Steps that did not converge were repeated with a smaller step; none was accepted." };
}

function realTime(certificate: Record<string, unknown>): Verdict | null {
  const x = number(certificate.real_time_factor);
  if (x === null || x <= 0) return null;
  const text = x >= 1 ? `Computed ${short(x, 3)} times faster than the motion takes.` : `Computed ${short(1 / x, 3)} times slower than the motion takes.`;
  return { level: "plain", label: "Speed", figure: `${short(x, 3)}×`, exact: full(x), text };
}

function redundancy(summary: Summary): Verdict | null {
  const n = number(part(summary, "dimensions").redundant);
  if (!n) return null;
  return { level: "fair", label: "Reactions", figure: `${n} redundant`, exact: String(n), text: "Some constraints repeat others: the motion is unique, single reaction forces are not." };
}

function verdicts(summary: Summary): Verdict[] {
  const certificate = part(summary, "certificate");
  const constrained = number(part(summary, "dimensions").ng) !== 0;
  const rows: (Verdict | null)[] = [ending(summary)];
  if (constrained) {
    rows.push(
      constraint(certificate.max_g, "Position constraints", "|g|", 1e-6, 1e-3, ["Joints and loops stay closed.", "Joints and loops open a little; fine for a picture, check before using reactions.", "Joints or loops come apart visibly; do not trust this run."]),
      constraint(certificate.max_gv, "Velocity constraints", "|G v + gₜ|", 1e-5, 1e-2, ["Velocities respect the joints.", "Velocities violate the joints a little.", "Velocities violate the joints; do not trust this run."]),
      constraint(certificate.max_ga, "Acceleration constraints", "|G v′ + γ|", 1e-4, 1e-1, ["Accelerations and reactions are consistent.", "Accelerations are slightly inconsistent; reactions may be noisy.", "Accelerations are inconsistent; reactions are not reliable."]),
    );
  }
  if (Object.keys(certificate).length) rows.push(energy(certificate), convergence(certificate), realTime(certificate));
  rows.push(redundancy(summary));
  return rows.filter((v): v is Verdict => v !== null);
}

const signs: Record<Level, string> = { good: "✓", fair: "!", bad: "✕", plain: "·" };
const names: Record<Level, string> = { good: "good", fair: "take note", bad: "problem", plain: "for information" };

/** The verdict in a few words for the header. */
export function makeBadge(result: Result): HTMLElement | null {
  const rows = verdicts(result.summary);
  if (typeof result.summary.status !== "string") return null;
  const level: Level = rows.some((v) => v.level === "bad") ? "bad" : rows.some((v) => v.level === "fair") ? "fair" : "good";
  const text = level === "good" ? "Certificate: all good" : level === "fair" ? "Certificate: take note" : result.summary.status === "done" ? "Certificate: problem" : "Run ended early";
  return h("a", { class: `badge ${level}`, href: "#certificate", click: scrollToCertificate }, h("span", { "aria-hidden": "true" }, signs[level]), text);
}

function scrollToCertificate(event: Event): void {
  event.preventDefault();
  document.getElementById("certificate")?.scrollIntoView({ behavior: "smooth", block: "start" });
}

export function makeCertificate(result: Result): HTMLElement {
  const rows = verdicts(result.summary).map((v) =>
    h(
      "li",
      { class: `verdict ${v.level}` },
      h("span", { class: "sign", role: "img", "aria-label": names[v.level] }, signs[v.level]),
      h("div", {}, h("div", { class: "verdict-head" }, h("span", {}, v.label), h("b", { title: v.exact }, v.figure)), h("p", {}, v.text)),
    ),
  );
  return h("section", { class: "card", id: "certificate" }, h("h2", {}, "Certificate"), h("ul", { class: "verdicts" }, ...rows));
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
  ["evaluations", "explicit", "explicit formalism"],
  ["evaluations", "residual", "residual formalism"],
  ["evaluations", "jacobian", "Jacobians"],
  ["evaluations", "jacobian_updates", "Jacobian updates"],
  ["evaluations", "factorisations", "factorisations"],
  ["evaluations", "projections", "projections of the integration"],
  ["evaluations", "event_projections", "projections for events"],
  ["evaluations", "output_projections", "projections for output"],
];

export function makeSummary(result: Result): HTMLElement | null {
  const rows = labels.flatMap(([section, key, label]) => {
    const value = section ? part(result.summary, section)[key] : result.summary[key];
    if (section === "evaluations" && value === 0) return []; // kinds of work that this method does not do
    if (typeof value === "number") return [pair(label, short(value), full(value))];
    return typeof value === "string" ? [pair(label, value)] : [];
  });
  return rows.length ? h("section", { class: "card" }, h("h2", {}, "Run"), h("table", { class: "pairs" }, h("tbody", {}, ...rows))) : null;
}

export function makeFacts(result: Result): HTMLElement | null {
  if (result.facts.length === 0) return null;
  return h("section", { class: "card" }, h("h2", {}, "Model"), h("table", { class: "pairs" }, h("tbody", {}, ...result.facts.map(([label, text]) => pair(label, text)))));
}

const pair = (label: string, text: string, title = ""): HTMLElement => h("tr", {}, h("th", { scope: "row" }, label), h("td", { title: title || null }, text));
