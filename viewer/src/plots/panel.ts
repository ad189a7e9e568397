// The stack of plots of a result: channels the reader chooses, step sizes, constraint errors.

import type { Clock } from "../clock";
import type { Comparison } from "../comparison";
import { h, icon, iconButton, popover } from "../dom";
import type { Channel, Result } from "../format";
import { timeText } from "../numbers";
import { onTheme } from "../theme";
import { TimeAxis } from "./axis";
import { PlotCard, type CardContext } from "./card";
import { residualData, stepData } from "./history";
import type { PlotData } from "./plot";
import { Pointer } from "./pointer";
import { units } from "./units";

/** A plot that the page opens with. */
interface Opening {
  title: string;
  channels: Channel[];
  over: Channel | null; // null: time
  spectrum?: boolean;
}

export class PlotPanel {
  readonly element: HTMLElement;
  private readonly stack = h("div", { class: "plot-stack" });
  private readonly axis: TimeAxis;
  private readonly context: CardContext;
  private readonly cards: PlotCard[] = [];
  private readonly releases: (() => void)[];
  private zoomMode = false;

  constructor(readonly result: Result, clock: Clock, private readonly comparison: Comparison) {
    this.axis = new TimeAxis(clock.from, clock.to);
    this.context = { result, comparison, clock, axis: this.axis, pointer: new Pointer(), events: result.events, zoomMode: () => this.zoomMode };
    this.element = h("section", { class: "plots", "aria-label": "Time plots" }, this.toolbar(clock), this.stack);
    this.fill();
    clock.onChange(() => this.cards.forEach((card) => card.plot?.moveCursor()));
    const rebuild = (): void => this.cards.forEach((card) => !card.fixed && card.rebuild());
    comparison.onChange(rebuild);
    this.releases = [onTheme(() => this.cards.forEach((card) => card.plot?.redraw())), units.onChange(rebuild)];
  }

  dispose(): void {
    for (const release of this.releases) release();
    for (const card of this.cards) card.destroy();
  }

  private toolbar(clock: Clock): HTMLElement {
    const zoom = h("button", { type: "button", class: "button", "aria-pressed": "false", title: "When on, dragging across a plot zooms in; otherwise it moves the time (shift-drag zooms too). Two fingers zoom and pan." }, "Drag zooms");
    zoom.addEventListener("click", () => {
      this.zoomMode = !this.zoomMode;
      zoom.setAttribute("aria-pressed", String(this.zoomMode));
      this.element.classList.toggle("zooming", this.zoomMode);
    });
    const reset = iconButton("reset", "Reset zoom", () => this.axis.reset());
    reset.disabled = true;
    this.axis.onChange(() => (reset.disabled = !this.axis.zoomed));
    return h(
      "div",
      { class: "toolbar" },
      h("div", { class: "plots-title" }, h("h2", {}, "Plots"), this.readout(clock)),
      h("span", { class: "spring" }),
      this.comparison.others.length ? this.compareButton() : null,
      zoom,
      iconButton("plus", "Zoom in about the current time", () => this.axis.zoom(0.5, clock.t)),
      iconButton("minus", "Zoom out", () => this.axis.zoom(2, clock.t)),
      reset,
      iconButton("list", "Add a plot of other channels: over time, one over another, or as spectra", () => this.add({ title: "", channels: [], over: null }, true), "Add plot"),
    );
  }

  /** Says what the numbers in the legends are. */
  private readout(clock: Clock): HTMLElement {
    const text = h("span", { class: "hint", title: "Numbers in the legends are the values at this time: under the pointer, or of the animation" });
    const refresh = (): void => {
      const { t } = this.context.pointer;
      text.textContent = `values at t = ${timeText(t ?? clock.t, clock.span)} s${t === null ? "" : ", pointer"}`;
    };
    clock.onChange(refresh);
    this.context.pointer.onChange(refresh);
    refresh();
    return text;
  }

  private compareButton(): HTMLElement {
    const { comparison } = this;
    const button = h("button", { type: "button", class: "button", title: "Lay other results of this page over this one" }, icon("layers"), "Compare");
    const refresh = (): void => button.setAttribute("aria-pressed", String(comparison.shown.length > 0));
    comparison.onChange(refresh);
    refresh();
    const toggle = (label: string, on: boolean, change: (on: boolean) => void, sample: HTMLElement | null = null): HTMLElement => {
      const box = h("input", { type: "checkbox", checked: on });
      box.addEventListener("change", () => {
        change(box.checked);
        comparison.changed();
      });
      return h("label", { class: "entry" }, box, h("span", {}, label), sample);
    };
    return popover(button, () =>
      h(
        "div",
        { class: "entries", role: "dialog", "aria-label": "Results to compare with" },
        ...comparison.others.map((other) => toggle(other.result.name, other.on, (on) => (other.on = on), h("i", { class: "swatch", style: `background:${other.colour}`, title: "Colour of its ghost; its curves are dashed" }))),
        h("hr", {}),
        toggle("Differences instead of curves", comparison.differences, (on) => (comparison.differences = on)),
        toggle("Ghosts in the animation", comparison.ghosts, (on) => (comparison.ghosts = on)),
      ),
    );
  }

  private fill(): void {
    if (this.comparison.rowsOf(this.result).times.length === 0) this.stack.append(h("p", { class: "empty" }, "This result holds no rows: the run ended before its first output."));
    for (const opening of this.firstChoice()) this.add(opening);
    if (this.result.steps) this.addFixed("Step size and order", stepData(this.result.steps));
    if (this.result.residuals) this.addFixed("Constraint errors", residualData(this.result.residuals));
  }

  /** What to show before the reader chooses: outputs of one unit together, else the first coordinates. */
  private firstChoice(): Opening[] {
    if (this.comparison.rowsOf(this.result).times.length === 0) return [];
    const find = (x: { group: string; name: string }): Channel[] => this.result.channels.filter((c) => c.group === x.group && c.name === x.name).slice(0, 1);
    const named = this.result.plots.map(({ title, channels, over, spectrum }): Opening => ({ title, channels: channels.flatMap(find), over: over ? (find(over)[0] ?? null) : null, spectrum }));
    if (named.some((p) => p.channels.length)) return named.filter((p) => p.channels.length);
    const outputs = this.result.channels.filter((c) => c.group === "outputs");
    const source = outputs.length ? outputs : this.result.channels.filter((c) => c.group === "q");
    const byUnit = new Map<string, Channel[]>();
    for (const channel of source.length ? source : this.result.channels) {
      const family = byUnit.get(channel.unit);
      if (!family) byUnit.set(channel.unit, [channel]);
      else if (family.length < 4) family.push(channel);
    }
    return [...byUnit.values()].slice(0, 3).map((channels) => ({ title: "", channels, over: null }));
  }

  private add({ title, channels, over, spectrum }: Opening, reveal = false): void {
    const card: PlotCard = new PlotCard(this.context, channels, null, title, () => this.remove(card), over, spectrum);
    const fixed = this.cards.find((c) => c.fixed);
    this.cards.push(card);
    if (fixed) fixed.element.before(card.element);
    else this.stack.append(card.element);
    card.rebuild();
    if (reveal) {
      card.element.scrollIntoView({ block: "nearest" });
      card.openChooser();
    }
  }

  private addFixed(title: string, data: PlotData): void {
    const card: PlotCard = new PlotCard(this.context, [], data, title, () => this.remove(card));
    this.cards.push(card);
    this.stack.append(card.element);
    card.rebuild();
  }

  private remove(card: PlotCard): void {
    card.destroy();
    this.cards.splice(this.cards.indexOf(card), 1);
  }
}
