// Numeric arrays as base64, decoded when first used.

export type Numbers = Float32Array | Float64Array;

/** Data that cannot be shown; the message is one sentence for the reader of the page. */
export class Problem extends Error {}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function swapBytes(bytes: Uint8Array, size: number): void {
  for (let i = 0; i < bytes.length; i += size) bytes.subarray(i, i + size).reverse();
}

export class LazyArray {
  readonly length: number;
  private values: Numbers | null = null;
  private base64: string | null;

  constructor(
    private readonly type: "f32" | "f64",
    readonly shape: readonly number[],
    base64: string,
    private readonly path: string,
  ) {
    this.length = shape.reduce((a, b) => a * b, 1);
    this.base64 = base64;
    const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
    const bytes = Math.floor((base64.length * 3) / 4) - padding;
    const size = type === "f32" ? 4 : 8;
    if (bytes !== this.length * size)
      throw new Problem(
        `${path} holds ${bytes} bytes where its shape [${shape.join(", ")}] needs ${this.length * size}; the data is truncated or damaged.`,
      );
  }

  static of(values: Numbers): LazyArray {
    const array = new LazyArray("f32", [0], "", "");
    Object.assign(array, { length: values.length, shape: [values.length], values, base64: null });
    return array;
  }

  get(): Numbers {
    if (this.values) return this.values;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = decode(this.base64 ?? "");
    } catch {
      throw new Problem(`${this.path} is not valid base64; the data is damaged.`);
    }
    if (!littleEndian) swapBytes(bytes, this.type === "f32" ? 4 : 8);
    this.values = this.type === "f32" ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
    this.base64 = null;
    return this.values;
  }
}

/** Index i of the last value <= t in the ascending array, at least 0. */
export function locate(values: ArrayLike<number>, t: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] as number) <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}
