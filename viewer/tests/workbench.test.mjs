// What a reader works with in the page: comparing, cameras, plots of other kinds, units, files, fingers, menus, video.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { array, fourBar, page, suspension } from "./data.mjs";
import { cursorX, open, phone, picture, scrub, settle, shownTime } from "./open.mjs";
import { describe, difference } from "./png.mjs";

const canvas = "canvas[role=img]";

/** The four-bar, its crank somewhat later: another motion of the same mechanism. */
function late() {
  const data = fourBar(300);
  const t = Float64Array.from({ length: 300 }, (_, i) => (4 * i) / 299 + 0.3);
  const own = { type: "f64", shape: [300], base64: Buffer.from(t.buffer).toString("base64") };
  return { ...data, name: "late", t: own, scene: { ...data.scene, t: own } };
}

const menu = async (view, button, entry) => {
  await view.getByRole("button", { name: button, exact: true }).first().click();
  await view.getByRole("dialog").getByText(entry, { exact: true }).click();
  await view.keyboard.press("Escape");
  await settle(view);
};

async function saved(view, act) {
  const waiting = view.waitForEvent("download");
  await act();
  const file = await waiting;
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

test("two results of one model lie over each other: curves, differences, a ghost", async () => {
  const { view, close } = await open(page([fourBar(300), late()]));
  assert.deepEqual(await view.locator(".chip-name").allInnerTexts(), ["rocker angle", "late"]);
  await scrub(view, 0.4);
  const values = await view.locator(".chip .value").allInnerTexts();
  assert.notEqual(values[0], values[1]);
  const both = await picture(view, canvas);
  await menu(view, "Compare", "Ghosts in the animation");
  assert.ok(difference(both, await picture(view, canvas)) > 0.002, "the ghost is gone");
  await menu(view, "Compare", "Differences instead of curves");
  assert.deepEqual(await view.locator(".chip-name").allInnerTexts(), ["rocker angle: late − four-bar"]);
  const number = (text) => Number(text.replace("−", "-"));
  const shown = number(await view.locator(".chip .value").first().innerText());
  assert.ok(Math.abs(shown - (number(values[1]) - number(values[0]))) < 2e-3, `${shown} of ${values}`);
  await menu(view, "Compare", "late");
  assert.deepEqual(await view.locator(".chip-name").allInnerTexts(), ["rocker angle"], "alone again");
  await close();
});

test("the page opens as the model says: titles, one channel over another, direction, whom to follow", async () => {
  const data = fourBar(300);
  const a = data.channels[0];
  const b = { ...a, name: "crank angle" };
  data.channels.push(b);
  data.plots = [{ title: "Path of the rocker", channels: [{ group: b.group, name: b.name }], over: { group: a.group, name: a.name } }, { title: null, channels: [{ group: a.group, name: a.name }], over: null }, { title: "How often", channels: [{ group: a.group, name: a.name }], over: null, spectrum: true }];
  const plain = await open(page([fourBar(300)]));
  const usual = await picture(plain.view, canvas);
  await plain.close();
  data.scene.view = { from: [0, 0, 1], follow: 2, turn: true };
  const { view, close } = await open(page([data]));
  assert.equal(await view.locator(".plot-head h3").first().innerText(), "Path of the rocker");
  assert.equal(await view.locator(".plot-card").first().locator(".legend .hint").innerText(), `over ${a.name}${a.unit ? ` [${a.unit}]` : ""}`);
  assert.deepEqual(await view.locator(".plot-card").nth(1).locator("h3").count(), 0);
  assert.match(await view.locator(".plot-card").nth(2).innerText(), /amplitude over frequency/);
  assert.equal(await view.getByLabel("Follow a body").inputValue(), "2");
  assert.equal(await view.getByLabel("How the camera moves").inputValue(), "turning");
  assert.ok(difference(usual, await picture(view, canvas)) > 0.002, "seen from above");
  await close();
});

test("cameras: along, turning, the driver's, a wheel's, and back; arrows with values", async () => {
  const data = suspension(200);
  data.scene.forces = [{ name: "tyre", kind: "tyre", body: 5, position: [0, 0, 0], force: array(Array.from({ length: 200 }, () => [0, 0, 4500]).flat(), [200, 3]) }];
  const { view, close } = await open(page([data]));
  const seen = [await picture(view, canvas)];
  const how = view.getByLabel("How the camera moves");
  for (const label of ["Driver's view", "Wheel: tyre", "Turns along"]) {
    await how.selectOption({ label });
    await settle(view);
    const now = await picture(view, canvas);
    assert.ok(difference(seen.at(-1), now) > 0.02, label);
    seen.push(now);
  }
  assert.equal(await view.getByLabel("Follow a body").inputValue(), "1", "the vehicle's heaviest body");
  await view.getByLabel("Follow a body").selectOption("0");
  await view.getByRole("button", { name: "Fit" }).click();
  await settle(view);
  let apart = 1; // until the picture that stands still is drawn fine
  for (let k = 0; k < 100 && apart >= 0.01; k++) {
    await view.waitForTimeout(100);
    apart = difference(seen[0], await picture(view, canvas));
  }
  assert.ok(apart < 0.01, "the first view again");
  const labels = () => view.locator("canvas.labels").evaluate((c) => c.toDataURL());
  const none = await labels();
  await menu(view, "Show", "Forces on wheels (largest 4.5 kN)");
  assert.notEqual(await labels(), none, "the value beside the arrow");
  await close();
});

test("the page opens with the driver's view, or beside a wheel, and the first view is a click away", async () => {
  const seen = [];
  for (const [camera, how] of [["driver", "driver"], ["tyre", "wheel 0"], ["nobody", "along"]]) {
    const data = suspension(50);
    data.scene.view = { from: null, follow: 1, turn: false, camera };
    const { view, close } = await open(page([data]));
    assert.equal(await view.getByLabel("How the camera moves").inputValue(), how);
    seen.push(await picture(view, canvas));
    for (const other of seen.slice(0, -1)) assert.ok(difference(other, seen.at(-1)) > 0.02, camera);
    await view.getByRole("button", { name: "Fit" }).click();
    await settle(view);
    assert.equal(await view.getByLabel("How the camera moves").inputValue(), "along");
    await close();
  }
});

test("plots: units, x–y, spectra, values of all plots under the pointer, files", async () => {
  const { view, close } = await open(page([suspension(400)]));
  await scrub(view, 0.5);
  const heights = view.locator(".plot-card").first();
  const metres = await heights.locator(".value").first().innerText();
  await heights.getByLabel("Unit of what is given in m").selectOption("mm");
  const number = (text) => Number(text.replace("−", "-"));
  assert.ok(Math.abs(number(await heights.locator(".value").first().innerText()) - 1000 * number(metres)) < 0.1);
  assert.equal(await heights.locator(".unit").first().innerText(), "mm");
  const csv = await saved(view, () => menu(view, "Save this plot", "Numbers (CSV)"));
  const lines = csv.bytes.toString().trim().split("\n");
  assert.equal(lines[0], "t [s],chassis height [mm],wheel height [mm]");
  assert.equal(lines.length, 401);
  const png = await saved(view, () => menu(view, "Save this plot", "Picture (PNG)"));
  assert.match(png.name, /^suspension on a stair chassis height, wheel height\.png$/);
  assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
  await heights.getByLabel("Unit of what is given in m").selectOption("m");
  const others = () => view.locator(".plot-card").nth(2).locator(".value").first().innerText();
  const before = await others();
  const box = await view.locator(".u-over").first().boundingBox();
  await view.mouse.move(box.x + 0.9 * box.width, box.y + 20);
  await settle(view);
  assert.notEqual(await others(), before, "another plot shows the time under the pointer");
  assert.match(await view.locator(".plots-title .hint").innerText(), /^values at t = 1\.(79|80)\d s, pointer$/);
  for (const kind of ["x–y", "spectrum"]) {
    await menu(view, "Choose channels", kind);
    assert.ok(describe(await picture(view, ".plot.xy canvas")).colours > 20, kind);
  }
  assert.match(await heights.innerText(), /amplitude over frequency/);
  await menu(view, "Choose channels", "over time");
  assert.equal(await view.locator(".plot.xy").count(), 0);
  await close();
});

test("channels of a plot that measure the same share its axis and unit", async () => {
  const data = suspension(100);
  const metres = data.channels.find((c) => c.unit === "m");
  data.channels.push({ ...metres, name: "in mm", unit: "mm", data: array(Array.from({ length: 100 }, () => 250), [100]) });
  data.plots = [{ title: null, channels: [metres, data.channels.at(-1)].map(({ group, name }) => ({ group, name })), over: null }];
  const { view, close } = await open(page([data]));
  const card = view.locator(".plot-card").first();
  assert.deepEqual(await card.locator(".unit").allInnerTexts(), ["m", "m"]);
  assert.equal(await card.locator(".value").nth(1).innerText(), "0.2500");
  await card.getByLabel("Unit of what is given in m").selectOption("cm");
  assert.equal(await card.locator(".value").nth(1).innerText(), "25.00");
  await close();
});

test("two fingers zoom and pan all plots; menus stay inside a small window", async () => {
  const { view, close } = await open(page([suspension(400), { ...suspension(400), name: "second" }]), { viewport: phone, touch: true });
  const over = view.locator(".u-over").first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const touch = await view.context().newCDPSession(view);
  const fingers = (type, ...places) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: places.map((x, id) => ({ id, x: box.x + x * box.width, y: box.y + 40 })) });
  await scrub(view, 0.5);
  const middle = await cursorX(view);
  await fingers("touchStart", 0.4, 0.6);
  await fingers("touchMove", 0.25, 0.75);
  await fingers("touchMove", 0.1, 0.9);
  await settle(view);
  assert.ok(Math.abs((await cursorX(view)) - middle) < 6, "what was between the fingers still is");
  await fingers("touchMove", 0.2, 1);
  await fingers("touchEnd");
  await settle(view);
  assert.ok(Math.abs((await cursorX(view)) - middle - 0.1 * box.width) < 6, "moved along with them");
  assert.ok(Math.abs((await shownTime(view)) - 1) < 1e-6, "the time stayed");
  await view.getByRole("button", { name: "Reset zoom" }).click();
  for (const name of ["Show", "Trails", "Bodies", "Save the animation as a video", "Compare", "Choose channels", "Save this plot"])
    for (const button of [view.getByRole("button", { name, exact: true }).first(), view.getByRole("button", { name, exact: true }).last()]) {
      await button.click();
      const place = await view.locator(".popover").boundingBox();
      assert.ok(place.x >= 0 && place.x + place.width <= phone.width && place.y >= 0 && place.y + place.height <= phone.height, `${name}: ${JSON.stringify(place)}`);
      await view.keyboard.press("Escape");
    }
  await close();
});

test("frame by frame, a hundred times as fast, and the run as a video that plays", async (context) => {
  const { view, close } = await open(page([fourBar(41)]), { viewport: { width: 700, height: 600 } });
  await view.keyboard.press(".");
  assert.equal(await shownTime(view), 0.1);
  await view.getByRole("button", { name: "One frame back (comma)" }).click();
  assert.equal(await shownTime(view), 0);
  await view.getByLabel("Speed of the animation").selectOption("100");
  await view.getByLabel("Speed of the animation").selectOption("10");
  await view.getByRole("button", { name: "Save the animation as a video" }).click();
  assert.match(await view.getByRole("dialog").innerText(), /13 frames/);
  const video = await saved(view, () => view.getByRole("button", { name: "Record" }).click());
  assert.equal(video.name, "four-bar.webm");
  const player = await view.context().newPage();
  const [duration, width, height, error] = await player.evaluate(async (data) => {
    const element = document.createElement("video");
    element.src = `data:video/webm;base64,${data}`;
    await new Promise((done) => (element.onloadeddata = element.onerror = done));
    element.currentTime = 0.3;
    await new Promise((done) => (element.onseeked = element.onerror = done));
    return [element.duration, element.videoWidth, element.videoHeight, element.error?.message ?? null];
  }, video.bytes.toString("base64"));
  context.diagnostic(`${video.bytes.length} bytes, ${width} x ${height}`);
  assert.equal(error, null);
  assert.ok(Math.abs(duration - 13 / 30) < 0.01 && width > 600 && height > 200);
  await player.close();
  await close();
});
