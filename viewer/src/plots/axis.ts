// The part of the time axis that all plots of a result show.

export class TimeAxis {
  min: number;
  max: number;
  private readonly listeners = new Set<() => void>();

  constructor(readonly from: number, readonly to: number) {
    this.min = from;
    this.max = to;
  }

  get zoomed(): boolean {
    return this.min > this.from || this.max < this.to;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(min: number, max: number): void {
    const span = Math.max(max - min, (this.to - this.from) * 1e-6);
    this.min = Math.max(this.from, Math.min(min, this.to - span));
    this.max = Math.min(this.to, Math.max(max, this.min + span));
    for (const listener of this.listeners) listener();
  }

  /** Zooms about a time that keeps its place. */
  zoom(factor: number, about: number): void {
    const t = Math.min(this.max, Math.max(this.min, about));
    this.set(t - (t - this.min) * factor, t + (this.max - t) * factor);
  }

  /** Moves on by this much, as far as there is something to show. */
  pan(by: number): void {
    const shift = Math.min(this.to - this.max, Math.max(this.from - this.min, by));
    this.set(this.min + shift, this.max + shift);
  }

  reset(): void {
    this.set(this.from, this.to);
  }
}
