// The history of a run as plots: step sizes with orders, and constraint errors.

import type { LazyArray } from "../array";
import type { Residuals, Steps } from "../format";
import { colourOf } from "../theme";
import type { Curve, PlotData } from "./plot";
import { pickRows, usableRows } from "./rows";

/** Values of accepted rows; a rejected row repeats the accepted value before it, so that the line has no gap. */
function holdOver(rows: number[], isAccepted: (i: number) => boolean, value: (i: number) => number | null): (number | null)[] {
  let held: number | null = null;
  return rows.map((i) => {
    if (isAccepted(i)) held = value(i);
    return held;
  });
}

export function stepData(steps: Steps): PlotData {
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

export function residualData(residuals: Residuals): PlotData {
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
