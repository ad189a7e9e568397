// Pixels of a screenshot: 8-bit RGB or RGBA without interlacing, as Chromium writes them.
import { inflateSync } from "node:zlib";

function unfilter(data, width, height, channels) {
  const stride = width * channels;
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const kind = data[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const left = x >= channels ? out[y * stride + x - channels] : 0;
      const above = y > 0 ? out[(y - 1) * stride + x] : 0;
      const corner = y > 0 && x >= channels ? out[(y - 1) * stride + x - channels] : 0;
      const p = left + above - corner;
      const [a, b, c] = [Math.abs(p - left), Math.abs(p - above), Math.abs(p - corner)];
      const paeth = a <= b && a <= c ? left : b <= c ? above : corner;
      const guess = [0, left, above, (left + above) >> 1, paeth][kind];
      out[y * stride + x] = data[y * (stride + 1) + 1 + x] + guess;
    }
  }
  return out;
}

export function readPng(buffer) {
  const parts = [];
  let header = null;
  for (let at = 8; at < buffer.length; ) {
    const length = buffer.readUInt32BE(at);
    const type = buffer.toString("latin1", at + 4, at + 8);
    const body = buffer.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") header = body;
    if (type === "IDAT") parts.push(body);
    at += 12 + length;
  }
  const [width, height, channels] = [header.readUInt32BE(0), header.readUInt32BE(4), { 2: 3, 6: 4 }[header[9]]];
  if (header[8] !== 8 || !channels || header[12] !== 0) throw new Error("not an 8-bit RGB or RGBA picture");
  return { width, height, channels, pixels: unfilter(inflateSync(Buffer.concat(parts)), width, height, channels) };
}

/** How many different colours, and the mean brightness from 0 to 255. */
export function describe({ pixels, channels }) {
  const colours = new Set();
  let sum = 0;
  for (let i = 0; i < pixels.length; i += channels) {
    colours.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
    sum += pixels[i] + pixels[i + 1] + pixels[i + 2];
  }
  return { colours: colours.size, brightness: (sum * channels) / (3 * pixels.length) };
}

/** Share of pixels that differ clearly between two pictures of the same size. */
export function difference(a, b) {
  let n = 0;
  for (let i = 0; i < a.pixels.length; i += a.channels) {
    const d = Math.abs(a.pixels[i] - b.pixels[i]) + Math.abs(a.pixels[i + 1] - b.pixels[i + 1]) + Math.abs(a.pixels[i + 2] - b.pixels[i + 2]);
    if (d > 40) n++;
  }
  return (n * a.channels) / a.pixels.length;
}
