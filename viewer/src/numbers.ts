// Numbers as people read them.

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const raise = (n: number): string => (n < 0 ? "⁻" : "") + [...String(Math.abs(n))].map((d) => superscripts[Number(d)]).join("");

/** About `digits` significant digits; very large and very small numbers as 1.234e-7. */
export function short(x: number, digits = 4): string {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e7) return minus(String(x));
  if (size < 1e-3 || size >= 1e6) return minus(x.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e"));
  return minus(String(Number(x.toPrecision(Math.max(digits, Math.floor(Math.log10(size)) + 1)))));
}

/** Like short, but with a constant number of digits, for readouts that must not jump about. */
export function steady(x: number, digits = 4): string {
  if (!Number.isFinite(x)) return short(x);
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 10) return minus(String(x));
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return minus(x.toExponential(digits - 1).replace("e+", "e"));
  return minus(x.toPrecision(digits).includes("e") ? x.toFixed(0) : x.toPrecision(digits));
}

/** All digits, as in the data. */
export const full = (x: number): string => String(x);

const minus = (s: string): string => s.replace(/^-/, "−");

/** 0.001 as 10⁻³, 0.002 as 2·10⁻³, and the middle of the range plainly. */
export function power(x: number): string {
  if (!(x > 0)) return short(x);
  const exponent = Math.floor(Math.log10(x) + 1e-9);
  const mantissa = x / 10 ** exponent;
  if (exponent >= -2 && exponent <= 3) return short(x, 3);
  const rounded = Math.round(mantissa * 10) / 10;
  return rounded === 1 ? `10${raise(exponent)}` : `${rounded}·10${raise(exponent)}`;
}

/** A round step such that about `count` of them cover the span. */
export function niceStep(span: number, count: number): number {
  const raw = span / Math.max(1, count);
  const decade = 10 ** Math.floor(Math.log10(raw));
  const ratio = raw / decade;
  return (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10) * decade;
}

/** Decimals needed to tell multiples of the step apart. */
export const decimals = (step: number): number => Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));

/** Seconds with decimals that suit the length of the run. */
export function timeText(t: number, span: number): string {
  const digits = span > 0 ? Math.max(2, Math.min(9, 3 - Math.floor(Math.log10(span)))) : 3;
  return minus(t.toFixed(digits));
}

export const withUnit = (label: string, unit: string): string => (unit ? `${label} [${unit}]` : label);
