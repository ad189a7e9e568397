// The stack of plots of a result: channels the reader chooses, step sizes, constraint errors.

import type { LazyArray } from "../array";
import type { Clock } from "../clock";
import { h, icon, iconButton, popover } from "../dom";
import type { Channel, Result } from "../format";
import { withUnit } from "../numbers";
import { colourOf, onTheme } from "../theme";
import { TimeAxis } from "./axis";
import { TimePlot, type Curve, type PlotContext, type PlotData } from "./plot";

const groupNames: Record<string, string> = {
  outputs: "Outputs",
  signals: "Input signals",
  q: "Positions q",
  v: "Velocities v",
  z: "Element states z",
  lambda: "Multipliers λ",
};

const maxCurves = 8;

/** Rows whose time can be drawn: finite and not before an earlier one. */
function usableRows(t: ArrayLike<number>): number[] {
  const rows: number[] = [];
  let last = -Infinity;
  for (let i = 0; i < t.length; i++) {
    const x = t[i] as number;
    if (!Number.isFinite(x) || x < last) continue;
    last = x;
    rows.push(i);
  }
  return rows;
}

const pickRows = (rows: number[], values: ArrayLike<number>, ok: (x: number) => boolean): (number | null)[] =>
  rows.map((i) => {
    const x = values[i] as number;
    return ok(x) ? x : null;
  });

export class PlotPanel {
  readonly element: HTMLElement;
  private readonly stack = h("div", { class: "plot-stack" });
  private readonly axis: TimeAxis;
  private readonly context: PlotContext;
  private readonly cards: PlotCard[] = [];
  private readonly rows: number[];
  private readonly times: number[];
  private readonly cache = new Map<Channel, (number | null)[]>();
  private readonly release: () => void;
  private zoomMode = false;

  constructor(readonly result: Result, clock: Clock) {
    const t = result.t.get();
    this.rows = usableRows(t);
    this.times = this.rows.map((i) => t[i] as number);
    this.axis = new TimeAxis(clock.from, clock.to);
    this.context = { clock, axis: this.axis, events: result.events, zoomMode: () => this.zoomMode };
    this.element = h("section", { class: "plots", "aria-label": "Time plots" }, this.toolbar(clock), this.stack);
    this.fill();
    clock.onChange(() => this.cards.forEach((card) => card.plot?.moveCursor()));
    this.release = onTheme(() => this.cards.forEach((card) => card.plot?.redraw()));
  }

  dispose(): void {
    this.release();
    for (const card of this.cards) card.plot?.destroy();
  }

  private toolbar(clock: Clock): HTMLElement {
    const zoom = h("button", { type: "button", class: "button", "aria-pressed": "false", title: "When on, dragging across a plot zooms in; otherwise it moves the time (shift-drag zooms too)" }, "Drag zooms");
    zoom.addEventListener("click", () => {
      this.zoomMode = !this.zoomMode;
      zoom.setAttribute("aria-pressed", String(this.zoomMode));
      this.element.classList.toggle("zooming", this.zoomMode);
    });
    const reset = iconButton("reset", "Show the whole time axis", () => this.axis.reset(), "Reset zoom");
    reset.disabled = true;
    this.axis.onChange(() => (reset.disabled = !this.axis.zoomed));
    return h(
      "div",
      { class: "toolbar" },
      h("h2", {}, "Over time"),
      h("span", { class: "hint" }, "t in s"),
      h("span", { class: "spring" }),
      zoom,
      iconButton("plus", "Zoom in about the current time", () => this.axis.zoom(0.5, clock.t)),
      iconButton("minus", "Zoom out", () => this.axis.zoom(2, clock.t)),
      reset,
      iconButton("list", "Add a plot of other channels", () => this.addChannels([], true), "Add plot"),
    );
  }

  private fill(): void {
    if (this.times.length === 0) this.stack.append(h("p", { class: "empty" }, "This result holds no rows: the run ended before its first output."));
    for (const channels of this.firstChoice()) this.addChannels(channels);
    if (this.result.steps) this.addFixed("Step size and order", this.stepData());
    if (this.result.residuals) this.addFixed("Constraint errors", this.residualData());
  }

  /** What to show before the reader chooses: outputs of one unit together, else the first coordinates. */
  private firstChoice(): Channel[][] {
    if (this.times.length === 0) return [];
    const named = this.result.plots.map((p) => p.channels.flatMap((x) => this.result.channels.find((c) => c.group === x.group && c.name === x.name) ?? []));
    if (named.some((p) => p.length)) return named.filter((p) => p.length);
    const outputs = this.result.channels.filter((c) => c.group === "outputs");
    const source = outputs.length ? outputs : this.result.channels.filter((c) => c.group === "q");
    const byUnit = new Map<string, Channel[]>();
    for (const channel of source.length ? source : this.result.channels) {
      const family = byUnit.get(channel.unit);
      if (!family) byUnit.set(channel.unit, [channel]);
      else if (family.length < 4) family.push(channel);
    }
    return [...byUnit.values()].slice(0, 3);
  }

  channelValues(channel: Channel): (number | null)[] {
    let values = this.cache.get(channel);
    if (!values) {
      values = pickRows(this.rows, channel.data.get(), Number.isFinite);
      this.cache.set(channel, values);
    }
    return values;
  }

  addChannels(channels: Channel[], reveal = false): void {
    const card: PlotCard = new PlotCard(this, this.context, channels, null, "Channels", () => this.remove(card));
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
    const card: PlotCard = new PlotCard(this, this.context, [], data, title, () => this.remove(card));
    this.cards.push(card);
    this.stack.append(card.element);
    card.rebuild();
  }

  private remove(card: PlotCard): void {
    card.plot?.destroy();
    card.element.remove();
    this.cards.splice(this.cards.indexOf(card), 1);
  }

  dataOf(channels: Channel[]): PlotData {
    const units = [...new Set(channels.map((c) => c.unit))];
    return {
      t: this.times,
      log: false,
      label: units.length === 1 ? (units[0] ?? "") : "",
      curves: channels.map((c, i) => ({ name: c.name, unit: c.unit, colour: colourOf(i), values: this.channelValues(c) })),
    };
  }

  private stepData(): PlotData {
    const steps = this.result.steps as NonNullable<Result["steps"]>;
    const all = steps.t.get();
    const rows = usableRows(all);
    const size = steps.h.get();
    const accepted = steps.accepted?.get();
    const isAccepted = (i: number): boolean => !accepted || (accepted[i] as number) > 0;
    const positive = (i: number): number | null => ((size[i] as number) > 0 ? (size[i] as number) : null);
    const curves: Curve[] = [];
    if (steps.order) {
      const order = steps.order.get();
      curves.push({ name: "order", unit: "", colour: "#e07b3999", stepped: true, scale: "right", values: holdOver(rows, isAccepted, (i) => (Number.isFinite(order[i]) ? (order[i] as number) : null)) });
    }
    curves.push({ name: "step size", unit: "s", colour: colourOf(0), stepped: true, values: holdOver(rows, isAccepted, positive) });
    if (rows.some((i) => !isAccepted(i))) curves.push({ name: "rejected", unit: "s", colour: "#d64545", marks: true, values: rows.map((i) => (isAccepted(i) ? null : positive(i))) });
    return { t: rows.map((i) => all[i] as number), log: true, label: "h [s]", rightLabel: steps.order ? "order" : "", curves };
  }

  private residualData(): PlotData {
    const residuals = this.result.residuals as NonNullable<Result["residuals"]>;
    const all = residuals.t.get();
    const rows = usableRows(all);
    const curves: Curve[] = [];
    const add = (name: string, data: LazyArray | null, colour: string): void => {
      if (data) curves.push({ name, unit: "", colour, values: pickRows(rows, data.get(), (x) => x > 0 && Number.isFinite(x)) });
    };
    add("position |g|", residuals.g, colourOf(0));
    add("velocity |G v + gₜ|", residuals.gv, colourOf(1));
    add("acceleration |G v′ + γ|", residuals.ga, colourOf(2));
    return { t: rows.map((i) => all[i] as number), log: true, label: "", curves };
  }
}

/** Values of accepted rows; a rejected row repeats the accepted value before it, so that the line has no gap. */
function holdOver(rows: number[], isAccepted: (i: number) => boolean, value: (i: number) => number | null): (number | null)[] {
  let held: number | null = null;
  return rows.map((i) => {
    if (isAccepted(i)) held = value(i);
    return held;
  });
}

/** One plot with its legend and its list of channels. */
class PlotCard {
  readonly element: HTMLElement;
  plot: TimePlot | null = null;
  readonly fixed: boolean;
  private readonly legend = h("div", { class: "legend" });
  private readonly body = h("div", { class: "plot-body" });
  private chooserButton: HTMLButtonElement | null = null;

  constructor(private readonly panel: PlotPanel, private readonly context: PlotContext, private channels: Channel[], private readonly data: PlotData | null, title: string, remove: () => void) {
    this.fixed = data !== null;
    const head = h("div", { class: "plot-head" }, this.fixed ? h("h3", {}, title) : null, this.legend);
    if (!this.fixed) {
      this.chooserButton = h("button", { type: "button", class: "button square quiet", title: "Choose channels", "aria-label": "Choose channels" }, icon("list"));
      head.append(popover(this.chooserButton, () => this.chooser()));
    }
    const close = iconButton("close", "Remove this plot", remove);
    close.classList.add("quiet");
    head.append(close);
    this.element = h("article", { class: "plot-card" }, head, this.body);
  }

  openChooser(): void {
    this.chooserButton?.click();
  }

  rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    const data = this.data ?? this.panel.dataOf(this.channels);
    this.legend.replaceChildren();
    if (data.curves.length === 0) {
      this.body.replaceChildren(h("p", { class: "empty" }, "Choose channels from the list."));
      return;
    }
    if (data.t.length === 0) {
      this.body.replaceChildren(h("p", { class: "empty" }, "No values to draw."));
      return;
    }
    this.body.replaceChildren();
    this.plot = new TimePlot(data, this.context, this.fixed ? 150 : 190);
    this.body.append(this.plot.element);
    const nothing = data.curves.every((c) => c.values.every((v) => v === null));
    if (nothing) this.body.append(h("p", { class: "empty over" }, "No finite values in these channels."));
    data.curves.forEach((curve, i) => this.legend.append(this.chip(curve, i)));
  }

  private chip(curve: Curve, i: number): HTMLElement {
    const holes = this.fixed ? 0 : curve.values.reduce((n: number, v) => n + (v === null ? 1 : 0), 0);
    return h(
      "span",
      { class: "chip", title: withUnit(curve.name, curve.unit) + (holes ? `: ${holes} of ${curve.values.length} values are not finite` : "") },
      h("i", { class: "swatch", style: `background:${curve.colour}` }),
      h("span", { class: "chip-name" }, curve.name),
      !curve.marks && this.plot?.values[i],
      !curve.marks && curve.unit && h("span", { class: "unit" }, curve.unit),
      holes ? h("span", { class: "warn-mark", role: "img", "aria-label": `${holes} values are not finite` }, "⚠") : null,
    );
  }

  private chooser(): HTMLElement {
    const search = h("input", { type: "search", placeholder: "Search channels", "aria-label": "Search channels" });
    const entries = h("div", { class: "entries" });
    const fill = (): void => {
      const wanted = search.value.trim().toLowerCase();
      entries.replaceChildren();
      const groups = new Map<string, Channel[]>();
      for (const c of this.panel.result.channels) if (!wanted || `${c.name} ${c.unit} ${c.group}`.toLowerCase().includes(wanted)) groups.set(c.group, [...(groups.get(c.group) ?? []), c]);
      for (const [group, channels] of groups) {
        entries.append(h("h4", {}, groupNames[group] ?? group));
        for (const channel of channels.slice(0, 300)) entries.append(this.entry(channel, fill));
        if (channels.length > 300) entries.append(h("p", { class: "hint" }, `${channels.length - 300} more; search to narrow the list.`));
      }
      if (groups.size === 0) entries.append(h("p", { class: "hint" }, "No channel has this in its name."));
    };
    search.addEventListener("input", fill);
    fill();
    return h("div", { class: "chooser", role: "dialog", "aria-label": "Channels of this plot" }, search, entries, h("p", { class: "hint" }, `At most ${maxCurves} channels in one plot.`));
  }

  private entry(channel: Channel, refresh: () => void): HTMLElement {
    const at = this.channels.indexOf(channel);
    const box = h("input", { type: "checkbox", checked: at >= 0, disabled: at < 0 && this.channels.length >= maxCurves });
    box.addEventListener("change", () => {
      this.channels = box.checked ? [...this.channels, channel] : this.channels.filter((c) => c !== channel);
      this.rebuild();
      if (this.channels.length >= maxCurves - 1) refresh();
    });
    return h("label", { class: "entry" }, box, h("span", {}, channel.name), channel.unit && h("span", { class: "unit" }, channel.unit));
  }
}
