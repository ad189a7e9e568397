// The card around the 3-D view: its switches, the controls of time, and what to say when there is nothing to draw.

import type { Clock } from "./clock";
import type { Comparison } from "./comparison";
import { download, h, icon, iconButton, popover } from "./dom";
import type { Result, SceneData } from "./format";
import { short } from "./numbers";
import { forceColours, forceNames, forceText } from "./scene/forces";
import type { Ride } from "./scene/riding";
import { SceneView, webglAvailable } from "./scene/view";
import { makeTransport } from "./transport";
import { videoButton } from "./videomenu";

export interface Stage {
  element: HTMLElement;
  draw: () => void;
  dispose: () => void;
  hasScene: boolean;
}

/** The times of the animation's frames, or of the rows where there is none. */
export const framesOf = (result: Result): ArrayLike<number> => (result.scene?.t.length ? result.scene.t : result.t).get();

export function makeStage(result: Result, clock: Clock, comparison: Comparison): Stage {
  const scene = result.scene;
  const transport = makeTransport(clock, result.events, framesOf(result));
  const without = (message: string): Stage => ({
    element: h("section", { class: "stage no-scene", "aria-label": "Animation" }, h("p", { class: "stage-message" }, message), transport),
    draw: () => {},
    dispose: () => {},
    hasScene: false,
  });
  if (!scene) return without("This result has no 3-D scene: it comes from equations without bodies. The plots show its quantities.");
  if (scene.t.length === 0) return without("The 3-D scene holds no frames: the run ended before its first output.");
  if (!webglAvailable()) return without("This browser offers no WebGL 2, so the 3-D view is left out. Plots and tables work without it.");
  try {
    const view = new SceneView(scene, clock);
    const ghosts = (): void => view.setGhosts(comparison.ghosts ? comparison.shown.flatMap(({ result: { scene: other, name }, colour }) => (other ? [{ name, data: other, colour }] : [])) : []);
    comparison.onChange(ghosts);
    ghosts();
    const element = h("section", { class: "stage", "aria-label": "Animation" }, toolbar(view, scene, result.name, clock), view.element, transport);
    return { element, draw: () => view.draw(), dispose: () => view.dispose(), hasScene: true };
  } catch (error) {
    return without(`The 3-D view could not be started (${(error as Error).message}). Plots and tables work without it.`);
  }
}

function toggle(label: string, on: boolean, change: (on: boolean) => void): HTMLElement {
  const box = h("input", { type: "checkbox", checked: on });
  box.addEventListener("change", () => change(box.checked));
  return h("label", { class: "entry" }, box, h("span", {}, label));
}

/** Which body the camera moves with, and how. */
function cameraChoice(view: SceneView, scene: SceneData): HTMLElement[] {
  const follow = h("select", { "aria-label": "Follow a body", title: "The camera moves with this body (double-click a body to choose it)" }, h("option", { value: 0 }, "Follow: none"));
  scene.bodies.forEach((body, i) => i > 0 && follow.append(h("option", { value: i }, `Follow: ${body.name}`)));
  const how = h("select", { "aria-label": "How the camera moves", title: "How the camera moves with the body" });
  const rides: [string, string][] = [["along", "Moves along"], ["turning", "Turns along"], ["driver", "Driver's view"], ...scene.tyres.slice(0, 24).map((tyre, i): [string, string] => [`wheel ${i}`, `Wheel: ${tyre.name}`])];
  for (const [value, label] of rides) how.append(h("option", { value }, label));
  const refresh = (): void => {
    follow.value = String(view.rider.body);
    how.value = view.rider.ride === "wheel" ? `wheel ${view.wheel}` : view.rider.ride;
    how.disabled = scene.bodies.length < 2;
  };
  const apply = (body: number): void => {
    const [ride, tyre] = how.value.split(" ");
    view.setCamera(body, (ride ?? "along") as Ride, Number(tyre ?? 0));
  };
  view.whenCameraChanged(refresh);
  follow.addEventListener("change", () => apply(Number(follow.value)));
  how.addEventListener("change", () => apply(how.value.startsWith("wheel") ? view.vehicle : view.rider.body || view.vehicle));
  view.whenFollowChosen((body) => {
    if (view.rider.fixed) how.value = "along";
    apply(body);
  });
  refresh();
  return [follow, how];
}

function toolbar(view: SceneView, scene: SceneData, name: string, clock: Clock): HTMLElement {
  const show = h("button", { type: "button", class: "button" }, icon("eye"), "Show");
  const trails = h("button", { type: "button", class: "button" }, "Trails");
  const bodies = h("button", { type: "button", class: "button" }, "Bodies");
  return h(
    "div",
    { class: "toolbar stage-toolbar" },
    iconButton("fit", "Fit the motion into the view", () => view.fit(), "Fit"),
    popover(show, () => showPanel(view)),
    popover(trails, () => trailPanel(view)),
    popover(bodies, () => bodyPanel(view, scene)),
    ...cameraChoice(view, scene),
    h("span", { class: "spring" }),
    h(
      "span",
      { class: "pair" },
      videoButton(view, clock, name),
      iconButton("camera", "Save a picture of the view", async () => {
        const picture = await view.picture();
        if (picture) download(`${name}.png`, picture);
      }),
    ),
  );
}

function showPanel(view: SceneView): HTMLElement {
  const m = view.mechanism;
  const set = (objects: { visible: boolean }[]) => (on: boolean): void => {
    for (const object of objects) object.visible = on;
    view.invalidate();
  };
  const panel = h("div", { role: "dialog", "aria-label": "What to show" });
  const add = (label: string, objects: { visible: boolean }[], colour = ""): void => {
    if (!objects.length) return;
    const row = toggle(label, objects.some((o) => o.visible), set(objects));
    if (colour) row.append(h("i", { class: "swatch", style: `background:${colour}` }));
    panel.append(row);
  };
  add("Joints", m.glyphs);
  add("Springs and dampers", m.springs.children.length ? [m.springs] : []);
  add("Tyres", m.tyres);
  add("Road", m.road ? [m.road] : []);
  add("Body frames", m.frames);
  for (const { kind, group, largest } of m.forces.kinds) add(`${forceNames[kind]} (largest ${forceText(largest)})`, [group], forceColours[kind]);
  if (m.forces.kinds.length) {
    panel.append(toggle("Values at the arrows", m.forces.values, (on) => {
      m.forces.values = on;
      view.invalidate();
    }));
    const scale = h("input", { type: "range", min: -1, max: 1, step: 0.05, value: Math.log10(m.forces.scale), "aria-label": "Length of the arrows" });
    scale.addEventListener("input", () => {
      m.forces.scale = 10 ** Number(scale.value);
      view.invalidate();
    });
    panel.append(h("label", { class: "entry" }, h("span", {}, "Arrow length"), scale));
  }
  return panel;
}

function trailPanel(view: SceneView): HTMLElement {
  const m = view.mechanism;
  const panel = h("div", { class: "entries", role: "dialog", "aria-label": "Trails of points" });
  if (m.points.length === 0) panel.append(h("p", { class: "hint" }, "No body moves in this scene."));
  for (const point of m.points) {
    const row = toggle(point.label, m.hasTrail(point), (on) => {
      m.setTrail(point, on);
      view.invalidate();
    });
    row.append(h("i", { class: "swatch", style: `background:${point.colour}` }));
    panel.append(row);
  }
  return panel;
}

function bodyPanel(view: SceneView, scene: SceneData): HTMLElement {
  const m = view.mechanism;
  const panel = h("div", { class: "entries", role: "dialog", "aria-label": "Bodies" });
  scene.bodies.forEach((body, i) => {
    const row = h("div", { class: "entry" }, h("i", { class: "swatch", style: `background:${m.colour(i)}` }), h("span", {}, body.name));
    if (i > 0 && body.mass !== null) row.append(h("span", { class: "unit" }, `${short(body.mass)} kg`));
    panel.append(row);
  });
  return panel;
}
