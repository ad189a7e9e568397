// Screenshots for the documentation, of pages that the program made. Usage: node pictures.mjs PAGES PICTURES
// scripts/make-pictures makes the pages and calls this.
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [pages, pictures] = process.argv.slice(2).map((folder) => resolve(folder));
const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const browser = await launch();

async function take(picture, name, { viewport = desktop, colorScheme = "light", place, prepare, only } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, hasTouch: viewport === phone });
  const view = await context.newPage();
  view.on("pageerror", (error) => { throw error; });
  await view.goto(pathToFileURL(join(pages, `${name}.html`)).href);
  await view.waitForTimeout(500);
  if (place !== undefined)
    await view.locator(".scrubber").evaluate((input, value) => {
      input.value = String(value);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }, place * 10000);
  if (prepare) await prepare(view);
  await view.waitForTimeout(500);
  const path = join(pictures, `${picture}.png`);
  if (only) await view.locator(only).first().screenshot({ path });
  else await view.screenshot({ path });
  await context.close();
}

const show = (entries) => async (view) => {
  for (const [button, texts] of entries) {
    await view.getByRole("button", { name: button, exact: true }).click();
    for (const text of texts) await view.getByRole("dialog").getByText(text).first().click();
    await view.keyboard.press("Escape");
  }
};

await take("stair", "stair", { place: 0.22 });
await take("stair-dark", "stair", { place: 0.23, colorScheme: "dark", prepare: show([["Show", [/Reaction forces/]]]) });
await take("stair-phone", "stair", { place: 0.22, viewport: phone });
await take("compare", "compare", { place: 0.3 });
await take("wheel-view", "hmmwv14", { place: 0.103, only: ".stage", viewport: { width: 1180, height: 620 }, prepare: async (view) => {
  await view.getByLabel("How the camera moves").selectOption({ index: 3 });
} });
await take("forces", "passenger-car", { place: 0.3, only: ".stage", viewport: { width: 1180, height: 620 }, prepare: show([["Show", [/Forces on wheels/, /Forces of springs/, /Reaction forces/]]]) });
await take("plots", "vehicle-trailer", { place: 0.4, only: ".plots", viewport: { width: 1280, height: 900 }, prepare: async (view) => {
  const choose = (card, entry) => view.locator(".plot-card").nth(card).getByRole("button", { name: "Choose channels" }).click().then(() => view.getByRole("dialog").getByText(entry, { exact: true }).click()).then(() => view.keyboard.press("Escape"));
  await view.locator(".plot-card").nth(2).getByLabel("Unit of what is given in m/s", { exact: true }).selectOption("km/h");
  await view.locator(".plot-card").evaluateAll((cards) => cards.slice(3).forEach((card) => card.remove()));
  await choose(1, "x–y");
  await choose(2, "spectrum");
} });
await take("work-precision", "work-precision-andrews", { viewport: { width: 1280, height: 1000 }, prepare: (view) => view.mouse.wheel(0, 800) });
await take("order-all", "order-all", { viewport: { width: 1000, height: 800 }, prepare: (view) => view.mouse.wheel(0, 1e5) });
await take("table1-dark", "simeon-table1", { colorScheme: "dark", viewport: { width: 1280, height: 1000 } });

// one small picture of each model
for (const name of readdirSync(pages).filter((file) => file.endsWith(".h5") && !["stair.h5", "slow.h5"].includes(file)).map((file) => file.slice(0, -3)))
  if (existsSync(join(pages, `${name}.html`)))
    await take(`model-${name}`, name, { viewport: { width: 820, height: 640 }, place: 0.3, only: "canvas[role=img]" });
await browser.close();
