// The time that animation and plots share.

import { locate } from "./array";

export const speeds = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10, 25, 50, 100] as const;
const slowest = 0.05; // that is chosen without being asked

export class Clock {
  t: number;
  playing = false;
  loop = true;
  speed: number;
  private readonly listeners = new Set<() => void>();

  constructor(readonly from: number, readonly to: number) {
    this.t = from;
    this.speed = Clock.readableSpeed(to - from);
  }

  /** Real time, unless the run is so short that nothing could be seen. */
  static readableSpeed(span: number): number {
    if (span <= 0) return 1;
    return [...speeds].reverse().find((s) => s <= 1 && span / s >= 2.5 && s >= slowest) ?? slowest;
  }

  get span(): number {
    return this.to - this.from;
  }

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  set(t: number): void {
    this.t = Math.min(this.to, Math.max(this.from, t));
    this.changed();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed();
  }

  setLoop(loop: boolean): void {
    this.loop = loop;
    this.changed();
  }

  toggle(): void {
    if (!this.playing && this.t >= this.to) this.t = this.from;
    this.playing = !this.playing && this.span > 0;
    this.changed();
  }

  pause(): void {
    this.playing = false;
    this.changed();
  }

  /** To the next (1) or the previous (-1) frame of the animation; frames are the times given. */
  step(frames: ArrayLike<number>, by: 1 | -1): void {
    this.playing = false;
    const i = locate(frames, this.t);
    const slack = 1e-9 * Math.max(this.span, Math.abs(this.t));
    const at = frames[i] as number | undefined;
    if (at === undefined) return this.changed();
    let next = i + by;
    if (by < 0 && this.t > at + slack) next = i; // between two: to the one before
    if (by > 0 && (frames[i + 1] as number) <= this.t + slack) next = i + 2;
    this.set((frames[Math.min(frames.length - 1, Math.max(0, next))] as number) ?? this.t);
  }

  /** Moves on by this many seconds of the reader's time. */
  advance(seconds: number): void {
    if (!this.playing) return;
    let t = this.t + seconds * this.speed;
    if (t > this.to) {
      if (this.loop) t = this.from + ((t - this.from) % this.span);
      else {
        t = this.to;
        this.playing = false;
      }
    }
    this.set(t);
  }
}
