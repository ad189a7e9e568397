// Short texts over the 3-D view, drawn into a canvas of their own so that pictures and videos can hold them, too.

import { Vector3, type PerspectiveCamera } from "three";
import { h } from "../dom";

export interface Label {
  place: Vector3;
  text: string;
  colour: string;
}

export class Labels {
  readonly canvas = h("canvas", { class: "labels", "aria-hidden": "true" });
  private readonly at = new Vector3();
  private drawn = false;

  resize(width: number, height: number): void {
    const ratio = Math.min(2, devicePixelRatio);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  /** Labels that would cover one another are left out, the later ones first. */
  draw(labels: Label[], camera: PerspectiveCamera, ground: string): void {
    if (!labels.length && !this.drawn) return;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const ratio = Math.min(2, devicePixelRatio);
    const { width, height } = this.canvas;
    context.clearRect(0, 0, width, height);
    this.drawn = labels.length > 0;
    context.font = `600 ${12 * ratio}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3.5 * ratio;
    context.strokeStyle = ground;
    const taken: [number, number, number][] = [];
    for (const label of labels) {
      this.at.copy(label.place).project(camera);
      if (this.at.z > 1 || Math.abs(this.at.x) > 1 || Math.abs(this.at.y) > 1) continue;
      const wide = context.measureText(label.text).width;
      const x = Math.min(((this.at.x + 1) / 2) * width + 6 * ratio, width - wide - 4 * ratio);
      const y = Math.min(Math.max(((1 - this.at.y) / 2) * height - 8 * ratio, 10 * ratio), height - 10 * ratio);
      if (taken.some(([a, b, w]) => Math.abs(b - y) < 14 * ratio && x < a + w && a < x + wide)) continue;
      taken.push([x, y, wide]);
      context.strokeText(label.text, x, y);
      context.fillStyle = label.colour;
      context.fillText(label.text, x, y);
    }
  }
}
