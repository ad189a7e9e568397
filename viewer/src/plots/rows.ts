// The rows of a result that can be drawn, and values between them.

import { locate } from "../array";
import type { Channel, Result } from "../format";

export type Gapped = (number | null)[];

/** Rows whose time can be drawn: finite and not before an earlier one. */
export function usableRows(t: ArrayLike<number>): number[] {
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

export const pickRows = (rows: number[], values: ArrayLike<number>, ok: (x: number) => boolean): Gapped =>
  rows.map((i) => {
    const x = values[i] as number;
    return ok(x) ? x : null;
  });

/** The value at a time, on the straight line between two rows; null: outside, or a gap. Not straight: the row's before. */
export function valueAt(t: number[], values: Gapped, at: number, straight = true): number | null {
  const n = t.length;
  const i = locate(t, at);
  if (n === 0 || !straight) return values[i] ?? null; // what holds over a step
  if (at < (t[0] as number) || at > (t[n - 1] as number)) return null;
  const [x, next] = [values[i] ?? null, values[i + 1] ?? null];
  const [t0, t1] = [t[i] as number, t[i + 1] ?? (t[i] as number)];
  if (x === null || !(t1 > t0) || at === t0) return x;
  return next === null ? x : x + ((next - x) * (at - t0)) / (t1 - t0);
}

export class Rows {
  readonly times: number[];
  private readonly rows: number[];
  private readonly cache = new Map<Channel, Gapped>();

  constructor(readonly result: Result) {
    const t = result.t.get();
    this.rows = usableRows(t);
    this.times = this.rows.map((i) => t[i] as number);
  }

  values(channel: Channel): Gapped {
    let values = this.cache.get(channel);
    if (!values) {
      values = pickRows(this.rows, channel.data.get(), Number.isFinite);
      this.cache.set(channel, values);
    }
    return values;
  }

  find(channel: Channel): Channel | null {
    return this.result.channels.find((c) => c.name === channel.name && c.group === channel.group) ?? null;
  }
}
