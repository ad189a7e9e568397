// Reads the data of the page, shows one result or study at a time, and drives the animation.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Problem } from "./array";
import { makeBadge } from "./certificate";
import { h, icon } from "./dom";
import type { Item, Page, Result } from "./format";
import { readPage } from "./read";
import { makeResult, type Sheet } from "./result";
import { makeStudy } from "./study";
import { isDark, onTheme, startTheme, toggleTheme } from "./theme";
import { handleKey } from "./transport";

function message(title: string, text: string): HTMLElement {
  return h("main", { class: "message", role: "alert" }, h("h1", {}, title), h("p", {}, text));
}

function makeSheet(item: Item, items: Item[]): Sheet {
  try {
    if (item.kind === "result") return makeResult(item, items.filter((i): i is Result => i.kind === "result"));
    if (item.kind === "study") return makeStudy(item);
    return { element: message(`${item.name} cannot be shown`, item.problem), clock: null, draw: () => {}, dispose: () => {} };
  } catch (error) {
    if (!(error instanceof Problem)) console.error(error);
    return { element: message(`${item.name} cannot be shown`, (error as Error).message), clock: null, draw: () => {}, dispose: () => {} };
  }
}

const maxSheets = 6; // kept as the reader left them

class App {
  private readonly sheets = new Map<number, Sheet>();
  private readonly main = h("main", { id: "sheet", tabindex: -1 });
  private readonly badge = h("span", { class: "badge-place" });
  private readonly file = h("span", { class: "hint file", title: "Name of the file that is shown" });
  private readonly tabs: HTMLButtonElement[] = [];
  private current = 0;

  constructor(private readonly page: Page) {}

  start(root: HTMLElement): void {
    document.title = this.page.title;
    root.replaceChildren(this.header(), this.main, h("footer", {}, `Made by ${this.page.version}. This file is complete in itself and loads nothing from a network.`));
    const asked = Number(/^#(\d+)$/.exec(location.hash)?.[1] ?? 1) - 1;
    this.show(asked >= 0 && asked < this.page.items.length ? asked : 0);
    addEventListener("hashchange", () => {
      const i = Number(/^#(\d+)$/.exec(location.hash)?.[1] ?? 0) - 1;
      if (i >= 0 && i < this.page.items.length && i !== this.current) this.show(i);
    });
    document.addEventListener("keydown", (event) => {
      const sheet = this.sheets.get(this.current);
      if (sheet?.clock) handleKey(event, sheet.clock, sheet.frames ?? []);
    });
    this.animate();
  }

  private header(): HTMLElement {
    const theme = h("button", { type: "button", class: "button square quiet", click: toggleTheme });
    onTheme(() => {
      theme.replaceChildren(icon(isDark() ? "sun" : "moon"));
      theme.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
      theme.title = isDark() ? "Light colours" : "Dark colours";
    });
    return h("header", { class: "top" }, h("h1", {}, this.page.title), this.file, this.badge, h("span", { class: "spring" }), this.switcher(), theme);
  }

  /** Tabs for a few entries, a list for many. */
  private switcher(): HTMLElement | null {
    const { items } = this.page;
    if (items.length < 2) return null;
    if (items.length > 6) {
      const select = h("select", { "aria-label": "Result or study to show" }, ...items.map((item, i) => h("option", { value: i }, item.name)));
      select.addEventListener("change", () => this.show(Number(select.value)));
      return select;
    }
    items.forEach((item, i) => this.tabs.push(h("button", { type: "button", class: "tab", click: () => this.show(i) }, item.name)));
    return h("nav", { class: "tabs", "aria-label": "Results and studies" }, ...this.tabs);
  }

  private show(i: number): void {
    this.sheets.get(this.current)?.clock?.pause();
    this.current = i;
    const item = this.page.items[i] as Item;
    const sheet = this.sheets.get(i) ?? makeSheet(item, this.page.items);
    this.sheets.delete(i);
    this.sheets.set(i, sheet); // the last in the map is the one used last
    this.forgetOldest();
    this.main.replaceChildren(sheet.element);
    this.badge.replaceChildren(...(item.kind === "result" ? [makeBadge(item)].filter((b): b is HTMLElement => b !== null) : []));
    this.file.textContent = this.page.items.length === 1 && item.kind === "result" && item.name !== this.page.title ? item.name : "";
    this.tabs.forEach((tab, k) => tab.setAttribute("aria-current", k === i ? "page" : "false"));
    this.tabs[i]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const select = document.querySelector<HTMLSelectElement>("header.top select");
    if (select) select.value = String(i);
    if (this.page.items.length > 1) location.replace(`#${i + 1}`);
  }

  private forgetOldest(): void {
    const oldest = this.sheets.keys().next().value;
    if (this.sheets.size <= maxSheets || oldest === undefined) return;
    this.sheets.get(oldest)?.dispose();
    this.sheets.delete(oldest);
  }

  private animate(): void {
    let last = performance.now();
    const frame = (now: number): void => {
      const sheet = this.sheets.get(this.current);
      sheet?.clock?.advance(Math.min(0.1, (now - last) / 1000));
      sheet?.draw();
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}

function start(): void {
  startTheme();
  const root = document.getElementById("app") as HTMLElement;
  try {
    new App(readPage(document.getElementById("bogie-data")?.textContent ?? "null")).start(root);
  } catch (error) {
    if (!(error instanceof Problem)) console.error(error);
    root.replaceChildren(message("Nothing to show", (error as Error).message));
  }
}

start();
