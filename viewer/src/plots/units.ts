// Units the reader may choose for an axis, and what a number in one is in another.

interface Unit {
  name: string;
  factor: number; // to the unit of the family that is written first
}

const u = (name: string, factor: number): Unit => ({ name, factor });
const degree = Math.PI / 180;

const families: Unit[][] = [
  [u("m", 1), u("mm", 1e-3), u("cm", 1e-2), u("km", 1e3), u("in", 0.0254), u("ft", 0.3048)],
  [u("m/s", 1), u("km/h", 1 / 3.6), u("mm/s", 1e-3), u("mph", 0.44704)],
  [u("m/s²", 1), u("g0", 9.80665), u("mm/s²", 1e-3)],
  [u("rad", 1), u("°", degree), u("mrad", 1e-3), u("turns", 2 * Math.PI)],
  [u("rad/s", 1), u("°/s", degree), u("1/min", Math.PI / 30), u("Hz", 2 * Math.PI)],
  [u("rad/s²", 1), u("°/s²", degree)],
  [u("N", 1), u("kN", 1e3), u("MN", 1e6), u("lbf", 4.4482216152605)],
  [u("N m", 1), u("kN m", 1e3), u("N mm", 1e-3)],
  [u("N/m", 1), u("N/mm", 1e3), u("kN/m", 1e3)],
  [u("J", 1), u("kJ", 1e3), u("MJ", 1e6)],
  [u("W", 1), u("kW", 1e3), u("PS", 735.49875)],
  [u("Pa", 1), u("kPa", 1e3), u("bar", 1e5), u("MPa", 1e6)],
  [u("kg", 1), u("t", 1e3), u("g", 1e-3)],
  [u("s", 1), u("ms", 1e-3), u("min", 60), u("h", 3600)],
  [u("1", 1), u("%", 0.01)],
];

/** Other ways to write the same unit, those of model files among them. */
const spellings: Record<string, string> = { deg: "°", "deg/s": "°/s", "deg/s²": "°/s²", "deg/s^2": "°/s²", "m/s^2": "m/s²", "rad/s^2": "rad/s²", Nm: "N m", "N·m": "N m", kNm: "kN m", rpm: "1/min", kmh: "km/h", kph: "km/h", rev: "turns" };

const canonical = (unit: string): string => spellings[unit] ?? unit;
const familyOf = (unit: string): Unit[] | null => families.find((f) => f.some((x) => x.name === canonical(unit))) ?? null;

/** The units a quantity may be shown in; a single one where nothing is known about it. */
export const choices = (unit: string): string[] => familyOf(unit)?.map((x) => x.name) ?? [unit];

/** Whether numbers in one unit can be written in the other. */
export const isAlike = (a: string, b: string): boolean => a === b || (familyOf(a) !== null && familyOf(a) === familyOf(b));

/** What a number in one unit has to be multiplied by in another of its family. */
export function factor(from: string, to: string): number {
  const family = familyOf(from);
  const [a, b] = [family?.find((x) => x.name === canonical(from)), family?.find((x) => x.name === canonical(to))];
  return a && b ? a.factor / b.factor : 1;
}

const key = "bogie-units";

/** The reader's choice for every unit, kept from page to page where the browser allows it. */
export class UnitChoice {
  private chosen: Record<string, string> = {};
  private readonly listeners = new Set<() => void>();

  constructor() {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
      if (typeof stored === "object" && stored !== null) this.chosen = stored as Record<string, string>;
    } catch {
      // Forbidden for pages opened from a file, or not what was written: nothing is chosen.
    }
  }

  of(unit: string): string {
    const chosen = this.chosen[canonical(unit)];
    return typeof chosen === "string" && choices(unit).includes(chosen) ? chosen : unit;
  }

  set(unit: string, wanted: string): void {
    this.chosen[canonical(unit)] = wanted;
    try {
      localStorage.setItem(key, JSON.stringify(this.chosen));
    } catch {
      // The choice then holds until the page is closed.
    }
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export const units = new UnitChoice();
