// Modules of the viewer for tests without a browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { root } from "./assemble.mjs";

const directory = mkdtempSync(join(tmpdir(), "bogie-viewer-"));
after(() => rmSync(directory, { recursive: true }));
globalThis.matchMedia = () => ({ matches: false }); // asked for by the colours of charts

export async function bundle(name) {
  const outfile = join(directory, `${name.replace("/", "-")}.mjs`);
  await build({ entryPoints: [join(root, `src/${name}.ts`)], bundle: true, format: "esm", outfile, logLevel: "error" });
  return import(pathToFileURL(outfile));
}
