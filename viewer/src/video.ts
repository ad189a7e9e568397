// The animation as a video file: frame by frame with WebCodecs, or recorded while it plays with MediaRecorder.

import type { Clock } from "./clock";
import type { SceneView } from "./scene/view";
import { makeWebm, type Chunk, type Track } from "./webm";

export const frameRate = 30;
const longest = 1280; // pixels of the picture's width

export type VideoWay = "frames" | "recorded" | "none";

export const videoWay = (): VideoWay =>
  typeof VideoEncoder === "function" && typeof VideoFrame === "function" ? "frames" : typeof MediaRecorder === "function" && "captureStream" in HTMLCanvasElement.prototype ? "recorded" : "none";

export interface Recording {
  progress: (share: number) => void;
  stopped: () => boolean;
}

/** Times of the frames of a video that plays at the clock's speed. */
export function frameTimes(from: number, to: number, speed: number): number[] {
  const count = Math.max(1, Math.floor(((to - from) / speed) * frameRate + 1e-9) + 1);
  return Array.from({ length: count }, (_, i) => Math.min(to, from + (i * speed) / frameRate));
}

/** Even numbers of pixels, as codecs want them. */
function sizeOf(view: SceneView): { ratio: number; width: number; height: number } {
  const { clientWidth: w, clientHeight: h } = view.element;
  const ratio = Math.min(longest / w, Math.max(1.5, devicePixelRatio || 1));
  return { ratio, width: 2 * Math.floor((w * ratio) / 2), height: 2 * Math.floor((h * ratio) / 2) };
}

const pause = (ms = 0): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function chooseCodec(width: number, height: number): Promise<{ config: VideoEncoderConfig; codec: Track["codec"] } | null> {
  for (const [codec, name] of [["V_VP9", "vp09.00.31.08"], ["V_VP8", "vp8"]] as const) {
    const config: VideoEncoderConfig = { codec: name, width, height, bitrate: 6e6, framerate: frameRate };
    if ((await VideoEncoder.isConfigSupported(config)).supported) return { config, codec };
  }
  return null;
}

async function encode(view: SceneView, clock: Clock, recording: Recording): Promise<Blob | null> {
  const { ratio, width, height } = sizeOf(view);
  const chosen = await chooseCodec(width, height);
  if (!chosen) return record(view, clock, recording);
  const chunks: Chunk[] = [];
  let failure: Error | null = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      chunks.push({ data, time: chunk.timestamp / 1000, key: chunk.type === "key" });
    },
    error: (error) => (failure = error),
  });
  encoder.configure(chosen.config);
  const [canvas, even] = [document.createElement("canvas"), document.createElement("canvas")];
  [even.width, even.height] = [width, height];
  const context = even.getContext("2d");
  const times = frameTimes(clock.from, clock.to, clock.speed);
  try {
    for (let i = 0; i < times.length && !recording.stopped(); i++) {
      if (failure) throw failure;
      clock.set(times[i] as number);
      view.paint(canvas, ratio);
      context?.drawImage(canvas, 0, 0);
      const frame = new VideoFrame(even, { timestamp: (i * 1e6) / frameRate, duration: 1e6 / frameRate });
      encoder.encode(frame, { keyFrame: i % (2 * frameRate) === 0 });
      frame.close();
      recording.progress((i + 1) / times.length);
      do await pause();
      while (encoder.encodeQueueSize > 4);
    }
    if (recording.stopped()) return null;
    await encoder.flush();
    if (failure) throw failure;
  } finally {
    encoder.close();
  }
  const track = { codec: chosen.codec, width, height, duration: (times.length * 1000) / frameRate };
  return new Blob(makeWebm(track, chunks) as BlobPart[], { type: "video/webm" });
}

/** While it plays: as smooth as this browser draws. */
async function record(view: SceneView, clock: Clock, recording: Recording): Promise<Blob | null> {
  const { ratio } = sizeOf(view);
  const canvas = document.createElement("canvas");
  clock.set(clock.from);
  view.paint(canvas, ratio);
  const type = ["video/webm;codecs=vp9", "video/webm", "video/mp4"].find((x) => MediaRecorder.isTypeSupported(x));
  const recorder = new MediaRecorder(canvas.captureStream(frameRate), { ...(type ? { mimeType: type } : {}), videoBitsPerSecond: 6e6 });
  const parts: Blob[] = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const ended = new Promise<void>((done) => (recorder.onstop = () => done()));
  recorder.start();
  const begin = performance.now();
  for (let t = clock.from; t < clock.to && !recording.stopped(); ) {
    await pause(1000 / frameRate);
    t = Math.min(clock.to, clock.from + ((performance.now() - begin) / 1000) * clock.speed);
    clock.set(t);
    view.paint(canvas, ratio);
    recording.progress((t - clock.from) / clock.span);
  }
  recorder.stop();
  await ended;
  return recording.stopped() ? null : new Blob(parts, { type: recorder.mimeType });
}

/** The video of the whole run at the clock's speed; null: the reader stopped it. */
export async function makeVideo(view: SceneView, clock: Clock, recording: Recording): Promise<Blob | null> {
  clock.pause();
  const t = clock.t;
  try {
    return await (videoWay() === "frames" ? encode(view, clock, recording) : record(view, clock, recording));
  } finally {
    clock.set(t);
  }
}
