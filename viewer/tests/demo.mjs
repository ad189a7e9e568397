// Writes dist/demo.html with all the synthetic data, and with a directory as argument the pictures of it.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { assemble, root } from "./assemble.mjs";
import { launch } from "./browser.mjs";
import { equations, fourBar, longDrive, page, study, suspension, zeroSteps } from "./data.mjs";

const file = assemble(join(root, "dist/demo.html"), page([suspension(), fourBar(), equations(), zeroSteps(), longDrive()], [study()]));
console.log(file);

const [directory] = process.argv.slice(2);
if (directory) {
  mkdirSync(directory, { recursive: true });
  const browser = await launch();
  const take = async (name, hash, viewport, colorScheme, prepare, fullPage = false) => {
    const context = await browser.newContext({ viewport, colorScheme, hasTouch: viewport.width < 600, deviceScaleFactor: viewport.width < 600 ? 2 : 1 });
    const view = await context.newPage();
    await view.goto(`${pathToFileURL(file)}#${hash}`);
    await view.waitForTimeout(700);
    if (prepare) await prepare(view);
    await view.waitForTimeout(700);
    await view.screenshot({ path: resolve(directory, `${name}.png`), fullPage });
    await context.close();
  };
  const scrub = (place) => (view) => view.locator(".scrubber").evaluate((input, value) => {
    input.value = value;
    input.dispatchEvent(new Event("input"));
  }, String(place * 10000));
  const desktop = { width: 1440, height: 900 };
  const phone = { width: 390, height: 844 };
  await take("desktop-light", 1, desktop, "light", scrub(0.18));
  await take("overlays", 1, { width: 1280, height: 760 }, "light", async (view) => {
    await scrub(0.35)(view);
    for (const [button, entries] of [["Show", ["Body frames", /Reaction forces/]], ["Trails", ["wheel.rim", "chassis.seat"]]]) {
      await view.getByRole("button", { name: button, exact: true }).click();
      for (const entry of entries) await view.getByRole("dialog").getByText(entry).click();
      await view.keyboard.press("Escape");
    }
    await view.getByRole("button", { name: "Choose channels" }).first().click();
  });
  await take("desktop-dark", 1, desktop, "dark", scrub(0.5));
  await take("desktop-full", 1, desktop, "light", scrub(0.18), true);
  await take("phone", 1, phone, "light", scrub(0.18));
  await take("phone-full", 1, phone, "light", scrub(0.18), true);
  await take("four-bar", 2, desktop, "light", scrub(0.3));
  await take("equations", 3, desktop, "light", scrub(0.3));
  await take("zero", 4, desktop, "light");
  await take("drive", 5, desktop, "dark", scrub(0.3));
  await take("study-light", 6, desktop, "light", null, true);
  await take("study-dark", 6, desktop, "dark", null, true);
  await take("study-phone", 6, phone, "dark", null);
  await browser.close();
}
