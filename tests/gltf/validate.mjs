// Checks glTF files with the validator of Khronos: nothing to complain or to remark, and an animation. Usage: node validate.mjs FILE.glb...
import { readFile } from "node:fs/promises";
import { validateBytes } from "gltf-validator";

let failures = 0;
for (const file of process.argv.slice(2)) {
  const { issues, info } = await validateBytes(new Uint8Array(await readFile(file)));
  const { numErrors, numWarnings, numHints, messages } = issues;
  for (const m of messages.slice(0, 10)) console.log(`${file}: ${m.code} at ${m.pointer}: ${m.message}`);
  const good = messages.length === 0 && info.animationCount === 1 && info.totalTriangleCount > 0;
  failures += good ? 0 : 1;
  console.log(`${good ? "PASS" : "FAIL"} ${file}: ${numErrors} errors, ${numWarnings} warnings, ${numHints} hints, ` +
    `${info.totalTriangleCount} triangles, ${info.animationCount} animation`);
}
process.exit(failures === 0 && process.argv.length > 2 ? 0 : 1);
