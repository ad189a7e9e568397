// Tables of studies: sortable, with all digits at hand, failed cases with their reason.

import { download, h, icon, iconButton, scrollBox } from "./dom";
import type { Column, Paper, Row, Study, Value } from "./format";
import { full, short } from "./numbers";

const firstRows = 300;

function cell(value: Value): HTMLElement {
  if (value === null || value === undefined) return h("td", { class: "none", title: "no value" }, "–");
  if (typeof value === "number") return h("td", { class: "number", title: full(value), "data-value": full(value) }, short(value));
  return h("td", { title: String(value) }, String(value));
}

/** Missing values go to the end whichever way the column is sorted. */
function compare(a: Value | undefined, b: Value | undefined, sign: number): number {
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
  if (b === null || b === undefined) return -1;
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

export class StudyTable {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly heads: HTMLTableCellElement[] = [];
  private readonly more = h("div", { class: "more" });
  private sortColumn = -2; // -2: as in the study, -1: by name, else by value
  private sign = 1;
  private limit = firstRows;
  private wanted = "";

  constructor(private readonly study: Study) {
    const head = h("tr", {}, this.head("case", -1, ""), ...study.columns.map((c, i) => this.head(c.label, i, c.unit, c.timing)));
    const search = h("input", { type: "search", placeholder: "Filter cases", "aria-label": "Filter cases" });
    search.addEventListener("input", () => {
      this.wanted = search.value.trim().toLowerCase();
      this.fill();
    });
    const { total, failed } = study.cases;
    this.element = h(
      "section",
      { class: "card table-card own" },
      h(
        "div",
        { class: "toolbar" },
        h("h2", {}, "Bogie's results"),
        h("span", { class: "pill" }, `${total} ${total === 1 ? "case" : "cases"}`),
        failed ? h("span", { class: "pill bad" }, `${failed} failed`) : null,
        h("span", { class: "spring" }),
        study.rows.length > 12 ? search : null,
        iconButton("save", "Save the table as CSV", () => download(`${study.name}.csv`, new Blob([toCsv(study)], { type: "text/csv" })), "CSV"),
      ),
      scrollBox("table-scroll", "Table of cases", h("table", { class: "data" }, h("thead", {}, head), this.body)),
      this.more,
      study.columns.some((c) => c.timing) ? h("p", { class: "hint" }, icon("clock"), " Times of the computer that ran the study; they differ from run to run.") : null,
    );
    this.fill();
  }

  private head(label: string, index: number, unit: string, timing = false): HTMLElement {
    const button = h("button", { type: "button", title: `Sort by ${label}`, click: () => this.sort(index) }, timing ? icon("clock") : null, label, unit && h("span", { class: "unit" }, unit), h("span", { class: "arrow", "aria-hidden": "true" }));
    const th = h("th", { scope: "col", class: this.isText(index) ? "text" : null }, button);
    this.heads[index + 1] = th;
    return th;
  }

  private isText(index: number): boolean {
    return index < 0 || this.study.rows.some((r) => typeof r.values[index] === "string");
  }

  /** Up, down, then back to the study's own order. */
  private sort(index: number): void {
    if (this.sortColumn !== index) [this.sortColumn, this.sign] = [index, 1];
    else if (this.sign === 1) this.sign = -1;
    else [this.sortColumn, this.sign] = [-2, 1];
    this.fill();
  }

  private rows(): Row[] {
    const rows = this.study.rows.filter((r) => !this.wanted || `${r.name} ${r.reason} ${r.status}`.toLowerCase().includes(this.wanted));
    if (this.sortColumn === -2) return rows;
    const key = (r: Row): Value | undefined => (this.sortColumn === -1 ? r.name : r.values[this.sortColumn]);
    return [...rows].sort((a, b) => compare(key(a), key(b), this.sign));
  }

  private fill(): void {
    this.heads.forEach((th, i) => {
      const active = i - 1 === this.sortColumn;
      th.setAttribute("aria-sort", !active ? "none" : this.sign > 0 ? "ascending" : "descending");
      (th.querySelector(".arrow") as HTMLElement).textContent = !active ? "" : this.sign > 0 ? " ▲" : " ▼";
    });
    const rows = this.rows();
    this.body.replaceChildren(...rows.slice(0, this.limit).map((r) => this.row(r)));
    if (rows.length === 0) this.body.append(h("tr", {}, h("td", { colspan: this.study.columns.length + 1, class: "none" }, this.study.rows.length ? "No case matches." : "The study has no cases.")));
    this.more.replaceChildren();
    if (rows.length > this.limit)
      this.more.append(h("button", { type: "button", class: "button", click: () => this.showAll() }, `Show all ${rows.length} cases (${this.limit} shown)`));
  }

  private showAll(): void {
    this.limit = Infinity;
    this.fill();
  }

  private row(row: Row): HTMLElement {
    const settings = Object.entries(row.settings).map(([k, v]) => `${k} = ${typeof v === "string" ? v : JSON.stringify(v)}`);
    const name = h("th", { scope: "row", title: settings.join("\n") || row.name }, row.name);
    if (row.status === "ok") return h("tr", {}, name, ...this.study.columns.map((_, i) => cell(row.values[i] ?? null)));
    const reason = row.reason || row.status;
    name.append(h("span", { class: "pill bad" }, row.status));
    if (row.values.every((v) => v === null)) return h("tr", { class: "failed" }, name, h("td", { class: "reason", colspan: Math.max(1, this.study.columns.length) }, h("div", {}, reason)));
    name.append(h("div", { class: "reason" }, reason));
    return h("tr", { class: "failed" }, name, ...this.study.columns.map((_, i) => cell(row.values[i] ?? null)));
  }
}

function toCsv(study: Study): string {
  const quote = (v: unknown): string => {
    const s = v === null || v === undefined ? "" : String(v);
    return /[",\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
  };
  const title = (c: Column): string => (c.unit ? `${c.label} [${c.unit}]` : c.label);
  const lines = [["case", "status", "reason", ...study.columns.map(title)], ...study.rows.map((r) => [r.name, r.status, r.reason, ...study.columns.map((_, i) => r.values[i] ?? null)])];
  return lines.map((line) => line.map(quote).join(",")).join("\n") + "\n";
}

/** Figures printed in a paper: a block of its own, so that nobody takes them for Bogie's. */
export function makePaper(paper: Paper): HTMLElement {
  const width = Math.max(paper.columns.length, ...paper.rows.map((r) => r.length));
  const columns = paper.columns.length < width ? [...Array<string>(width - paper.columns.length).fill(""), ...paper.columns] : paper.columns;
  const rows = paper.rows.map((r) => h("tr", {}, ...r.map((v, i) => (i === 0 ? h("th", { scope: "row" }, typeof v === "number" ? short(v) : String(v ?? "")) : cell(v)))));
  return h(
    "section",
    { class: "card table-card paper" },
    h("div", { class: "toolbar" }, h("h2", {}, "Printed in the paper"), h("span", { class: "pill paper-pill" }, paper.source)),
    scrollBox("table-scroll", "Figures of the paper", h("table", { class: "data" }, h("thead", {}, h("tr", {}, ...columns.map((c) => h("th", { scope: "col" }, h("span", {}, c))))), h("tbody", {}, ...rows))),
    paper.note ? h("p", { class: "hint" }, paper.note) : null,
  );
}
