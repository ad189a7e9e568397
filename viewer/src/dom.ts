// Small helpers to build elements.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | EventListener | ((event: never) => void) | null | undefined>;

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value as EventListener);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
}

/** Creates an element; attributes that are functions become event listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  for (const child of children) if (child) element.append(child);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  for (const child of children) if (child) element.append(child);
  return element;
}

const paths = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M4.9 4.9l1.8 1.8M17.3 17.3l1.8 1.8M19.1 4.9l-1.8 1.8M6.7 17.3l-1.8 1.8",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  loop: "M17 3l3 3-3 3M20 6H8a4 4 0 0 0-4 4v1M7 21l-3-3 3-3M4 18h12a4 4 0 0 0 4-4v-1",
  eye: "M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  camera: "M4 8h3l2-3h6l2 3h3v11H4zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
  first: "M6 5v14M19 5v14L9 12z",
  list: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
  reset: "M4 5v5h5M4.6 10a8 8 0 1 1-.6 4",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5V12l3 2",
  layers: "M12 3l9 5-9 5-9-5zM3 13l9 5 9-5",
  previous: "M16 5v14L7 12z",
  next: "M8 5v14l9-7z",
  film: "M4 5h16v14H4zM8 5v14M16 5v14M4 10h4M4 15h4M16 10h4M16 15h4",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
} as const;

const filled = new Set<string>(["play", "pause"]);

export type IconName = keyof typeof paths;

export function icon(name: IconName): SVGSVGElement {
  const fill = filled.has(name);
  return svg(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", fill: fill ? "currentColor" : "none", stroke: fill ? "none" : "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" },
    svg("path", { d: paths[name] }),
  );
}

/** A button with an icon, an accessible name, and a tooltip. */
export function iconButton(name: IconName, label: string, action: (event: MouseEvent) => void, text = ""): HTMLButtonElement {
  return h("button", { type: "button", class: text ? "button" : "button square", "aria-label": text ? null : label, title: label, click: action }, icon(name), text || null);
}

/** A button that opens a panel; a click elsewhere or Escape closes it. */
export function popover(button: HTMLButtonElement, build: () => HTMLElement): HTMLElement {
  const wrap = h("div", { class: "popover-wrap" }, button);
  let panel: HTMLElement | null = null;
  button.setAttribute("aria-expanded", "false");
  const onPointer = (event: Event): void => {
    if (!wrap.contains(event.target as Node)) close();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    close();
    button.focus();
  };
  function close(): void {
    panel?.remove();
    panel = null;
    button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", onPointer, true);
    document.removeEventListener("keydown", onKey, true);
  }
  button.addEventListener("click", () => {
    if (panel) return close();
    panel = build();
    panel.classList.add("popover");
    wrap.append(panel);
    keepInside(panel, button);
    button.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", onPointer, true);
    document.addEventListener("keydown", onKey, true);
    panel.querySelector<HTMLElement>("input[type=search]")?.focus();
  });
  return wrap;
}

/** Moves a panel into the window, above its button where there is more room, and no higher than it can be. */
function keepInside(panel: HTMLElement, button: HTMLElement): void {
  const margin = 8;
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const at = button.getBoundingClientRect();
  const header = document.querySelector("header.top");
  const top = header && getComputedStyle(header).position === "sticky" ? header.getBoundingClientRect().bottom : 0;
  const [above, below] = [at.top - top - margin - 5, height - at.bottom - margin - 5];
  const wanted = Math.min(panel.scrollHeight + 2, 420);
  const up = below < wanted && above > below;
  panel.classList.toggle("upwards", up);
  panel.style.maxHeight = `${Math.max(120, Math.min(420, up ? above : below))}px`;
  const box = panel.getBoundingClientRect();
  const shift = box.right > width - margin ? width - margin - box.right : box.left < margin ? margin - box.left : 0;
  if (shift) panel.style.transform = `translateX(${shift}px)`;
}

/** Offers text or a picture as a file. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A part of the page that scrolls by itself and shows at its edges that there is more. */
export function scrollBox(name: string, label: string, content: HTMLElement): HTMLElement {
  const inner = h("div", { class: `scroll ${name}`, tabindex: 0, role: "region", "aria-label": label }, content);
  const outer = h("div", { class: "scroll-box" }, inner);
  const refresh = (): void => {
    outer.classList.toggle("more-right", inner.scrollLeft + inner.clientWidth < inner.scrollWidth - 2);
    outer.classList.toggle("more-below", inner.scrollTop + inner.clientHeight < inner.scrollHeight - 2);
  };
  inner.addEventListener("scroll", refresh, { passive: true });
  const observer = new ResizeObserver(refresh);
  observer.observe(inner);
  observer.observe(content);
  return outer;
}
