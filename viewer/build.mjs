// Bundles src/ into dist/template.html: one file with script, styles and icon inside, and one line for the data.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const placeholder = '<script id="bogie-data" type="application/json">null</script>';

const bundle = await build({
  entryPoints: [join(root, "src/main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "none",
  outdir: join(root, "dist"),
  write: false,
  logLevel: "warning",
});
const text = (end) => bundle.outputFiles.find((file) => file.path.endsWith(end)).text;

// Inside a script element "</script" would end it, and "<!--" would change how the rest is read.
const script = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const licences = await Promise.all(
  [["three", "LICENSE"], ["uplot", "LICENSE"]].map(async ([name, file]) =>
    `${name}\n${await readFile(join(root, "node_modules", name, file), "utf8")}`),
);

const page = (await readFile(join(root, "src/template.html"), "utf8"))
  .replace("/* styles */", () => text(".css").replaceAll("</style", "<\\/style"))
  .replace("<!-- licences -->", () => `<!--\n${licences.join("\n").replaceAll("--", "- -")}-->`)
  .replace("/* script */", () => script);

if (page.split(placeholder).length !== 2 || page.split('id="bogie-data"').length !== 2)
  throw new Error(`the template must hold the line ${placeholder} exactly once`);

await mkdir(join(root, "dist"), { recursive: true });
await writeFile(join(root, "dist/template.html"), page);
console.log(`dist/template.html: ${(Buffer.byteLength(page) / 1024).toFixed(0)} KiB`);
