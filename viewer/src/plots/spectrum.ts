// Amplitudes over frequency of a channel, from its rows on a grid of equal steps.
//
// The mean is taken off and a Hann window w applied, w_k = (1 - cos(2 pi k / n)) / 2, whose mean is 1/2; then the
// amplitude of a sine that has whole periods is 2 |X| / (n / 2), with X the discrete Fourier transform.

import { valueAt, type Gapped } from "./rows";

/** In place: the discrete Fourier transform of n = 2^m complex numbers, by halves (Cooley and Tukey). */
export function transform(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    [re[i], re[j]] = [re[j] as number, re[i] as number];
    [im[i], im[j]] = [im[j] as number, im[i] as number];
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    const angle = (-2 * Math.PI) / size;
    for (let k = 0; k < half; k++) {
      const [c, s] = [Math.cos(angle * k), Math.sin(angle * k)];
      for (let i = k; i < n; i += size) {
        const [x, y] = [re[i + half] as number, im[i + half] as number];
        const [tr, ti] = [x * c - y * s, x * s + y * c];
        re[i + half] = (re[i] as number) - tr;
        im[i + half] = (im[i] as number) - ti;
        re[i] = (re[i] as number) + tr;
        im[i] = (im[i] as number) + ti;
      }
    }
  }
}

export interface Spectrum {
  f: number[]; // Hz
  amplitude: number[];
}

const most = 16384;

/** Of the stretch from..to; null: there are gaps in it, or too few rows. */
export function spectrum(t: number[], values: Gapped, from: number, to: number): Spectrum | null {
  const inside = t.filter((x) => x >= from && x <= to).length;
  const [begin, end] = [Math.max(from, t[0] ?? 0), Math.min(to, t[t.length - 1] ?? 0)];
  if (inside < 8 || !(end > begin)) return null;
  const n = Math.min(most, 2 ** Math.ceil(Math.log2(inside)));
  const step = (end - begin) / n;
  const re = new Float64Array(n);
  const im = new Float64Array(n);
  let mean = 0;
  for (let k = 0; k < n; k++) {
    const x = valueAt(t, values, begin + k * step);
    if (x === null) return null;
    re[k] = x;
    mean += x / n;
  }
  for (let k = 0; k < n; k++) re[k] = ((re[k] as number) - mean) * 0.5 * (1 - Math.cos((2 * Math.PI * k) / n));
  transform(re, im);
  // Straight lines between rows say nothing beyond half of their mean rate.
  const last = Math.min(n / 2, Math.floor(inside / 2));
  const f = Array.from({ length: last }, (_, k) => (k + 1) / (n * step));
  return { f, amplitude: f.map((_, k) => (4 * Math.hypot(re[k + 1] as number, im[k + 1] as number)) / n) };
}
