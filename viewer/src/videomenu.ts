// The menu that makes a video of the animation.

import type { Clock } from "./clock";
import { download, h, icon, popover } from "./dom";
import { short } from "./numbers";
import type { SceneView } from "./scene/view";
import { frameRate, frameTimes, makeVideo, videoWay } from "./video";

const maxFrames = 9000; // five minutes

export function videoButton(view: SceneView, clock: Clock, name: string): HTMLElement {
  const button = h("button", { type: "button", class: "button square", title: "Save the animation as a video", "aria-label": "Save the animation as a video" }, icon("film"));
  const menu = (): HTMLElement => {
    const panel = h("div", { class: "video-menu", role: "dialog", "aria-label": "Video of the animation" });
    const say = (text: string): void => panel.replaceChildren(h("p", { class: "hint" }, text));
    const frames = frameTimes(clock.from, clock.to, clock.speed).length;
    if (videoWay() === "none") say("This browser can neither encode nor record video (WebCodecs, MediaRecorder).");
    else if (clock.span <= 0) say("Nothing moves in this result.");
    else if (frames > maxFrames) say(`At ${clock.speed}× the video would have ${frames} frames, more than ${maxFrames}: choose a higher speed below the picture.`);
    else {
      const start = h("button", { type: "button", class: "button primary-text" }, "Record");
      start.addEventListener("click", () => void run(panel));
      panel.append(h("p", { class: "hint" }, `The whole run at ${clock.speed}×: ${short(frames / frameRate, 3)} s, ${frames} frames, as the view is now. The speed is chosen below the picture; closing this menu stops the recording.`), start);
    }
    return panel;
  };
  async function run(panel: HTMLElement): Promise<void> {
    const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the video" });
    const stop = h("button", { type: "button", class: "button" }, "Stop");
    let stopped = false;
    stop.addEventListener("click", () => (stopped = true));
    panel.replaceChildren(bar, stop);
    try {
      const video = await makeVideo(view, clock, { progress: (share) => (bar.value = share), stopped: () => stopped || !panel.isConnected });
      if (video) download(`${name}.${video.type.includes("mp4") ? "mp4" : "webm"}`, video);
      panel.replaceChildren(h("p", { class: "hint" }, video ? `Saved: ${short(video.size / 1e6, 3)} MB.` : "Stopped; nothing was saved."));
    } catch (error) {
      panel.replaceChildren(h("p", { class: "hint" }, `The video could not be made: ${(error as Error).message}`));
    }
  }
  return popover(button, menu);
}
