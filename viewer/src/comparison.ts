// Other results of the page laid over the one that is shown: in its plots, and as ghosts in its animation.

import type { Result } from "./format";
import { Rows } from "./plots/rows";

export const ghostColours = ["#8a63d2", "#2a9d8f", "#d0609a", "#c08a2b", "#4f7fd6", "#6b9a3a"];
const dashes = [[6, 4], [2, 3], [10, 3, 2, 3], [4, 2, 1, 2], [1, 2], [12, 4]];

export interface Other {
  result: Result;
  on: boolean;
  colour: string; // of its ghost
  dash: number[]; // of its curves
}

const outputs = (result: Result): string[] => {
  const own = result.channels.filter((c) => c.group === "outputs");
  return (own.length ? own : result.channels).map((c) => `${c.group}/${c.name}`);
};

/** Whether two results have curves in common. */
const isRelated = (a: Result, b: Result): boolean => {
  const names = new Set(outputs(a));
  return outputs(b).some((name) => names.has(name));
};

/** Whether they are runs of the same thing, so that they are compared without being asked. */
const isSame = (a: Result, b: Result): boolean => {
  const bodies = (r: Result): string => (r.scene ? r.scene.bodies.map((body) => body.name).join("\n") : "");
  return outputs(a).join("\n") === outputs(b).join("\n") && bodies(a) === bodies(b);
};

const maxAtOnce = 3;

export class Comparison {
  readonly others: Other[];
  differences = false;
  ghosts = true;
  private readonly rows = new Map<Result, Rows>();
  private readonly listeners = new Set<() => void>();

  constructor(readonly own: Result, results: Result[]) {
    let shown = 0;
    this.others = results
      .filter((r) => r !== own && isRelated(own, r))
      .map((result, i) => ({
        result,
        on: isSame(own, result) && shown++ < maxAtOnce,
        colour: ghostColours[i % ghostColours.length] as string,
        dash: dashes[i % dashes.length] as number[],
      }));
  }

  get shown(): Other[] {
    return this.others.filter((other) => other.on);
  }

  rowsOf(result: Result): Rows {
    let rows = this.rows.get(result);
    if (!rows) this.rows.set(result, (rows = new Rows(result)));
    return rows;
  }

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }
}
