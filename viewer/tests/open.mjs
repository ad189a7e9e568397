// Pages opened in a real browser from a file, and what tests do with them.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { assemble } from "./assemble.mjs";
import { launch } from "./browser.mjs";
import { readPng } from "./png.mjs";

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };
const directory = mkdtempSync(join(tmpdir(), "bogie-pages-"));
let browser;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(directory, { recursive: true });
});

let count = 0;
/** Opens a page with the data; fails on console errors, uncaught errors, and requests to anything but the file. */
export async function open(data, { hash = "", viewport = desktop, colorScheme = "light", from = browser, touch = false } = {}) {
  const file = pathToFileURL(assemble(join(directory, `${count++}.html`), data)).href;
  const context = await from.newContext({ viewport, colorScheme, hasTouch: touch });
  const view = await context.newPage();
  view.setDefaultTimeout(30000);
  const troubles = [];
  view.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !/GPU stall|GL Driver Message|swiftshader/i.test(message.text())) troubles.push(message.text());
  });
  view.on("pageerror", (error) => troubles.push(String(error)));
  view.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) troubles.push(`request to ${request.url()}`);
  });
  await view.goto(file + hash);
  await settle(view);
  return {
    view,
    close: async () => {
      await settle(view);
      await context.close();
      assert.deepEqual(troubles, []);
    },
  };
}

/** Waits until what was asked for has been drawn. */
export const settle = (view) => view.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
export const picture = async (view, selector) => readPng(await view.locator(selector).first().screenshot());
export const scrub = async (view, place) => {
  await view.locator(".scrubber").evaluate((input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, Math.round(place * 10000));
  await settle(view);
};
export const cursorX = (view) => view.locator(".time-line").first().evaluate((line) => line.getBoundingClientRect().left - line.parentElement.getBoundingClientRect().left);
export const shownTime = async (view) => Number.parseFloat(await view.locator(".time b").innerText());
export const hasNoSidewaysScroll = (view) => view.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
