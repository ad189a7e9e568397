// Play, pause, scrub, speed, loop, time: the controls of the shared clock.

import { speeds, type Clock } from "./clock";
import { h, icon, iconButton } from "./dom";
import type { SimulationEvent } from "./format";
import { timeText } from "./numbers";
import { eventText } from "./plots/plot";

const resolution = 10000;

/** `frames`: the times that single steps go to. */
export function makeTransport(clock: Clock, events: SimulationEvent[], frames: ArrayLike<number>): HTMLElement {
  const play = h("button", { type: "button", class: "button square primary", title: "Play or pause (space)", click: () => clock.toggle() });
  const range = h("input", { type: "range", class: "scrubber", min: 0, max: resolution, step: 1, value: 0, "aria-label": "Time", disabled: clock.span <= 0 });
  range.addEventListener("input", () => clock.set(clock.from + (clock.span * Number(range.value)) / resolution));
  const readout = h("output", { class: "time", "aria-live": "off" });
  const speed = h(
    "select",
    { "aria-label": "Speed of the animation", title: "Speed of the animation" },
    ...speeds.map((s) => h("option", { value: s, selected: s === clock.speed }, `${s}×`)),
  );
  speed.addEventListener("change", () => clock.setSpeed(Number(speed.value)));
  const loop = iconButton("loop", "Repeat", () => clock.setLoop(!clock.loop));
  let shownPlaying: boolean | null = null;
  const refresh = (): void => {
    if (shownPlaying !== clock.playing) {
      shownPlaying = clock.playing;
      play.replaceChildren(icon(clock.playing ? "pause" : "play"));
      play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    }
    loop.setAttribute("aria-pressed", String(clock.loop));
    const place = clock.span > 0 ? (clock.t - clock.from) / clock.span : 0;
    range.value = String(Math.round(place * resolution));
    range.style.setProperty("--place", `${place * 100}%`);
    const text = `${timeText(clock.t, clock.span)} s`;
    range.setAttribute("aria-valuetext", text);
    readout.replaceChildren(h("b", {}, text), h("span", {}, ` / ${timeText(clock.to, clock.span)} s`));
  };
  clock.onChange(refresh);
  refresh();
  return h(
    "div",
    { class: "transport", role: "group", "aria-label": "Animation" },
    play,
    iconButton("first", "Back to the start (home)", () => clock.set(clock.from)),
    iconButton("previous", "One frame back (comma)", () => clock.step(frames, -1)),
    iconButton("next", "One frame on (full stop)", () => clock.step(frames, 1)),
    h("div", { class: "scrub" }, range, marks(clock, events)),
    readout,
    speed,
    loop,
  );
}

/** Event marks over the scrubber; at most one per half percent, each naming all it stands for. */
function marks(clock: Clock, events: SimulationEvent[]): HTMLElement {
  const holder = h("div", { class: "marks" });
  const places = new Map<number, SimulationEvent[]>();
  for (const event of events) {
    if (clock.span <= 0 || event.t < clock.from || event.t > clock.to) continue;
    const place = Math.round(((event.t - clock.from) / clock.span) * 200);
    places.set(place, [...(places.get(place) ?? []), event]);
  }
  for (const group of places.values()) {
    const first = group[0] as SimulationEvent;
    const names = group.slice(0, 6).map((e) => eventText(e, clock.span));
    if (group.length > 6) names.push(`and ${group.length - 6} more`);
    holder.append(
      h("button", {
        type: "button",
        class: "mark",
        tabindex: -1,
        style: `left:${((first.t - clock.from) / clock.span) * 100}%`,
        title: names.join("\n"),
        "aria-label": `Go to ${names[0]}`,
        click: () => clock.set(first.t),
      }),
    );
  }
  return holder;
}

/** Space plays, arrows step, comma and full stop go frame by frame, home and end jump; keys typed into fields are left alone. */
export function handleKey(event: KeyboardEvent, clock: Clock, frames: ArrayLike<number>): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, textarea, input:not([type=range]), [role=dialog]")) return;
  if (event.key === " " && target.closest("button, a, summary")) return;
  const step = clock.span * (event.shiftKey ? 0.05 : 0.005);
  const actions: Record<string, () => void> = {
    " ": () => clock.toggle(),
    ArrowLeft: () => clock.set(clock.t - step),
    ArrowRight: () => clock.set(clock.t + step),
    ",": () => clock.step(frames, -1),
    ".": () => clock.step(frames, 1),
    Home: () => clock.set(clock.from),
    End: () => clock.set(clock.to),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
