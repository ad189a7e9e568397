// The directions of x, y, z in a corner of the view.

import { Vector3, type PerspectiveCamera } from "three";
import { svg } from "../dom";

export class Gizmo {
  readonly element = svg("svg", { class: "gizmo", viewBox: "-36 -36 72 72", "aria-hidden": "true" });
  private readonly axes = (["x", "y", "z"] as const).map((name) => {
    const line = svg("line", { x1: 0, y1: 0, class: `axis-${name}` });
    const label = svg("text", { class: `axis-${name}` }, name);
    this.element.append(line, label);
    return { line, label };
  });

  update(camera: PerspectiveCamera): void {
    const v = new Vector3();
    this.axes.forEach(({ line, label }, i) => {
      v.set(0, 0, 0).setComponent(i, 1).transformDirection(camera.matrixWorldInverse);
      line.setAttribute("x2", String(22 * v.x));
      line.setAttribute("y2", String(-22 * v.y));
      label.setAttribute("x", String(29 * v.x));
      label.setAttribute("y", String(-29 * v.y));
      for (const part of [line, label]) part.style.opacity = String(0.65 + 0.35 * v.z);
    });
  }
}
