// Opens pages that the program made in headless Chromium: no errors on the console, something drawn, and the
// words that belong to each. Usage: node smoke.mjs VIEWER_FOLDER PAGE.html WORDS [PAGE.html WORDS]...
// A page whose words start with "scene:" has an animation that scrubbing changes.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...pairs] = process.argv.slice(2);
const { chromium } = createRequire(resolve(folder, "package.json"))("playwright-core");
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
const args = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"];
const browser = await chromium.launch({ executablePath, args });
let failures = 0;

const check = (name, good, detail = "") => {
  failures += good ? 0 : 1;
  console.log(`${good ? "PASS" : "FAIL"} ${name}${good ? "" : ` ${detail}`}`);
};

async function scrub(view, name) {
  const canvas = view.locator("canvas").first();
  const time = () => view.locator(".time b").first().innerText();
  const [before, t] = [await canvas.screenshot(), await time()];
  await view.locator(".scrubber").evaluate((input) => {
    input.value = String((Number(input.min) + Number(input.max)) * 0.2);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await view.waitForTimeout(500);
  check(`${name}: scrubbing changes the picture`, !before.equals(await canvas.screenshot()));
  check(`${name}: and the time shown`, t !== (await time()), t);
}

for (let k = 0; k + 1 < pairs.length; k += 2) {
  const [name, words] = [pairs[k], pairs[k + 1]];
  const scene = words.startsWith("scene:");
  const text = scene ? words.slice("scene:".length) : words;
  const view = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  const complaints = [];
  view.on("console", (m) => m.type() === "error" && complaints.push(m.text()));
  view.on("pageerror", (e) => complaints.push(e.message));
  view.on("request", (r) => /^(file|data|blob):/.test(r.url()) || complaints.push(`network: ${r.url()}`));
  await view.goto(pathToFileURL(resolve(name)).href, { timeout: 60000 });
  await view.waitForTimeout(1000);
  const body = await view.locator("body").innerText();
  check(`${name}: says '${text}'`, body.includes(text), body.slice(0, 300));
  if (scene) await scrub(view, name);
  check(`${name}: nothing to complain`, complaints.length === 0, complaints.join(" | "));
  await view.close();
}
await browser.close();
process.exit(failures === 0 && pairs.length > 0 ? 0 : 1);
