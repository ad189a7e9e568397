// The page of one run: animation and plots side by side, then certificate, model, run, events.

import type { Numbers } from "./array";
import { Clock } from "./clock";
import { makeCertificate, makeFacts, makeSummary } from "./certificate";
import { Comparison } from "./comparison";
import { h, scrollBox } from "./dom";
import type { Result } from "./format";
import { full, timeText } from "./numbers";
import { PlotPanel } from "./plots/panel";
import { framesOf, makeStage } from "./stage";

export interface Sheet {
  element: HTMLElement;
  clock: Clock | null;
  frames?: ArrayLike<number>; // times that single steps go to
  draw: () => void;
  dispose: () => void;
}

function extent(arrays: (Numbers | undefined)[]): [number, number] {
  let [from, to] = [Infinity, -Infinity];
  for (const t of arrays)
    for (const x of t ?? [])
      if (Number.isFinite(x)) {
        from = Math.min(from, x);
        to = Math.max(to, x);
      }
  return from <= to ? [from, to] : [0, 0];
}

/** `results`: all of the page, with which this one may be compared. */
export function makeResult(result: Result, results: Result[]): Sheet {
  const clock = new Clock(...extent([result.t.get(), result.scene?.t.get()]));
  const comparison = new Comparison(result, results);
  const stage = makeStage(result, clock, comparison);
  const plots = new PlotPanel(result, clock, comparison);
  const notes = result.notes.map((note) => h("p", { class: "note", role: "status" }, note));
  const cards = h("div", { class: "cards" }, makeCertificate(result), makeFacts(result), makeSummary(result), makeEvents(result, clock));
  const element = h(
    "div",
    { class: "sheet" },
    ...notes,
    h("div", { class: stage.hasScene ? "workbench" : "workbench single" }, stage.element, h("div", { class: "side" }, plots.element, cards)),
  );
  return {
    element,
    clock,
    frames: framesOf(result),
    draw: stage.draw,
    dispose: () => {
      stage.dispose();
      plots.dispose();
    },
  };
}

function makeEvents(result: Result, clock: Clock): HTMLElement | null {
  if (result.events.length === 0) return null;
  const shown = result.events.slice(0, 200);
  const rows = shown.map((event) =>
    h(
      "tr",
      {},
      h("td", {}, h("button", { type: "button", class: "link", title: `Go to t = ${full(event.t)} s`, click: () => clock.set(event.t) }, timeText(event.t, clock.span))),
      h("td", {}, event.name),
      h("td", {}, event.direction > 0 ? "rising" : event.direction < 0 ? "falling" : ""),
    ),
  );
  return h(
    "section",
    { class: "card" },
    h("h2", {}, `Events (${result.events.length})`),
    scrollBox("", "Events", h("table", { class: "pairs events" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "t, s"), h("th", { scope: "col" }, "event"), h("th", { scope: "col" }, "through zero"))), h("tbody", {}, ...rows))),
    result.events.length > shown.length ? h("p", { class: "hint" }, `The first ${shown.length} are listed.`) : null,
  );
}
