// One plot over time (uPlot) with the animation's cursor, event marks, and values at the cursor.

import uPlot from "uplot";
import type { Clock } from "../clock";
import { h } from "../dom";
import type { SimulationEvent } from "../format";
import { power, short, steady, timeText } from "../numbers";
import { cssColour } from "../theme";
import type { TimeAxis } from "./axis";
import { followFingers } from "./gestures";
import type { Pointer } from "./pointer";
import { valueAt, type Gapped } from "./rows";

export interface Curve {
  name: string;
  unit: string;
  colour: string;
  values: Gapped;
  t?: number[]; // its own times; otherwise those of the plot
  short?: string; // for the legend, beside the curve before it
  dash?: number[];
  scale?: "y" | "right";
  marks?: boolean; // separate points instead of a line
  stepped?: boolean;
}

export interface PlotData {
  t: number[];
  curves: Curve[];
  log: boolean;
  label: string;
  rightLabel?: string;
}

export interface PlotContext {
  clock: Clock;
  axis: TimeAxis;
  pointer: Pointer;
  events: SimulationEvent[];
  zoomMode: () => boolean;
}

const font = "11px system-ui, sans-serif";

function rangeOf(log: boolean): uPlot.Range.Function {
  return (_u, min, max) => {
    if (min === null || max === null || min === undefined || !Number.isFinite(min) || !Number.isFinite(max)) return log ? [1e-3, 1] : [0, 1];
    if (log && min < 1e-16) [min, max] = [1e-16, Math.max(max, 1e-15)]; // uPlot's ticks do not end below
    if (log) return min === max ? [min / 10, max * 10] : uPlot.rangeLog(min, max, 10, false);
    if (min === max) return [min - (Math.abs(min) || 1) * 0.1, max + (Math.abs(max) || 1) * 0.1];
    const pad = (max - min) * 0.07;
    return [min - pad, max + pad];
  };
}

export class TimePlot {
  readonly element = h("div", { class: "plot" });
  readonly values: HTMLElement[] = []; // one per curve: its value at the cursor
  private readonly u: uPlot;
  private readonly line = h("div", { class: "time-line" });
  private mouse = false; // what was seen last over the plot is no finger
  private readonly hoverLine = h("div", { class: "hover-line", hidden: true });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly release: () => void;
  private readonly observer: ResizeObserver;

  constructor(readonly data: PlotData, private readonly context: PlotContext, height: number) {
    for (const _ of data.curves) this.values.push(h("span", { class: "value" }));
    this.u = new uPlot(this.options(height), align(data), this.element);
    this.u.over.append(this.line, this.hoverLine);
    this.element.append(this.tip);
    this.listen(this.u.over);
    const releases = [
      context.axis.onChange(() => this.u.setScale("x", { min: context.axis.min, max: context.axis.max })),
      context.pointer.onChange(() => this.moveCursor()),
    ];
    this.release = () => releases.forEach((f) => f());
    this.observer = new ResizeObserver(() => {
      const width = this.element.clientWidth;
      if (width > 0 && width !== this.u.width) this.u.setSize({ width, height });
      this.moveCursor();
    });
    this.observer.observe(this.element);
    this.moveCursor();
  }

  private options(height: number): uPlot.Options {
    const { axis } = this.context;
    const grid = { stroke: () => cssColour("--plot-grid"), width: 1 };
    const ticks = { show: false };
    const stroke = (): string => cssColour("--muted");
    const y = (scale: string, label: string, log: boolean, right: boolean): uPlot.Axis => ({
      scale,
      label,
      side: right ? 1 : 3,
      grid: right ? { show: false } : grid,
      ticks,
      stroke,
      font,
      labelFont: font,
      labelSize: 16,
      labelGap: 0,
      gap: 4,
      size: right ? 30 : 52,
      values: (_u, splits) => splits.map((v) => (v === null || v === undefined ? "" : right ? (Number.isInteger(v) ? String(v) : "") : log ? power(v) : short(v))),
    });
    const right = this.data.curves.some((c) => c.scale === "right");
    return {
      width: 400,
      height,
      padding: [10, right ? 0 : 12, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { size: 6 }, bind: { mousedown: () => null, mouseup: () => null, dblclick: () => null } },
      scales: {
        x: { time: false, range: () => [axis.min, axis.max > axis.min ? axis.max : axis.min + 1] },
        y: { distr: this.data.log ? 3 : 1, range: rangeOf(this.data.log) },
        right: { range: (_u, _min, max) => [0, Math.max(1, Math.ceil(max ?? 1)) + 0.5] },
      },
      axes: [
        { grid, ticks, stroke, font, size: 26, gap: 4, values: (_u, splits) => splits.map((v) => short(v, 6)) },
        y("y", this.data.label, this.data.log, false),
        ...(right ? [y("right", this.data.rightLabel ?? "", false, true)] : []),
      ],
      series: [{}, ...this.data.curves.map((c) => this.series(c))],
      hooks: { drawAxes: [(u) => this.drawEvents(u)], setCursor: [(u) => this.showTip(u)], setScale: [() => this.moveCursor()], setSize: [() => this.moveCursor()] },
    };
  }

  private series(curve: Curve): uPlot.Series {
    const stepped = curve.stepped ? uPlot.paths.stepped?.({ align: -1 }) : undefined;
    return {
      label: curve.name,
      scale: curve.scale ?? "y",
      stroke: curve.colour,
      width: curve.marks ? 0 : curve.scale === "right" ? 1 : 1.6,
      ...(curve.dash ? { dash: curve.dash } : {}),
      points: curve.marks ? { show: true, size: 7, fill: curve.colour, stroke: curve.colour } : { show: this.data.t.length < 3, size: 5 },
      ...(stepped ? { paths: stepped } : {}),
      ...(curve.marks ? { paths: () => null } : {}),
    };
  }

  private drawEvents(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    for (const event of this.context.events) {
      const x = Math.round(u.valToPos(event.t, "x", true)) + 0.5;
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    }
    ctx.strokeStyle = cssColour("--event");
    ctx.globalAlpha = this.context.events.length > 40 ? 0.35 : 0.8;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.stroke();
    ctx.restore();
  }

  private nearEvents(x: number): SimulationEvent[] {
    return this.context.events.filter((e) => Math.abs(this.u.valToPos(e.t, "x") - x) < 5);
  }

  private showTip(u: uPlot): void {
    const { left, idx } = u.cursor;
    this.tip.hidden = left === undefined || left < 0 || idx === null || idx === undefined;
    const own = this.mouse && this.element.matches(":hover"); // a finger leaves without a word
    if (own || this.context.pointer.owner === this) this.context.pointer.set(this.tip.hidden || left === undefined ? null : this.u.posToVal(left, "x"), this);
    if (this.tip.hidden || left === undefined || typeof idx !== "number") return;
    const { clock } = this.context;
    const at = this.u.posToVal(left, "x");
    const rows = this.data.curves.map((c) => {
      const v = this.valueOf(c, at);
      return h("div", {}, h("i", { class: "swatch", style: `background:${c.colour}` }), `${c.name} `, h("b", {}, v === null ? "–" : short(v, 5)), c.unit ? ` ${c.unit}` : "");
    });
    const events = this.nearEvents(left).slice(0, 3).map((e) => h("div", { class: "tip-event" }, eventText(e, clock.span)));
    this.tip.replaceChildren(h("div", { class: "tip-time" }, `t = ${timeText(at, clock.span)} s`), ...rows.slice(0, 10), ...events);
    const x = u.over.offsetLeft + left;
    const flip = left > u.over.clientWidth / 2;
    this.tip.style.transform = `translate(${x + (flip ? -12 : 12)}px, ${u.over.offsetTop + 6}px) translateX(${flip ? "-100%" : "0"})`;
  }

  /** Drag moves the time; in zoom mode, or with shift, it chooses the part of the axis to show. */
  private listen(over: HTMLElement): void {
    const { clock, axis } = this.context;
    const timeAt = (event: PointerEvent): number => this.u.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
    let start: number | null = null;
    let before = clock.t;
    let zooming = false;
    const fingers = followFingers(over, axis, () => {
      if (start !== null && !zooming) clock.set(before); // a second finger: what the first one began was not meant
      start = null;
    });
    for (const name of ["pointerenter", "pointermove", "pointerdown"] as const) over.addEventListener(name, (event) => (this.mouse = event.pointerType !== "touch"), true);
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || fingers() > 1) return;
      start = timeAt(event);
      before = clock.t;
      zooming = event.shiftKey || this.context.zoomMode();
      over.setPointerCapture(event.pointerId);
      if (!zooming) clock.set(start);
    });
    over.addEventListener("pointermove", (event) => {
      if (start === null || fingers() > 1) return;
      if (!zooming) return clock.set(timeAt(event));
      const [a, b] = [this.u.valToPos(start, "x"), this.u.valToPos(timeAt(event), "x")];
      this.u.setSelect({ left: Math.min(a, b), width: Math.abs(a - b), top: 0, height: over.clientHeight }, false);
    });
    const finish = (event: PointerEvent): void => {
      if (start !== null && zooming) {
        this.u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        const end = timeAt(event);
        if (Math.abs(this.u.valToPos(start, "x") - this.u.valToPos(end, "x")) > 6) axis.set(Math.min(start, end), Math.max(start, end));
      }
      start = null;
    };
    over.addEventListener("pointerup", finish);
    over.addEventListener("pointercancel", () => (start = null));
    over.addEventListener("dblclick", () => axis.reset());
    over.addEventListener("wheel", (event) => {
      if (axis.zoomed && Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.ctrlKey && !event.shiftKey) {
        event.preventDefault();
        return axis.pan((event.deltaX / over.clientWidth) * (axis.max - axis.min));
      }
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      axis.zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, this.u.posToVal(event.offsetX, "x"));
    }, { passive: false });
  }

  /** Puts the line at the animation's time and shows the values there. */
  moveCursor(): void {
    if (!this.u) return;
    const { clock, axis } = this.context;
    const x = this.u.valToPos(clock.t, "x");
    this.line.hidden = !(clock.t >= axis.min && clock.t <= axis.max) || !Number.isFinite(x);
    this.line.style.transform = `translateX(${x - 0.5}px)`;
    const { pointer } = this.context;
    const hover = pointer.t === null || pointer.owner === this ? NaN : this.u.valToPos(pointer.t, "x");
    this.hoverLine.hidden = !(hover >= 0 && hover <= this.u.over.clientWidth);
    this.hoverLine.style.transform = `translateX(${hover}px)`;
    this.data.curves.forEach((curve, k) => {
      const value = this.valueOf(curve, pointer.t ?? clock.t);
      (this.values[k] as HTMLElement).textContent = value === null ? "–" : steady(value);
    });
  }

  private valueOf(curve: Curve, t: number): number | null {
    return valueAt(curve.t ?? this.data.t, curve.values, t, !curve.stepped && !curve.marks);
  }

  /** What is drawn, for a file. */
  get canvas(): HTMLCanvasElement {
    return this.u.ctx.canvas;
  }

  redraw(): void {
    this.u.redraw(false, true);
  }

  destroy(): void {
    this.release();
    this.observer.disconnect();
    this.u.destroy();
    this.element.remove();
  }
}

/** All curves over one list of times; uPlot draws across places where only others have a value. */
function align(data: PlotData): uPlot.AlignedData {
  const tables = new Map<number[], Gapped[]>();
  for (const curve of data.curves) {
    const t = curve.t ?? data.t;
    tables.set(t, [...(tables.get(t) ?? []), curve.values]);
  }
  if (tables.size === 1) return [data.curves[0]?.t ?? data.t, ...data.curves.map((c) => c.values)] as uPlot.AlignedData;
  const order = [...tables].flatMap(([t]) => data.curves.filter((c) => (c.t ?? data.t) === t));
  const joined = uPlot.join([...tables].map(([t, list]) => distinct(t, list)));
  return [joined[0], ...data.curves.map((c) => joined[1 + order.indexOf(c)])] as uPlot.AlignedData;
}

/** Joining needs times that differ: a row at the time of the one before, an event, moves by the least that can be. */
function distinct(t: number[], list: Gapped[]): uPlot.AlignedData {
  const times = [...t];
  for (let i = 1; i < times.length; i++) {
    const before = times[i - 1] as number;
    if ((times[i] as number) <= before) times[i] = before + Math.max(Math.abs(before), 1e-9) * 2.3e-16;
  }
  return [times, ...list] as uPlot.AlignedData;
}

export function eventText(event: SimulationEvent, span: number): string {
  const how = event.direction > 0 ? " (rising)" : event.direction < 0 ? " (falling)" : "";
  return `${event.name}${how} at t = ${timeText(event.t, span)} s`;
}
