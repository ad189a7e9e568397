// Puts data into the built template, as bogie report does.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const templatePath = join(root, "dist/template.html");
export const placeholder = '<script id="bogie-data" type="application/json">null</script>';

/** Writes a page; `data` is an object, or the text of the data element. */
export function assemble(path, data) {
  const text = (typeof data === "string" ? data : JSON.stringify(data)).replace(/<\//g, "<\\/");
  writeFileSync(path, readFileSync(templatePath, "utf8").replace(placeholder, () => placeholder.replace("null", () => text)));
  return path;
}
