// The time under the reader's pointer, which all plots of a result show.

export class Pointer {
  t: number | null = null;
  owner: unknown = null; // the plot that is pointed at
  private readonly listeners = new Set<() => void>();

  set(t: number | null, owner: unknown): void {
    if (t === this.t && owner === this.owner) return;
    this.t = t;
    this.owner = t === null ? null : owner;
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
