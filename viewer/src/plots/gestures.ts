// Two fingers on a plot: what is under each stays under it, so that spreading zooms and moving pans.

import type { TimeAxis } from "./axis";

/** The part of an axis that puts two values under two places of an element so wide; null: they are too close. */
export function stretch(values: [number, number], places: [number, number], width: number): [number, number] | null {
  const [a, b] = places;
  if (Math.abs(b - a) < 8 || !(width > 0)) return null;
  const span = ((values[1] - values[0]) / (b - a)) * width;
  const min = values[0] - (a / width) * span;
  return span > 0 ? [min, min + span] : null;
}

/** Listens on the element; returns how many fingers are on it. `begin` is called when there are two. */
export function followFingers(over: HTMLElement, axis: TimeAxis, begin: () => void): () => number {
  const fingers = new Map<number, number>(); // places by pointer
  let held: [number, number] = [0, 0]; // times under both
  const place = (event: PointerEvent): number => event.clientX - over.getBoundingClientRect().left;
  const hold = (): void => {
    held = [...fingers.values()].map((x) => axis.min + (x / over.clientWidth) * (axis.max - axis.min)) as [number, number];
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    fingers.set(event.pointerId, place(event));
    if (fingers.size !== 2) return;
    begin();
    hold();
  }, true);
  over.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, place(event));
    if (fingers.size !== 2) return;
    const range = stretch(held, [...fingers.values()] as [number, number], over.clientWidth);
    if (range) axis.set(...range);
  }, true);
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const)
    over.addEventListener(end, (event) => {
      fingers.delete(event.pointerId);
      if (fingers.size === 2) hold();
    });
  return () => fingers.size;
}
