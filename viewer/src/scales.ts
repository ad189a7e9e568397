// Linear and logarithmic axes of the study charts.

import { decimals, niceStep, power, short } from "./numbers";

export interface Tick {
  value: number;
  text: string; // empty: a fine line without a label
}

export class Scale {
  private constructor(readonly log: boolean, readonly min: number, readonly max: number) {}

  /** Covers the values with a margin; a logarithmic scale ignores values that are not positive. */
  static over(values: number[], log: boolean, zero = false): Scale {
    const usable = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
    let min = usable.reduce((a, b) => Math.min(a, b), Infinity);
    let max = usable.reduce((a, b) => Math.max(a, b), -Infinity);
    if (usable.length === 0) [min, max] = log ? [0.1, 10] : [0, 1];
    if (log) {
      const margin = Math.max(0.06 * Math.log10(max / min), 0.12);
      return new Scale(true, min * 10 ** -margin, max * 10 ** margin);
    }
    if (zero) [min, max] = [Math.min(min, 0), Math.max(max, 0)];
    const margin = max > min ? 0.05 * (max - min) : Math.abs(max) * 0.1 || 1;
    return new Scale(false, zero && min === 0 ? 0 : min - margin, zero && max === 0 ? 0 : max + margin);
  }

  static exactly(min: number, max: number): Scale {
    return new Scale(false, min, max);
  }

  /** The part between two places of this one. */
  part(from: number, to: number): Scale {
    const at = (s: number): number => (this.log ? this.min * (this.max / this.min) ** s : this.min + s * (this.max - this.min));
    return new Scale(this.log, at(from), at(to));
  }

  accepts(v: number | null | undefined): v is number {
    return typeof v === "number" && Number.isFinite(v) && (!this.log || v > 0);
  }

  /** Place between 0 and 1. */
  place(v: number): number {
    return this.log ? Math.log(v / this.min) / Math.log(this.max / this.min) : (v - this.min) / (this.max - this.min);
  }

  ticks(count: number): Tick[] {
    return this.log ? this.logTicks(count) : this.linearTicks(count);
  }

  private linearTicks(count: number): Tick[] {
    const step = niceStep(this.max - this.min, count);
    const ticks: Tick[] = [];
    for (let i = Math.ceil(this.min / step - 1e-9); i * step <= this.max * (1 + 1e-12) + step * 1e-9; i++) {
      const value = i * step;
      const plain = Math.abs(value) < 1e6 && step >= 1e-4;
      ticks.push({ value, text: plain ? value.toFixed(decimals(step)).replace("-", "−") : short(value, 3) });
    }
    return ticks;
  }

  private logTicks(count: number): Tick[] {
    const from = Math.floor(Math.log10(this.min));
    const to = Math.ceil(Math.log10(this.max));
    const decades = Math.log10(this.max / this.min);
    const every = Math.max(1, Math.ceil(decades / count));
    const labelled = decades < 1.2 ? [1, 2, 3, 5, 7] : decades < 2.5 ? [1, 2, 5] : [1];
    const ticks: Tick[] = [];
    for (let e = from; e <= to; e++)
      for (let m = 1; m < 10; m++) {
        const value = m * 10 ** e;
        if (value < this.min || value > this.max) continue;
        if (labelled.includes(m) && e % every === 0) ticks.push({ value, text: power(value) });
        else if (decades < 7) ticks.push({ value, text: "" });
      }
    return ticks;
  }
}
