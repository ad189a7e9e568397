// Debian's Chromium without a screen, with WebGL in software.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export function launch(args = ["--disable-gpu", "--enable-unsafe-swiftshader"]) {
  const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
  if (!executablePath) throw new Error("Chromium is missing; install it with: apt-get install chromium");
  return chromium.launch({ executablePath, args: ["--no-sandbox", ...args] });
}
