// Charts of studies as SVG: work-precision, convergence, lines, scatter, histograms, stability regions.

import { h, svg } from "./dom";
import type { Plot, Series } from "./format";
import { niceStep, short, withUnit } from "./numbers";
import { Scale } from "./scales";
import { colourOf } from "./theme";

interface Point {
  x: number;
  y: number;
}

interface Drawn extends Series {
  colour: string;
  shown: boolean;
  marker: number;
  points: boolean;
  width: number; // of a bar, in units of x
}

const margin = { left: 62, right: 16, top: 12, bottom: 44 };

/** Marker outlines around (x, y): circle, square, triangle, diamond, inverted triangle, cross. */
const markers: ((x: number, y: number, r: number) => string)[] = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  (x, y, r) => `M${x - r * 0.88} ${y - r * 0.88}h${1.76 * r}v${1.76 * r}h${-1.76 * r}z`,
  (x, y, r) => `M${x} ${y - 1.15 * r}l${1.08 * r} ${1.9 * r}h${-2.16 * r}z`,
  (x, y, r) => `M${x} ${y - 1.25 * r}l${1.25 * r} ${1.25 * r}l${-1.25 * r} ${1.25 * r}l${-1.25 * r} ${-1.25 * r}z`,
  (x, y, r) => `M${x} ${y + 1.15 * r}l${1.08 * r} ${-1.9 * r}h${-2.16 * r}z`,
];

/** Samples into bars: the width from the interquartile range (Freedman and Diaconis), at most 60 bars. */
export function binSamples(values: number[]): { x: number[]; y: number[]; width: number } {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const n = sorted.length;
  if (n === 0) return { x: [], y: [], width: 1 };
  const [low, high] = [sorted[0] as number, sorted[n - 1] as number];
  if (low === high) return { x: [low], y: [n], width: Math.abs(low) * 0.1 || 1 };
  const spread = (sorted[Math.floor(0.75 * (n - 1))] as number) - (sorted[Math.floor(0.25 * (n - 1))] as number);
  const wanted = spread > 0 ? (2 * spread) / Math.cbrt(n) : (high - low) / 10;
  const width = niceStep(high - low, Math.min(60, Math.max(5, (high - low) / wanted)));
  const first = Math.floor(low / width);
  const count = Math.floor(high / width) - first + 1;
  const y = Array<number>(count).fill(0);
  for (const v of sorted) y[Math.min(count - 1, Math.floor(v / width) - first)]! += 1;
  return { x: y.map((_, i) => (first + i + 0.5) * width), y, width };
}

/** Bars from bin centres, from bin edges (one x more than y), or from raw samples (no y). */
function histogramSeries(series: Series): { x: (number | null)[]; y: (number | null)[]; width: number } {
  const x = series.x.filter((v): v is number => v !== null);
  if (series.y.length === 0) return binSamples(x);
  if (x.length === series.y.length + 1) {
    return { x: series.y.map((_, i) => ((x[i] as number) + (x[i + 1] as number)) / 2), y: series.y, width: (x[1] as number) - (x[0] as number) };
  }
  const gaps = x.slice(1).map((v, i) => v - (x[i] as number)).filter((d) => d > 0);
  return { x: series.x, y: series.y, width: gaps.length ? Math.min(...gaps) : 1 };
}

/** A smaller font where a label would be longer than its axis. */
const fitting = (label: string, space: number): string => (6.2 * label.length > space ? `font-size: ${Math.max(7, (11.5 * space) / (6.2 * label.length))}px` : "");

export class Chart {
  readonly element: HTMLElement;
  private readonly series: Drawn[];
  private readonly host = h("div", { class: "chart-host" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly x: Scale;
  private readonly y: Scale;
  private width = 0;
  private height = 0;
  private shown: [Scale, Scale];

  constructor(private readonly plot: Plot) {
    const bars = plot.kind === "histogram";
    const scatter = plot.kind === "scatter";
    const large = plot.series.some((s) => s.x.length > 300);
    let own = 0;
    this.series = plot.series.map((s) => ({
      ...s,
      ...(bars ? histogramSeries(s) : { width: 0 }),
      colour: s.paper ? "var(--paper-ink)" : colourOf(own++),
      shown: true,
      marker: s.paper ? 3 : (own - 1) % markers.length,
      line: s.line && !scatter && !bars,
      points: (s.points || scatter) && !(large && !scatter && s.line),
    }));
    const points = this.series.flatMap((s) => this.pointsOf(s, plot.x.log, plot.y.log));
    const widest = Math.max(0, ...this.series.map((s) => s.width));
    this.x = Scale.over(points.flatMap((p) => [p.x - widest / 2, p.x + widest / 2]), plot.x.log && !bars);
    this.y = Scale.over(points.map((p) => p.y), plot.y.log && !bars, bars);
    this.shown = [this.x, this.y];
    // a place with neither x nor y ends one curve of a series and begins the next
    const given = this.series.flatMap((s) => Array.from(s.x, (x, i) => Number.isFinite(x) || Number.isFinite(s.y[i])));
    const hidden = given.filter(Boolean).length - points.length;
    this.element = h(
      "figure",
      { class: "card chart" },
      h("figcaption", {}, plot.title || plot.kind),
      this.host,
      points.length === 0 ? h("p", { class: "empty" }, "No values to draw.") : null,
      this.legend(),
      hidden > 0 && points.length ? h("p", { class: "hint" }, `${hidden} ${hidden === 1 ? "point is" : "points are"} missing: not finite${plot.x.log || plot.y.log ? ", or not positive on a logarithmic axis" : ""}.`) : null,
    );
    this.host.append(this.tip);
    if (points.length) new ResizeObserver(() => this.resize()).observe(this.host);
    this.host.addEventListener("pointermove", (event) => this.hover(event));
    this.host.addEventListener("pointerleave", () => (this.tip.hidden = true));
  }

  private pointsOf(s: Series, logX: boolean, logY: boolean): Point[] {
    const points: Point[] = [];
    for (let i = 0; i < Math.min(s.x.length, s.y.length); i++) {
      const [x, y] = [s.x[i], s.y[i]];
      if (typeof x === "number" && typeof y === "number" && (!logX || x > 0) && (!logY || y > 0)) points.push({ x, y });
    }
    return points;
  }

  private resize(): void {
    const width = this.host.clientWidth;
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.height = Math.round(Math.min(380, Math.max(250, width * 0.62)));
    this.shown = this.scales();
    this.draw();
  }

  /** Regions of stability keep their shape: one unit is as long in x as in y. */
  private scales(): [Scale, Scale] {
    if (this.plot.kind !== "stability" || this.x.log || this.y.log) return [this.x, this.y];
    const perPixel = Math.max((this.x.max - this.x.min) / (this.width - margin.left - margin.right), (this.y.max - this.y.min) / (this.height - margin.top - margin.bottom));
    const about = (scale: Scale, pixels: number): Scale => Scale.exactly((scale.min + scale.max - perPixel * pixels) / 2, (scale.min + scale.max + perPixel * pixels) / 2);
    const ratio = (this.x.max - this.x.min) / (this.y.max - this.y.min);
    if (ratio > 8 || ratio < 1 / 8) return [this.x, this.y]; // not a plane of eigenvalues
    return [about(this.x, this.width - margin.left - margin.right), about(this.y, this.height - margin.top - margin.bottom)];
  }

  private readonly px = (x: number): number => margin.left + this.shown[0].place(x) * (this.width - margin.left - margin.right);
  private readonly py = (y: number): number => this.height - margin.bottom - this.shown[1].place(y) * (this.height - margin.top - margin.bottom);

  private draw(): void {
    const { width, height } = this;
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${this.plot.title}: ${withUnit(this.plot.y.label, this.plot.y.unit)} over ${withUnit(this.plot.x.label, this.plot.x.unit)}; ${this.series.map((s) => s.name).join(", ")}` });
    root.append(this.axes());
    const clip = svg("svg", { x: margin.left, y: margin.top, width: width - margin.left - margin.right, height: height - margin.top - margin.bottom, viewBox: `${margin.left} ${margin.top} ${width - margin.left - margin.right} ${height - margin.top - margin.bottom}`, overflow: "hidden" });
    for (const s of this.series) if (s.shown) clip.append(this.curve(s));
    root.append(clip);
    this.host.querySelector("svg")?.remove();
    this.host.prepend(root);
  }

  private axes(): SVGElement {
    const group = svg("g", { class: "axes" });
    const [x, y] = this.shown;
    const [right, bottom] = [this.width - margin.right, this.height - margin.bottom];
    for (const tick of x.ticks(Math.max(2, Math.floor((right - margin.left) / 75)))) {
      const p = this.px(tick.value);
      group.append(svg("line", { x1: p, x2: p, y1: margin.top, y2: bottom, class: tick.text ? "grid" : "grid fine" }));
      if (tick.text) group.append(svg("text", { x: p, y: bottom + 16, "text-anchor": "middle" }, tick.text));
    }
    for (const tick of y.ticks(Math.max(2, Math.floor((bottom - margin.top) / 42)))) {
      const p = this.py(tick.value);
      group.append(svg("line", { x1: margin.left, x2: right, y1: p, y2: p, class: tick.text ? "grid" : "grid fine" }));
      if (tick.text) group.append(svg("text", { x: margin.left - 7, y: p + 4, "text-anchor": "end" }, tick.text));
    }
    group.append(svg("path", { d: `M${margin.left} ${margin.top}V${bottom}H${right}`, class: "frame" }));
    const [across, upwards] = [withUnit(this.plot.x.label, this.plot.x.unit), withUnit(this.plot.y.label, this.plot.y.unit)];
    group.append(svg("text", { x: (margin.left + right) / 2, y: this.height - 6, "text-anchor": "middle", class: "axis-label", style: fitting(across, right - margin.left) }, across));
    group.append(svg("text", { x: 0, y: 0, transform: `translate(13 ${(margin.top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis-label", style: fitting(upwards, bottom - margin.top) }, upwards));
    return group;
  }

  private curve(s: Drawn): SVGElement {
    const group = svg("g", { style: `color:${s.colour}`, class: s.paper ? "series from-paper" : "series" });
    const points = this.pointsOf(s, this.x.log, this.y.log).map((p) => ({ x: this.px(p.x), y: this.py(p.y) }));
    const at = (p: Point): string => `${p.x.toFixed(2)} ${p.y.toFixed(2)}`;
    if (this.plot.kind === "histogram") {
      const base = this.py(0);
      const half = (this.px(s.width) - this.px(0)) / 2;
      const d = points.map((p) => `M${(p.x - half + 0.5).toFixed(2)} ${base}V${p.y.toFixed(2)}h${Math.max(1, 2 * half - 1).toFixed(2)}V${base}z`).join("");
      group.append(svg("path", { d, class: "bar" }));
      return group;
    }
    if (s.line && points.length > 1) {
      const closed = this.plot.kind === "stability" && Math.hypot((points[0] as Point).x - (points[points.length - 1] as Point).x, (points[0] as Point).y - (points[points.length - 1] as Point).y) < 3;
      group.append(svg("path", { d: this.pathWithGaps(s), class: closed ? "curve region" : "curve" }));
    }
    if (this.plot.kind === "convergence" && s.slope !== null && !s.paper) {
      const fitted = this.fittedLine(s, s.slope);
      if (fitted) group.append(svg("path", { d: `M${at(fitted[0])}L${at(fitted[1])}`, class: "fitted" }));
    }
    if (s.points && points.length > 400) group.append(svg("path", { d: points.map((p) => `M${at(p)}h0`).join(""), class: "dots" }));
    else if (s.points) group.append(svg("path", { d: points.map((p) => (markers[s.marker] as (typeof markers)[0])(Number(p.x.toFixed(2)), Number(p.y.toFixed(2)), 4.2)).join(""), class: "markers" }));
    return group;
  }

  /** The line through the points in their order; a missing value interrupts it. */
  private pathWithGaps(s: Series): string {
    let d = "";
    let pen = "M";
    for (let i = 0; i < Math.min(s.x.length, s.y.length); i++) {
      const [x, y] = [s.x[i], s.y[i]];
      if (!this.x.accepts(x) || !this.y.accepts(y)) {
        pen = "M";
        continue;
      }
      d += `${pen}${this.px(x).toFixed(2)} ${this.py(y).toFixed(2)}`;
      pen = "L";
    }
    return d;
  }

  /** The line of the given slope through the centre of the points, both axes logarithmic. */
  private fittedLine(s: Series, slope: number): [Point, Point] | null {
    if (!this.x.log || !this.y.log) return null;
    const points = this.pointsOf(s, true, true);
    if (points.length < 2) return null;
    const mean = (f: (p: Point) => number): number => points.reduce((sum, p) => sum + f(p), 0) / points.length;
    const [cx, cy] = [mean((p) => Math.log(p.x)), mean((p) => Math.log(p.y))];
    const end = (x: number): Point => ({ x: this.px(x), y: this.py(Math.exp(cy + slope * (Math.log(x) - cx))) });
    return [end(this.x.min), end(this.x.max)];
  }

  private legend(): HTMLElement {
    const legend = h("div", { class: "legend chart-legend" });
    if (this.series.length === 1 && this.series[0]?.slope === null && !this.series[0].paper) return legend;
    for (const s of this.series) {
      const sample = svg("svg", { viewBox: "0 0 26 12", class: "sample", "aria-hidden": "true", style: `color:${s.colour}` });
      const group = svg("g", { class: s.paper ? "series from-paper" : "series" });
      if (this.plot.kind === "histogram") group.append(svg("path", { d: "M5 11V2h16V11z", class: "bar" }));
      else {
        if (s.line) group.append(svg("path", { d: "M0 6H26", class: "curve" }));
        if (s.points) group.append(svg("path", { d: (markers[s.marker] as (typeof markers)[0])(13, 6, 4), class: "markers" }));
      }
      sample.append(group);
      const entry = h(
        "button",
        { type: "button", class: "chip", "aria-pressed": "true", title: "Show or hide" },
        sample,
        h("span", { class: "chip-name" }, s.name),
        s.paper ? h("span", { class: "pill paper-pill" }, "paper") : null,
        s.slope !== null ? h("span", { class: "slope", title: `fitted slope ${s.slope}` }, `slope ${s.slope.toFixed(2).replace("-", "−")}`) : null,
      );
      entry.addEventListener("click", () => {
        s.shown = !s.shown;
        entry.setAttribute("aria-pressed", String(s.shown));
        if (this.width) this.draw();
      });
      legend.append(entry);
    }
    return legend;
  }

  private hover(event: PointerEvent): void {
    if (!this.width) return;
    const box = this.host.getBoundingClientRect();
    const [mx, my] = [event.clientX - box.left, event.clientY - box.top];
    let best: { s: Drawn; p: Point; d: number } | null = null;
    for (const s of this.series) {
      if (!s.shown) continue;
      for (const p of this.pointsOf(s, this.x.log, this.y.log)) {
        const d = this.plot.kind === "histogram" ? Math.abs(this.px(p.x) - mx) : Math.hypot(this.px(p.x) - mx, this.py(p.y) - my);
        if (d < (best?.d ?? 24)) best = { s, p, d };
      }
    }
    this.tip.hidden = !best;
    if (!best) return;
    const { s, p } = best;
    const line = (label: string, unit: string, v: number): HTMLElement => h("div", {}, `${label || "value"} `, h("b", {}, short(v, 5)), unit ? ` ${unit}` : "");
    this.tip.replaceChildren(h("div", { class: "tip-time" }, s.paper ? `${s.name} (paper)` : s.name), line(this.plot.x.label, this.plot.x.unit, p.x), line(this.plot.y.label, this.plot.y.unit, p.y));
    const flip = this.px(p.x) > this.width / 2;
    this.tip.style.transform = `translate(${this.px(p.x) + (flip ? -12 : 12)}px, ${Math.max(0, this.py(p.y) - 20)}px) translateX(${flip ? "-100%" : "0"})`;
  }
}
