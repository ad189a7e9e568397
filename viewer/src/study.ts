// The page of one study: what it asks, its charts, its table, and the paper's figures in a block of their own.

import { Chart } from "./chart";
import { h } from "./dom";
import type { Study } from "./format";
import type { Sheet } from "./result";
import { makePaper, StudyTable } from "./table";

export function makeStudy(study: Study): Sheet {
  const charts = study.plots.map((plot) => new Chart(plot).element);
  const pictures = charts.length ? h("div", { class: "charts" }, ...charts) : null;
  const tables = h("div", { class: "tables" }, new StudyTable(study).element, study.paper ? makePaper(study.paper) : null);
  const long = study.rows.length > 20; // then nobody would find the charts behind them
  const element = h(
    "div",
    { class: "sheet study" },
    h("header", { class: "study-head" }, h("h2", {}, study.title), study.text ? h("p", {}, study.text) : null, study.source ? h("p", { class: "hint" }, `Study file: ${study.source}`) : null),
    ...(long ? [pictures, tables] : [tables, pictures]),
  );
  return { element, clock: null, draw: () => {}, dispose: () => {} };
}
