// One plot with its legend, its list of channels, and its menu: over time, one channel over another, or as spectra.

import type { Clock } from "../clock";
import type { Comparison } from "../comparison";
import { h, icon, iconButton, popover } from "../dom";
import type { Channel, Result } from "../format";
import { withUnit } from "../numbers";
import { colourOf } from "../theme";
import type { TimeAxis } from "./axis";
import { TimePlot, type Curve, type PlotContext, type PlotData } from "./plot";
import { valueAt, type Gapped } from "./rows";
import { saveCsv, savePicture, toCsv, toPairs, type SavedCurve } from "./save";
import { spectrum } from "./spectrum";
import { choices, factor, isAlike, units } from "./units";
import { XyPlot, type XyCurve, type XyData } from "./xy";

const groupNames: Record<string, string> = {
  outputs: "Outputs",
  signals: "Input signals",
  q: "Positions q",
  v: "Velocities v",
  z: "Element states z",
  lambda: "Multipliers λ",
};

const maxCurves = 8;

export type CardKind = "time" | "phase" | "spectrum";
const kindNames: [CardKind, string][] = [["time", "over time"], ["phase", "x–y"], ["spectrum", "spectrum"]];

export interface CardContext extends PlotContext {
  result: Result;
  comparison: Comparison;
  clock: Clock;
  axis: TimeAxis;
}

const scaled = (values: Gapped, by: number): Gapped => (by === 1 ? values : values.map((v) => (v === null ? null : v * by)));

export class PlotCard {
  readonly element: HTMLElement;
  readonly fixed: boolean;
  plot: TimePlot | XyPlot | null = null;
  private kind: CardKind;
  private readonly legend = h("div", { class: "legend" });
  private readonly body = h("div", { class: "plot-body" });
  private chooserButton: HTMLButtonElement | null = null;
  private saved: { curves: SavedCurve[]; xLabel: string; pairs: boolean } = { curves: [], xLabel: "t [s]", pairs: false };
  private readonly release: () => void;

  /** `x`: the channel of the other axis of a phase plot. */
  constructor(private readonly context: CardContext, private channels: Channel[], private readonly data: PlotData | null, readonly title: string, remove: () => void, private x: Channel | null = null, spectrum = false) {
    this.fixed = data !== null;
    this.kind = x ? "phase" : spectrum ? "spectrum" : "time";
    const head = h("div", { class: "plot-head" }, title ? h("h3", {}, title) : null, this.legend);
    if (!this.fixed) {
      this.chooserButton = h("button", { type: "button", class: "button square quiet", title: "Choose channels", "aria-label": "Choose channels" }, icon("list"));
      head.append(popover(this.chooserButton, () => this.chooser()));
    }
    const save = h("button", { type: "button", class: "button square quiet", title: "Save this plot", "aria-label": "Save this plot" }, icon("save"));
    const close = iconButton("close", "Remove this plot", remove);
    close.classList.add("quiet");
    head.append(popover(save, () => this.saveMenu()), close);
    this.element = h("article", { class: "plot-card" }, head, this.body);
    this.release = context.axis.onChange(() => this.kind === "spectrum" && this.rebuild());
  }

  openChooser(): void {
    this.chooserButton?.click();
  }

  destroy(): void {
    this.release();
    this.plot?.destroy();
    this.element.remove();
  }

  rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    this.legend.replaceChildren();
    const note = (text: string): void => this.body.replaceChildren(h("p", { class: "empty" }, text));
    if (!this.fixed && this.channels.length === 0) return note("Choose channels from the list.");
    if (this.kind === "time") this.buildTime(note);
    else this.buildXy(note);
    if (!this.fixed && this.plot) this.legend.append(...this.unitChoices());
  }

  private buildTime(note: (text: string) => void): void {
    const data = this.data ?? this.timeData();
    if (data.t.length === 0) return note("No values to draw.");
    this.body.replaceChildren();
    const plot = new TimePlot(data, this.context, this.fixed ? 150 : 190);
    this.plot = plot;
    this.body.append(plot.element);
    const nothing = data.curves.every((c) => c.values.every((v) => v === null));
    if (nothing) this.body.append(h("p", { class: "empty over" }, "No finite values in these channels."));
    data.curves.forEach((curve, i) => this.legend.append(this.chip(curve, plot.values[i] as HTMLElement)));
    this.saved = { curves: data.curves.map((c) => ({ ...c, x: c.t ?? data.t })), xLabel: "t [s]", pairs: false };
  }

  private buildXy(note: (text: string) => void): void {
    const data = this.kind === "phase" ? this.phaseData() : this.spectrumData();
    if (data.curves.length === 0) return note(this.kind === "spectrum" ? "No spectrum: the part of the time axis that is shown has gaps, or fewer than eight rows." : "Choose the channel of the x axis in the list.");
    this.body.replaceChildren();
    const plot = new XyPlot(data, this.context.clock, 260);
    this.plot = plot;
    this.body.append(plot.element);
    plot.redraw();
    for (const curve of data.curves) this.legend.append(this.chip({ ...curve, values: [] }, null));
    this.legend.append(h("span", { class: "hint" }, this.kind === "phase" ? `over ${data.xLabel}` : "amplitude over frequency, of the time shown"));
    this.saved = { curves: data.curves.map((c) => ({ ...c, x: c.x.map((v) => v ?? NaN), values: c.y })), xLabel: data.xLabel, pairs: true };
  }

  /** All channels of a plot that measure the same share the unit of the first: they have one axis. */
  private unitOf(channel: Channel): string {
    return (this.kind === "phase" && channel === this.x ? channel : (this.channels.find((c) => isAlike(c.unit, channel.unit)) ?? channel)).unit;
  }

  /** A channel of this result and of those it is compared with, in the units chosen. */
  private curvesOf(channel: Channel, colour: string): Curve[] {
    const { comparison, result } = this.context;
    const unit = units.of(this.unitOf(channel));
    const rows = comparison.rowsOf(result);
    const own = { name: channel.name, unit, colour, t: rows.times, values: scaled(rows.values(channel), factor(channel.unit, unit)) };
    const curves: Curve[] = comparison.differences && comparison.shown.length ? [] : [own];
    for (const other of comparison.shown) {
      const theirs = comparison.rowsOf(other.result);
      const match = theirs.find(channel);
      if (!match) continue;
      const alike = isAlike(match.unit, channel.unit);
      const values = scaled(theirs.values(match), alike ? factor(match.unit, unit) : 1);
      if (comparison.differences && !alike) continue; // there is none
      if (comparison.differences)
        curves.push({ ...own, name: `${channel.name}: ${other.result.name} − ${result.name}`, dash: comparison.shown.length > 1 ? other.dash : [], values: own.values.map((v, i) => minus(valueAt(theirs.times, values, own.t[i] as number), v)) });
      else curves.push({ name: `${channel.name} (${other.result.name})`, short: other.result.name, unit: alike ? unit : match.unit, colour, dash: other.dash, t: theirs.times, values });
    }
    return curves;
  }

  private timeData(): PlotData {
    const curves = this.channels.flatMap((c, i) => this.curvesOf(c, colourOf(i)));
    const names = [...new Set(curves.map((c) => c.unit))];
    return { t: this.context.comparison.rowsOf(this.context.result).times, log: false, label: names.length === 1 ? (names[0] ?? "") : "", curves };
  }

  private phaseData(): XyData {
    const x = this.x;
    const shown = this.channels.filter((c) => c !== x);
    const across = x ? this.curvesOf(x, "") : [];
    const curves = shown.flatMap((c, i) =>
      this.curvesOf(c, colourOf(i)).flatMap((curve, k): XyCurve[] => {
        const base = across[k];
        if (!base || !curve.t) return [];
        const values = base.t === curve.t ? base.values : curve.t.map((t) => valueAt(base.t ?? [], base.values, t));
        return [{ name: curve.name, unit: curve.unit, colour: curve.colour, x: values, y: curve.values, t: curve.t, ...extras(curve) }];
      }),
    );
    const unit = curves.length && curves.every((c) => c.unit === curves[0]?.unit) ? (curves[0]?.unit ?? "") : "";
    return { curves, log: false, xLabel: x ? withUnit(x.name, units.of(x.unit)) : "", yLabel: unit };
  }

  private spectrumData(): XyData {
    const { axis } = this.context;
    const curves = this.channels.flatMap((c, i) =>
      this.curvesOf(c, colourOf(i)).flatMap((curve): XyCurve[] => {
        const s = spectrum(curve.t ?? [], curve.values, axis.min, axis.max);
        return s ? [{ name: curve.name, unit: curve.unit, colour: curve.colour, x: s.f, y: s.amplitude, ...extras(curve) }] : [];
      }),
    );
    return { curves, log: true, xLabel: "frequency [Hz]", yLabel: curves.every((c) => c.unit === curves[0]?.unit) ? withUnit("amplitude", curves[0]?.unit ?? "") : "amplitude" };
  }

  private chip(curve: Curve, value: HTMLElement | null): HTMLElement {
    const holes = this.fixed ? 0 : curve.values.reduce((n: number, v) => n + (v === null ? 1 : 0), 0);
    const style = curve.dash?.length ? `background:repeating-linear-gradient(90deg, ${curve.colour} 0 3px, transparent 3px 5px)` : `background:${curve.colour}`;
    return h(
      "span",
      { class: "chip", title: withUnit(curve.name, curve.unit) + (holes ? `: ${holes} of ${curve.values.length} values are not finite` : "") },
      h("i", { class: "swatch", style }),
      h("span", { class: "chip-name" }, curve.short ?? curve.name),
      !curve.marks && value,
      !curve.marks && curve.unit && h("span", { class: "unit" }, curve.unit),
      holes ? h("span", { class: "warn-mark", role: "img", "aria-label": `${holes} values are not finite` }, "⚠") : null,
    );
  }

  /** One list for every unit of the plot that can be written in another one. */
  private unitChoices(): HTMLElement[] {
    const list = [...this.channels, ...(this.kind === "phase" && this.x ? [this.x] : [])];
    return [...new Set(list.map((c) => this.unitOf(c)))].filter((unit) => choices(unit).length > 1).map((unit) => {
      const select = h("select", { class: "unit-choice", "aria-label": `Unit of what is given in ${unit}`, title: "Unit of the axis" });
      for (const name of choices(unit)) select.append(h("option", { value: name, selected: name === units.of(unit) }, name));
      if (!choices(unit).includes(units.of(unit))) select.prepend(h("option", { value: unit, selected: true }, unit));
      select.addEventListener("change", () => units.set(unit, select.value));
      return select;
    });
  }

  private saveMenu(): HTMLElement {
    const names = this.title || this.channels.map((c) => c.name).join(", ");
    const name = `${this.context.result.name} ${names}`;
    const { curves, xLabel, pairs } = this.saved;
    const entry = (label: string, act: () => void): HTMLElement => h("button", { type: "button", class: "entry wide", click: act }, h("span", {}, label));
    return h(
      "div",
      { role: "dialog", "aria-label": "Save this plot" },
      entry("Picture (PNG)", () => this.plot && savePicture(name, this.plot.canvas, curves, this.kind === "time" ? xLabel : "")),
      entry("Numbers (CSV)", () => this.plot && saveCsv(name, pairs ? toPairs(xLabel, curves) : toCsv(xLabel, curves))),
    );
  }

  private chooser(): HTMLElement {
    const search = h("input", { type: "search", placeholder: "Search channels", "aria-label": "Search channels" });
    const entries = h("div", { class: "entries" });
    const fill = (): void => {
      const wanted = search.value.trim().toLowerCase();
      entries.replaceChildren();
      const groups = new Map<string, Channel[]>();
      for (const c of this.context.result.channels) if (!wanted || `${c.name} ${c.unit} ${c.group}`.toLowerCase().includes(wanted)) groups.set(c.group, [...(groups.get(c.group) ?? []), c]);
      for (const [group, channels] of groups) {
        entries.append(h("h4", {}, groupNames[group] ?? group));
        for (const channel of channels.slice(0, 300)) entries.append(this.entry(channel, fill));
        if (channels.length > 300) entries.append(h("p", { class: "hint" }, `${channels.length - 300} more; search to narrow the list.`));
      }
      if (groups.size === 0) entries.append(h("p", { class: "hint" }, "No channel has this in its name."));
    };
    search.addEventListener("input", fill);
    fill();
    const across = this.xChoice();
    const kinds = h("div", { class: "segments", role: "group", "aria-label": "Kind of plot" });
    for (const [kind, name] of kindNames) {
      const button = h("button", { type: "button", class: "segment", "aria-pressed": String(kind === this.kind) }, name);
      button.addEventListener("click", () => {
        this.setKind(kind);
        for (const b of kinds.children) b.setAttribute("aria-pressed", String(b === button));
        across.hidden = kind !== "phase";
      });
      kinds.append(button);
    }
    return h("div", { class: "chooser", role: "dialog", "aria-label": "Channels of this plot" }, kinds, across, search, entries, h("p", { class: "hint" }, `At most ${maxCurves} channels in one plot.`));
  }

  setKind(kind: CardKind): void {
    this.kind = kind;
    if (kind === "phase" && !this.x) this.x = this.channels.length > 1 ? (this.channels[0] as Channel) : (this.context.result.channels.find((c) => !this.channels.includes(c)) ?? null);
    this.rebuild();
  }

  private xChoice(): HTMLElement {
    const select = h("select", { "aria-label": "Channel of the x axis" });
    const all = this.context.result.channels;
    all.slice(0, 2000).forEach((c, i) => select.append(h("option", { value: i, selected: c === this.x }, withUnit(c.name, c.unit))));
    select.addEventListener("change", () => {
      this.x = all[Number(select.value)] ?? null;
      this.rebuild();
    });
    return h("label", { class: "across", hidden: this.kind !== "phase" }, h("span", {}, "x axis"), select);
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

const extras = (curve: Curve): Partial<XyCurve> => ({ ...(curve.dash ? { dash: curve.dash } : {}), ...(curve.short ? { short: curve.short } : {}) });

const minus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a - b);
