// A plot of one quantity over another: phase plots and spectra. Drawn into a canvas; zoom by wheel, pinch or drag.

import { locate } from "../array";
import type { Clock } from "../clock";
import { h } from "../dom";
import { short } from "../numbers";
import { Scale } from "../scales";
import { cssColour } from "../theme";
import { stretch } from "./gestures";
import type { Gapped } from "./rows";

export interface XyCurve {
  name: string;
  unit: string;
  colour: string;
  dash?: number[];
  short?: string; // for the legend
  x: Gapped;
  y: Gapped;
  t?: number[]; // then the animation's time is marked on it
}

export interface XyData {
  curves: XyCurve[];
  xLabel: string;
  yLabel: string;
  log: boolean; // both axes
}

const margin = { left: 58, right: 20, top: 10, bottom: 36 };

interface Window {
  x: [number, number];
  y: [number, number];
}

const defined = (values: Gapped): number[] => values.filter((v): v is number => v !== null);

/** Extremes without spreading a long list over the stack. */
function scaleOver(lists: Gapped[], log: boolean): Scale {
  let [low, high] = [Infinity, -Infinity];
  for (const values of lists)
    for (const v of defined(values))
      if (!log || v > 0) {
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
  return Scale.over(low <= high ? [log ? Math.max(low, high * 1e-9) : low, high] : [], log);
}

export class XyPlot {
  readonly element = h("div", { class: "plot xy" });
  readonly canvas = h("canvas", { role: "img" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly observer: ResizeObserver;
  private window: Window | null = null; // what the reader zoomed to, in parts of the whole
  private readonly full: { x: Scale; y: Scale };

  constructor(readonly data: XyData, private readonly clock: Clock, private readonly height: number) {
    this.full = { x: scaleOver(data.curves.map((c) => c.x), data.log), y: scaleOver(data.curves.map((c) => c.y), data.log) };
    this.canvas.setAttribute("aria-label", `${data.yLabel} over ${data.xLabel}`);
    this.element.append(this.canvas, this.tip);
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.element);
    this.listen();
  }

  private scales(): { x: Scale; y: Scale } {
    if (!this.window) return this.full;
    const part = (scale: Scale, [a, b]: [number, number]): Scale => scale.part(a, b);
    return { x: part(this.full.x, this.window.x), y: part(this.full.y, this.window.y) };
  }

  private get inner(): { width: number; height: number } {
    return { width: Math.max(10, this.element.clientWidth - margin.left - margin.right), height: this.height - margin.top - margin.bottom };
  }

  redraw(): void {
    const width = this.element.clientWidth;
    const context = this.canvas.getContext("2d");
    if (width === 0 || !context) return;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    this.canvas.style.width = `${width}px`;
    context.scale(ratio, ratio);
    const { x, y } = this.scales();
    const inner = this.inner;
    const at = (a: number, b: number): [number, number] => [margin.left + x.place(a) * inner.width, margin.top + (1 - y.place(b)) * inner.height];
    this.drawAxes(context, x, y, at);
    context.save();
    context.beginPath();
    context.rect(margin.left, margin.top, inner.width, inner.height);
    context.clip();
    for (const curve of this.data.curves) this.drawCurve(context, curve, x, y, at);
    for (const curve of this.data.curves) this.drawNow(context, curve, at);
    context.restore();
  }

  private drawAxes(context: CanvasRenderingContext2D, x: Scale, y: Scale, at: (a: number, b: number) => [number, number]): void {
    const inner = this.inner;
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = cssColour("--muted");
    context.strokeStyle = cssColour("--plot-grid");
    context.lineWidth = 1;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of x.ticks(Math.max(2, inner.width / 80))) {
      const [px] = at(tick.value, y.min);
      context.globalAlpha = tick.text ? 1 : 0.5;
      context.beginPath();
      context.moveTo(px, margin.top);
      context.lineTo(px, margin.top + inner.height);
      context.stroke();
      context.globalAlpha = 1;
      context.fillText(tick.text, px, margin.top + inner.height + 5);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of y.ticks(Math.max(2, inner.height / 36))) {
      const [, py] = at(x.min, tick.value);
      context.globalAlpha = tick.text ? 1 : 0.5;
      context.beginPath();
      context.moveTo(margin.left, py);
      context.lineTo(margin.left + inner.width, py);
      context.stroke();
      context.globalAlpha = 1;
      context.fillText(tick.text, margin.left - 6, py);
    }
    context.textAlign = "right";
    context.textBaseline = "bottom";
    context.fillText(this.data.xLabel, margin.left + inner.width, this.height - 2);
    context.save();
    context.translate(10, margin.top + inner.height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(this.data.yLabel, 0, 0);
    context.restore();
  }

  private drawCurve(context: CanvasRenderingContext2D, curve: XyCurve, x: Scale, y: Scale, at: (a: number, b: number) => [number, number]): void {
    context.beginPath();
    let pen = false;
    for (let i = 0; i < curve.x.length; i++) {
      const [a, b] = [curve.x[i], curve.y[i]];
      if (!x.accepts(a) || !y.accepts(b)) {
        pen = false;
        continue;
      }
      const [px, py] = at(a, b);
      if (pen) context.lineTo(px, py);
      else context.moveTo(px, py);
      pen = true;
    }
    context.strokeStyle = curve.colour;
    context.lineWidth = 1.5;
    context.lineJoin = "round";
    context.setLineDash(curve.dash ?? []);
    context.stroke();
    context.setLineDash([]);
  }

  /** A dot where the curve is at the animation's time. */
  private drawNow(context: CanvasRenderingContext2D, curve: XyCurve, at: (a: number, b: number) => [number, number]): void {
    if (!curve.t) return;
    const i = locate(curve.t, this.clock.t);
    const [a, b] = [curve.x[i] ?? null, curve.y[i] ?? null];
    if (a === null || b === null) return;
    const [t0, t1] = [curve.t[i] as number, curve.t[i + 1] ?? (curve.t[i] as number)];
    const s = t1 > t0 ? Math.min(1, Math.max(0, (this.clock.t - t0) / (t1 - t0))) : 0;
    const mix = (u: number, v: number | null | undefined): number => (v === null || v === undefined ? u : u + s * (v - u));
    const [px, py] = at(mix(a, curve.x[i + 1]), mix(b, curve.y[i + 1]));
    context.beginPath();
    context.arc(px, py, 4.5, 0, 2 * Math.PI);
    context.fillStyle = curve.colour;
    context.fill();
    context.strokeStyle = cssColour("--card");
    context.lineWidth = 1.5;
    context.stroke();
  }

  moveCursor(): void {
    if (this.data.curves.some((c) => c.t)) this.redraw();
  }

  get zoomed(): boolean {
    return this.window !== null;
  }

  /** Shows a part of the whole, both axes in parts between 0 and 1. */
  zoomTo(window: Window | null): void {
    const clamp = ([a, b]: [number, number]): [number, number] => {
      const span = Math.min(1, Math.max(1e-5, b - a));
      const low = Math.min(1 - span, Math.max(0, a));
      return [low, low + span];
    };
    this.window = window && { x: clamp(window.x), y: clamp(window.y) };
    if (this.window && this.window.x[1] - this.window.x[0] >= 1 && this.window.y[1] - this.window.y[0] >= 1) this.window = null;
    this.redraw();
  }

  private listen(): void {
    const { canvas } = this;
    const now = (): Window => this.window ?? { x: [0, 1], y: [0, 1] };
    const local = (event: MouseEvent): [number, number] => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left - margin.left, event.clientY - box.top - margin.top];
    };
    const partX = (px: number): number => now().x[0] + (px / this.inner.width) * (now().x[1] - now().x[0]);
    const partY = (py: number): number => now().y[0] + (1 - py / this.inner.height) * (now().y[1] - now().y[0]);
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const factor = event.deltaY + event.deltaX > 0 ? 1.25 : 0.8;
      const [px, py] = local(event);
      const [cx, cy] = [partX(px), partY(py)];
      const about = ([a, b]: [number, number], c: number): [number, number] => [c - (c - a) * factor, c + (b - c) * factor];
      this.zoomTo({ x: about(now().x, cx), y: about(now().y, cy) });
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.zoomTo(null));
    const fingers = new Map<number, [number, number]>();
    let held: { x: [number, number]; y: [number, number] } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      fingers.set(event.pointerId, local(event));
      canvas.setPointerCapture(event.pointerId);
      const all = [...fingers.values()];
      held = all.length === 2 ? { x: all.map((p) => partX(p[0])) as [number, number], y: all.map((p) => partY(p[1])) as [number, number] } : null;
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      const place = local(event);
      if (!before) return this.showTip(place);
      fingers.set(event.pointerId, place);
      const all = [...fingers.values()] as [number, number][];
      const window = now();
      if (all.length === 2 && held) {
        const x = stretch(held.x, [(all[0] as [number, number])[0], (all[1] as [number, number])[0]], this.inner.width) ?? window.x;
        const flipped = all.map((p) => this.inner.height - p[1]) as [number, number];
        this.zoomTo({ x, y: stretch(held.y, flipped, this.inner.height) ?? window.y });
      } else if (this.zoomed) {
        const dx = partX(before[0]) - partX(place[0]);
        const dy = partY(before[1]) - partY(place[1]);
        this.zoomTo({ x: [window.x[0] + dx, window.x[1] + dx], y: [window.y[0] + dy, window.y[1] + dy] });
      }
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => fingers.delete((event as PointerEvent).pointerId));
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
  }

  /** The values of the point of a curve that is nearest to the pointer. */
  private showTip([px, py]: [number, number]): void {
    const { x, y } = this.scales();
    const inner = this.inner;
    let best: { curve: XyCurve; a: number; b: number; d: number } | null = null;
    for (const curve of this.data.curves)
      for (let i = 0; i < curve.x.length; i++) {
        const [a, b] = [curve.x[i], curve.y[i]];
        if (!x.accepts(a) || !y.accepts(b)) continue;
        const d = Math.hypot(x.place(a) * inner.width - px, (1 - y.place(b)) * inner.height - py);
        if (!best || d < best.d) best = { curve, a, b, d };
      }
    this.tip.hidden = !best || best.d > 30;
    if (this.tip.hidden || !best) return;
    this.tip.replaceChildren(
      h("div", { class: "tip-time" }, `${this.data.xLabel}: ${short(best.a, 5)}`),
      h("div", {}, h("i", { class: "swatch", style: `background:${best.curve.colour}` }), `${best.curve.name} `, h("b", {}, short(best.b, 5)), best.curve.unit ? ` ${best.curve.unit}` : ""),
    );
    const flip = px > inner.width / 2;
    this.tip.style.transform = `translate(${px + margin.left + (flip ? -12 : 12)}px, ${Math.max(0, py - 10)}px) translateX(${flip ? "-100%" : "0"})`;
  }

  destroy(): void {
    this.observer.disconnect();
    this.element.remove();
  }
}
