// Plots as files: a picture with its legend, and numbers as CSV.

import { download } from "../dom";
import { withUnit } from "../numbers";
import { cssColour } from "../theme";
import type { Gapped } from "./rows";

export interface SavedCurve {
  name: string;
  unit: string;
  colour: string;
  x: number[];
  values: Gapped;
}

const fileName = (text: string): string => text.replace(/[^\p{L}\p{N}.,_ -]+/gu, "_").slice(0, 80) || "plot";

/** The canvas of a plot on its ground, with the names of its curves above it. */
export function savePicture(name: string, canvas: HTMLCanvasElement, curves: SavedCurve[], xLabel: string): void {
  const ratio = devicePixelRatio || 1;
  const made = document.createElement("canvas");
  const context = made.getContext("2d");
  if (!context) return;
  const line = 18 * ratio;
  const font = `${12 * ratio}px system-ui, sans-serif`;
  context.font = font;
  const rows: SavedCurve[][] = [[]];
  let used = 0;
  for (const curve of curves) {
    const wide = context.measureText(withUnit(curve.name, curve.unit)).width + 34 * ratio;
    if (used + wide > canvas.width && used > 0) {
      rows.push([]);
      used = 0;
    }
    used += wide;
    (rows[rows.length - 1] as SavedCurve[]).push(curve);
  }
  const head = rows.length * line + 10 * ratio;
  made.width = canvas.width;
  made.height = canvas.height + head + line;
  context.fillStyle = cssColour("--card");
  context.fillRect(0, 0, made.width, made.height);
  context.font = font;
  context.textBaseline = "middle";
  rows.forEach((row, i) => {
    let x = 14 * ratio;
    for (const curve of row) {
      const y = (i + 0.5) * line + 6 * ratio;
      context.fillStyle = curve.colour;
      context.fillRect(x, y - 5 * ratio, 10 * ratio, 10 * ratio);
      context.fillStyle = cssColour("--ink");
      context.fillText(withUnit(curve.name, curve.unit), x + 16 * ratio, y);
      x += context.measureText(withUnit(curve.name, curve.unit)).width + 34 * ratio;
    }
  });
  context.drawImage(canvas, 0, head);
  context.fillStyle = cssColour("--muted");
  context.textAlign = "right";
  context.fillText(xLabel, made.width - 12 * ratio, made.height - line / 2);
  made.toBlob((blob) => blob && download(`${fileName(name)}.png`, blob));
}

/** One column for x and one for each curve; curves with other x have cells of their own rows. */
export function toCsv(xLabel: string, curves: SavedCurve[]): string {
  const quote = (s: string): string => (/[",\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s);
  const cell = (x: number | null | undefined): string => (x === null || x === undefined ? "" : String(x));
  const rows = new Map<number[], number[]>();
  for (const curve of curves) rows.set(curve.x, curve.x);
  const lines = [[xLabel, ...curves.map((c) => withUnit(c.name, c.unit))].map(quote).join(",")];
  if (rows.size === 1) {
    (curves[0] as SavedCurve).x.forEach((x, i) => lines.push([x, ...curves.map((c) => c.values[i])].map(cell).join(",")));
    return `${lines.join("\n")}\n`;
  }
  const all: [number, number, number[]][] = [];
  for (const x of rows.values()) x.forEach((value, i) => all.push([value, i, x]));
  all.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  for (const [value, i, x] of all) lines.push([cell(value), ...curves.map((c) => (c.x === x ? cell(c.values[i]) : ""))].join(","));
  return `${lines.join("\n")}\n`;
}

/** Two columns for each curve, row by row: x may go to and fro. */
export function toPairs(xLabel: string, curves: SavedCurve[]): string {
  const length = Math.max(0, ...curves.map((c) => c.x.length));
  const lines = [curves.flatMap((c) => [`${xLabel} of ${c.name}`, withUnit(c.name, c.unit)]).map((s) => `"${s.replace(/"/g, '""')}"`).join(",")];
  for (let i = 0; i < length; i++) lines.push(curves.flatMap((c) => [c.x[i] ?? "", c.values[i] ?? ""]).join(","));
  return `${lines.join("\n")}\n`;
}

export function saveCsv(name: string, text: string): void {
  download(`${fileName(name)}.csv`, new Blob([text], { type: "text/csv" }));
}
