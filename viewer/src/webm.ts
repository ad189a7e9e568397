// A WebM file of encoded frames: EBML elements, each an identifier, the length of its content, and the content.

export interface Chunk {
  data: Uint8Array;
  time: number; // ms
  key: boolean;
}

export interface Track {
  codec: "V_VP8" | "V_VP9";
  width: number;
  height: number;
  duration: number; // ms
}

type Bytes = Uint8Array | Bytes[];

const flatten = (parts: Bytes): Uint8Array[] => (parts instanceof Uint8Array ? [parts] : parts.flatMap(flatten));
const sizeOf = (parts: Bytes): number => flatten(parts).reduce((n, p) => n + p.length, 0);

/** A whole number in so many bytes, the highest first. */
function whole(x: number, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  for (let i = bytes - 1, rest = x; i >= 0; i--, rest = Math.floor(rest / 256)) out[i] = rest % 256;
  return out;
}

function identifier(id: number): Uint8Array {
  return whole(id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
}

/** Lengths take eight bytes throughout: the first says so. */
function element(id: number, content: Bytes): Bytes {
  const length = whole(sizeOf(content), 8);
  length[0] = 0x01;
  return [identifier(id), length, content];
}

const text = (id: number, value: string): Bytes => element(id, new TextEncoder().encode(value));
const unsigned = (id: number, value: number): Bytes => element(id, whole(value, 8));
function float(id: number, value: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return element(id, bytes);
}

function block(chunk: Chunk, start: number): Bytes {
  const head = new Uint8Array(4);
  head[0] = 0x81; // track 1
  new DataView(head.buffer).setInt16(1, Math.round(chunk.time) - start);
  head[3] = chunk.key ? 0x80 : 0;
  return element(0xa3, [head, chunk.data]);
}

/** Frames from one key frame to the next, as far as their times fit into two bytes. */
function clusters(chunks: Chunk[]): { start: number; content: Bytes }[] {
  const groups: Chunk[][] = [];
  for (const chunk of chunks) {
    const group = groups[groups.length - 1];
    if (!group || chunk.key || chunk.time - (group[0] as Chunk).time > 30000) groups.push([chunk]);
    else group.push(chunk);
  }
  return groups.map((group) => {
    const start = Math.round((group[0] as Chunk).time);
    return { start, content: element(0x1f43b675, [unsigned(0xe7, start), group.map((chunk) => block(chunk, start))]) };
  });
}

/** The table that players seek with; places count from the first byte inside of the segment. */
function cues(list: { start: number }[], places: number[]): Bytes {
  return element(0x1c53bb6b, list.map(({ start }, i) => element(0xbb, [unsigned(0xb3, start), element(0xb7, [unsigned(0xf7, 1), unsigned(0xf1, places[i] ?? 0)])])));
}

export function makeWebm(track: Track, chunks: Chunk[]): Uint8Array[] {
  const header = element(0x1a45dfa3, [unsigned(0x4286, 1), unsigned(0x42f7, 1), unsigned(0x42f2, 4), unsigned(0x42f3, 8), text(0x4282, "webm"), unsigned(0x4287, 4), unsigned(0x4285, 2)]);
  const info = element(0x1549a966, [unsigned(0x2ad7b1, 1000000), float(0x4489, track.duration), text(0x4d80, "Bogie"), text(0x5741, "Bogie")]);
  const video = element(0xe0, [unsigned(0xb0, track.width), unsigned(0xba, track.height)]);
  const tracks = element(0x1654ae6b, element(0xae, [unsigned(0xd7, 1), unsigned(0x73c5, 1), unsigned(0x9c, 0), text(0x86, track.codec), unsigned(0x83, 1), video]));
  const list = clusters(chunks);
  let place = sizeOf(info) + sizeOf(tracks) + sizeOf(cues(list, []));
  const places = list.map(({ content }) => {
    const at = place;
    place += sizeOf(content);
    return at;
  });
  return flatten([header, element(0x18538067, [info, tracks, cues(list, places), list.map((c) => c.content)])]);
}
