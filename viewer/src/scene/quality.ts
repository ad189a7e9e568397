// How fine to draw. Where the processor draws (no graphics card), and where frames take too long, moving pictures are
// coarse; as soon as nothing moves, the picture is drawn once more and fine.

/** Whether a renderer calls itself software. */
export const isSoftware = (name: string): boolean => /swiftshader|llvmpipe|softpipe|software|basic render|swrast/i.test(name);

/** The name of the graphics, asked of a context that is thrown away. */
export function rendererName(): string {
  try {
    const context = document.createElement("canvas").getContext("webgl2");
    const info = context?.getExtension("WEBGL_debug_renderer_info");
    const name = String(context?.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : context.RENDERER) ?? "");
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return name;
  } catch {
    return "";
  }
}

const slow = 42; // ms from frame to frame: below 24 a second
const fluent = 20;
const idle = 350; // ms without a change, until the fine picture
const moving = 4; // drawn one after the other: something moves

export class Quality {
  private readonly levels: number[]; // pixels of the picture per pixel of the page, fine to coarse
  private level: number;
  private count = 0; // of frames drawn one after the other
  private last = -Infinity;
  private mean = 30; // ms
  private seen = 0; // frames at this level
  private raised = 0;

  /** `software`: known to be slow; `ratio`: of the screen. */
  constructor(readonly software: boolean, ratio: number) {
    this.levels = software ? [0.75, 0.5, 0.35].map((x) => x * ratio) : [1, 0.75, 0.5].map((x) => x * Math.min(2, ratio));
    this.fine = software ? Math.min(2, 1.5 * ratio) : Math.min(2, ratio);
    this.level = software ? 1 : 0;
  }

  readonly fine: number;

  /** The ratio to draw a changed picture with at this time (ms). */
  next(now: number): number {
    const interval = now - this.last;
    this.last = now;
    this.count = interval < idle ? this.count + 1 : 1;
    if (this.count < moving) return this.fine;
    this.mean += 0.12 * (Math.min(interval, 4 * slow) - this.mean);
    this.seen++;
    if (this.seen > 12 && this.mean > slow && this.level + 1 < this.levels.length) this.change(1);
    else if (this.seen > 120 && this.mean < fluent && this.level > 0 && this.raised < 2) this.change(-1);
    return this.levels[this.level] as number;
  }

  private change(by: 1 | -1): void {
    this.level += by;
    this.seen = 0;
    this.mean = 30;
    if (by < 0) this.raised++; // not to and fro for ever
  }

  /** Whether the coarse picture on the screen has stood long enough to be drawn fine. */
  shouldRefine(now: number): boolean {
    if (this.count < moving || now - this.last < idle) return false;
    this.count = 0;
    return true;
  }
}
