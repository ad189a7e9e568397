// Light or dark: what the system prefers until the reader chooses.

type Listener = (dark: boolean) => void;

const key = "bogie-theme";
const query = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<Listener>();

function stored(): string | null {
  try {
    return localStorage.getItem(key); // may be forbidden for pages opened from a file
  } catch {
    return null;
  }
}

let chosen = stored();

export const isDark = (): boolean => (chosen ? chosen === "dark" : query.matches);

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener(isDark());
}

export function startTheme(): void {
  query.addEventListener("change", apply);
  apply();
}

export function toggleTheme(): void {
  chosen = isDark() ? "light" : "dark";
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // The choice then holds until the page is closed.
  }
  apply();
}

/** Calls back now and at every change, until the returned function is called. */
export function onTheme(listener: Listener): () => void {
  listeners.add(listener);
  listener(isDark());
  return () => listeners.delete(listener);
}

export const cssColour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Distinct colours that go together, for bodies and for curves, readable on light and dark ground. */
export const palette = [
  "#3b7dd8", "#e07b39", "#2a9d8f", "#b565a7", "#cf9f1f", "#5f9e55", "#cc4f43", "#7a74d6", "#2fa3c7", "#a67852", "#93b02f", "#d9698f",
] as const;

export const colourOf = (i: number): string => palette[i % palette.length] as string;
