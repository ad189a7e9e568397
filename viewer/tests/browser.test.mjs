// The page in a real browser, opened from a file.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch } from "./browser.mjs";
import { array, equations, fourBar, longDrive, page, study, suspension, zeroSteps } from "./data.mjs";
import { cursorX, hasNoSidewaysScroll, open, phone, picture, scrub, settle, shownTime } from "./open.mjs";
import { describe, difference } from "./png.mjs";

const results = [suspension(), fourBar(), equations(), zeroSteps()];
const everything = page(results, [study()]);

test("a result loads: title, verdict, a canvas with a mechanism in it, plots with curves", async () => {
  const { view, close } = await open(everything);
  assert.equal(await view.title(), "Suspension on a stair");
  assert.match(await view.locator(".badge").innerText(), /Result: good/);
  const { colours } = describe(await picture(view, "canvas[role=img]"));
  assert.ok(colours > 500, `${colours} colours`);
  assert.equal(await view.locator(".plot").count(), 5);
  assert.ok(describe(await picture(view, ".plot")).colours > 20);
  assert.match(await view.locator("#certificate").innerText(), /Joints and loops stay closed/);
  assert.equal(await view.locator(".mark").count(), 3);
  await close();
});

test("scrubbing changes the picture, the plot cursor, the time and the values in the legend", async () => {
  const { view, close } = await open(everything);
  const before = await picture(view, "canvas[role=img]");
  const [x0, value0] = [await cursorX(view), await view.locator(".chip .value").first().innerText()];
  await scrub(view, 0.5);
  const after = await picture(view, "canvas[role=img]");
  assert.ok(difference(before, after) > 0.01, "the picture changed");
  const width = await view.locator(".u-over").first().evaluate((o) => o.clientWidth);
  assert.ok(Math.abs((await cursorX(view)) - x0 - width / 2) < 2, "the cursor is in the middle");
  assert.equal(await shownTime(view), 1);
  assert.notEqual(await view.locator(".chip .value").first().innerText(), value0);
  await scrub(view, 0);
  assert.ok(difference(before, await picture(view, "canvas[role=img]")) < 0.002, "the same time gives the same picture");
  await close();
});

test("a drag over a plot moves the animation; zoom mode chooses a part of the axis; reset shows all", async () => {
  const { view, close } = await open(everything);
  const box = await view.locator(".u-over").nth(1).boundingBox();
  const before = await picture(view, "canvas[role=img]");
  const at = (place) => [box.x + box.width * place, box.y + box.height / 2];
  await view.mouse.move(...at(0.1));
  await view.mouse.down();
  await view.mouse.move(...at(0.75), { steps: 4 });
  await view.mouse.up();
  await settle(view);
  assert.ok(Math.abs((await shownTime(view)) - 1.5) < 0.02);
  assert.ok(difference(before, await picture(view, "canvas[role=img]")) > 0.01);
  await view.getByRole("button", { name: "Drag zooms" }).click();
  await view.mouse.move(...at(0.25));
  await view.mouse.down();
  await view.mouse.move(...at(0.75), { steps: 4 });
  await view.mouse.up();
  await settle(view);
  assert.ok(Math.abs((await shownTime(view)) - 1.5) < 0.02, "zooming leaves the time alone");
  const width = await view.locator(".u-over").first().evaluate((o) => o.clientWidth);
  assert.ok(Math.abs((await cursorX(view)) - width) < 6, "1.5 s is now at the right end of every plot");
  await view.getByRole("button", { name: "Reset zoom" }).click();
  await settle(view);
  assert.ok(Math.abs((await cursorX(view)) - 0.75 * width) < 4);
  await close();
});

test("keys: space plays and pauses, arrows step, home returns", async () => {
  const { view, close } = await open(everything);
  await view.keyboard.press("Space");
  await view.waitForFunction(() => Number.parseFloat(document.querySelector(".time b").textContent) > 0.05);
  assert.equal(await view.locator(".transport .primary").getAttribute("aria-label"), "Pause");
  await view.keyboard.press("Space");
  const t = await shownTime(view);
  await settle(view);
  assert.equal(await shownTime(view), t);
  await view.keyboard.press("ArrowRight");
  assert.ok(Math.abs((await shownTime(view)) - t - 0.01) < 0.0011);
  await view.keyboard.press("Home");
  assert.equal(await shownTime(view), 0);
  await view.locator(".mark").first().click();
  assert.equal(await shownTime(view), 0.3);
  await close();
});

test("frames, trails, reactions, following and the channel list do what they say", async () => {
  const { view, close } = await open(everything);
  await scrub(view, 0.2);
  let last = await picture(view, "canvas[role=img]");
  const changes = async (what, least = 0.0005) => {
    await settle(view);
    const now = await picture(view, "canvas[role=img]");
    assert.ok(difference(last, now) > least, `${what} is seen`);
    last = now;
  };
  const panel = async (button, entry) => {
    await view.getByRole("button", { name: button, exact: true }).click();
    await view.getByRole("dialog").getByText(entry).click();
    await view.keyboard.press("Escape");
  };
  await panel("Show", "Body frames");
  await changes("a frame");
  await panel("Show", /Reaction forces/);
  await changes("an arrow");
  await panel("Trails", "wheel.rim");
  await changes("a trail");
  await panel("Show", "Road");
  await changes("the missing road", 0.02);
  await view.getByLabel("Follow a body").selectOption({ label: "Follow: wheel" });
  const plots = await view.locator(".chip").count();
  await view.getByRole("button", { name: "Choose channels" }).first().click();
  await view.getByLabel("Search channels").fill("hub");
  assert.deepEqual(await view.locator(".chooser .entry span:first-of-type").allInnerTexts(), ["hub force x"]);
  await view.locator(".chooser .entry").click();
  assert.equal(await view.locator(".chip").count(), plots + 1);
  await close();
});

test("the study's table holds the numbers of the JSON, and the paper's stand apart", async () => {
  const data = study();
  const { view, close } = await open(page([], [data]));
  const rows = await view.locator(".own tbody tr").evaluateAll((all) => all.map((tr) => ({ name: tr.querySelector("th").firstChild.textContent, failed: tr.classList.contains("failed"), text: tr.innerText, cells: [...tr.querySelectorAll("td")].map((td) => ({ title: td.title, value: td.dataset.value, text: td.textContent })) })));
  assert.deepEqual(rows.map((r) => r.name), data.rows.map((r) => r.name));
  data.rows.forEach((row, i) => {
    if (row.status !== "ok") {
      assert.ok(rows[i].failed);
      assert.ok(rows[i].text.includes(row.reason));
      return;
    }
    row.values.forEach((value, k) => {
      const shown = rows[i].cells[k];
      if (typeof value === "number") {
        assert.equal(Number(shown.value), value);
        assert.equal(Number(shown.title), value);
        assert.ok(Math.abs(Number(shown.text.replace("−", "-")) - value) <= 5.1e-4 * Math.abs(value), `${shown.text} for ${value}`);
      } else assert.equal(shown.text, value ?? "–");
    });
  });
  const paper = await view.locator(".paper tbody tr").evaluateAll((all) => all.map((tr) => [...tr.children].map((c) => c.textContent)));
  assert.deepEqual(paper, data.paper.rows.map((r) => r.map(String)));
  assert.equal(await view.locator(".own").getByText("no projection").count(), 0);
  await close();
});

test("the table sorts both ways with missing values last, and returns to its order", async () => {
  const { view, close } = await open(page([], [study()]));
  const head = view.locator(".own thead button").nth(1);
  const column = () => view.locator(".own tbody tr").evaluateAll((all) => all.map((tr) => tr.querySelector("td").dataset.value ?? null));
  await head.click();
  assert.deepEqual(await column(), ["123", "129", "131", "1234567", null]);
  await head.click();
  assert.deepEqual(await column(), ["1234567", "131", "129", "123", null]);
  assert.equal(await view.locator(".own thead th").nth(1).getAttribute("aria-sort"), "descending");
  await head.click();
  assert.deepEqual(await column(), ["123", "131", "129", null, "1234567"]);
  await close();
});

test("the study's charts show all kinds, with slopes and the paper's series marked", async () => {
  const data = study();
  const { view, close } = await open(page([], [data]));
  assert.equal(await view.locator(".chart").count(), data.plots.length);
  const legend = await view.locator(".chart-legend .chip").allInnerTexts();
  assert.ok(legend.some((s) => /mdop5\s*slope 5\.01/.test(s.replace(/\n/g, " "))));
  assert.equal(await view.locator(".chart-legend .paper-pill").count(), 1);
  assert.equal(await view.locator(".from-paper .curve").count(), 2);
  const chart = (title) => view.locator(".chart", { hasText: title });
  assert.match(await chart("Order of the methods").innerText(), /2 points are missing/);
  assert.match(await chart("Nothing to draw").innerText(), /No values to draw/);
  assert.equal(await chart("Regions of stability").locator(".region").count(), 2);
  const bars = await chart("Distribution").locator(".chart-host .bar").getAttribute("d");
  assert.ok(bars.split("M").length > 10);
  // Work-precision: equal steps in the exponent are equal distances.
  const path = await chart("Work and precision").locator(".chart-host .curve").first().getAttribute("d");
  const x = path.slice(1).split("L").map((p) => Number(p.split(" ")[0]));
  const gaps = x.slice(1).map((v, i) => x[i] - v);
  assert.ok(gaps.every((g) => g > 5 && Math.abs(g - gaps[0]) < 0.05));
  await close();
});

test("several results and studies: the switcher shows each, and the address names it", async () => {
  const { view, close } = await open(everything, { hash: "#2" });
  assert.equal(await view.locator(".tab[aria-current=page]").innerText(), "four-bar");
  for (const [name, sign] of [["equations", "no 3-D scene"], ["no steps", "holds no frames"], ["projection", "Bogie's results"], ["suspension on a stair", "Certificate"]]) {
    await view.getByRole("button", { name, exact: true }).click();
    await settle(view);
    assert.ok((await view.locator("main").innerText()).includes(sign), name);
  }
  assert.match(view.url(), /#1$/);
  await close();
});

test("many results: a list to choose from, and never too many 3-D views at a time", async () => {
  const many = Array.from({ length: 20 }, (_, i) => ({ ...fourBar(5), name: `variant ${i}` }));
  const { view, close } = await open(page(many));
  const list = view.getByLabel("Result or study to show");
  for (let i = 1; i < 20; i++) {
    await list.selectOption(String(i));
    await settle(view);
  }
  await list.selectOption("0");
  await settle(view);
  assert.ok(describe(await picture(view, "canvas[role=img]")).colours > 100);
  await close();
});

test("the verdict and the warnings are the program's", async () => {
  const data = suspension();
  const warning = "16 % of the energy are unaccounted for";
  Object.assign(data.summary, { verdict: "doubtful", reason: warning, warnings: [
    { verdict: "doubtful", topic: "energy", text: warning }, { verdict: "good", topic: "stiff", text: "steps are limited by stability" }] });
  const { view, close } = await open(page([data]));
  assert.match(await view.locator(".badge.fair").innerText(), /Result: doubtful/);
  assert.match(await view.locator("#certificate .verdict").first().innerText(), /doubtful\s+16 % of the energy/);
  assert.match(await view.locator("#certificate .verdict.plain").first().innerText(), /Remark\s+stiff\s+steps are limited/);
  assert.match(await view.locator("#certificate .verdict.fair").nth(1).innerText(), /Energy balance/);
  data.summary.certificate.energy_error = 1e9; // figures alone change nothing
  Object.assign(data.summary, { verdict: "good", reason: "", warnings: [] });
  const good = await open(page([data]));
  assert.equal(await good.view.locator(".verdict.fair, .verdict.bad").count(), 0);
  await good.close();
  await close();
});

test("ten thousand cases: the table shows the first, and all when asked", async () => {
  const data = study();
  data.rows = Array.from({ length: 10000 }, (_, i) => ({ case: i, name: `draw ${i}`, status: "ok", reason: "", settings: {}, values: [i, i % 7, 1 / (i + 1), i * 1e-9, "done", null] }));
  data.cases = { total: 10000, ok: 10000, failed: 0 };
  const { view, close } = await open(page([], [data]));
  assert.equal(await view.locator(".own tbody tr").count(), 300);
  await view.getByLabel("Filter cases").fill("draw 99");
  assert.equal(await view.locator(".own tbody tr").count(), 111);
  await view.getByLabel("Filter cases").fill("");
  await view.getByRole("button", { name: /Show all 10000/ }).click();
  assert.equal(await view.locator(".own tbody tr").count(), 10000);
  await close();
});

test("without a scene, with NaN, or without steps the page still says all it can", async () => {
  const { view, close } = await open(page([equations()]));
  assert.match(await view.locator("main").innerText(), /no 3-D scene/);
  assert.match(await view.locator("main").innerText(), /No finite values/);
  assert.match(await view.locator(".badge").innerText(), /ended early/);
  assert.match(await view.locator("#certificate").innerText(), /The step fell below 1e-12/);
  const before = await cursorX(view);
  await scrub(view, 0.4);
  assert.ok((await cursorX(view)) > before + 50);
  assert.equal(await view.locator(".chip .value").first().innerText(), "–", "1.2 s is in the gap");
  await close();
  const none = await open(page([zeroSteps()]));
  assert.match(await none.view.locator("main").innerText(), /holds no rows/);
  assert.match(await none.view.locator("#certificate").innerText(), /3 mm remain/);
  await none.close();
});

test("NaN among the poses hides a body instead of breaking the view", async () => {
  const data = fourBar(3);
  const bytes = Buffer.from(data.scene.poses.base64, "base64");
  const poses = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  poses.fill(NaN, 7 * 6, 7 * 7); // frame 1, coupler
  const broken = { ...data, scene: { ...data.scene, poses: array(poses, [3, 4, 7]) } };
  const pictures = [];
  for (const result of [data, broken]) {
    const { view, close } = await open(page([result]));
    await scrub(view, 0.5);
    pictures.push(await picture(view, "canvas[role=img]"));
    await close();
  }
  assert.ok(describe(pictures[1]).colours > 100, "the others are still there");
  assert.ok(difference(...pictures) > 0.001, "one is missing");
});

test("light and dark follow the system, and the button overrules it", async () => {
  const light = await open(everything);
  const brightness = async (view) => describe(await picture(view, "body")).brightness;
  assert.ok((await brightness(light.view)) > 190);
  await light.view.getByRole("button", { name: "Dark colours" }).click();
  await settle(light.view);
  assert.ok((await brightness(light.view)) < 70);
  await light.close();
  const dark = await open(everything, { colorScheme: "dark" });
  assert.ok((await brightness(dark.view)) < 70);
  await dark.close();
});

test("on a phone nothing scrolls sideways and touch works", async () => {
  for (const hash of ["#1", "#3", "#5"]) {
    const { view, close } = await open(everything, { hash, viewport: phone, touch: true });
    assert.ok(await hasNoSidewaysScroll(view), hash);
    if (hash === "#1") {
      const over = view.locator(".u-over").first();
      await over.scrollIntoViewIfNeeded();
      const box = await over.boundingBox();
      await view.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
      assert.ok(Math.abs((await shownTime(view)) - 1) < 0.03);
    }
    await close();
  }
});

test("bad data is answered with a sentence", async () => {
  const cases = [
    ["null", /empty template/],
    ['{"format":1,"results":[{"na', /not valid JSON/],
    [JSON.stringify({ ...everything, format: 7 }), /format 7/],
    [JSON.stringify({ format: 1, title: "x", results: [{ name: "half" }], studies: [] }), /half cannot be shown\s+results\[0\]\.t is missing/],
    [JSON.stringify({ format: 1, title: "x", results: [], studies: [] }), /neither results nor studies/],
  ];
  for (const [text, expected] of cases) {
    const { view, close } = await open(text);
    assert.match(await view.locator("body").innerText(), expected);
    await close();
  }
});

test("text in the data is text, never markup", async () => {
  const data = suspension(20);
  data.name = "</script><img src=x onerror=alert(1)>";
  data.facts = [["<b>label</b>", "<script>alert(1)</script>"]];
  const { view, close } = await open(page([data], [], "a </title> <b>title</b>"));
  assert.equal(await view.locator("h1").innerText(), "a </title> <b>title</b>");
  assert.ok((await view.locator("main").innerText()).includes("<script>alert(1)</script>"));
  assert.equal(await view.locator("main img").count(), 0);
  await close();
});

test("without WebGL there is a message and everything else works", async () => {
  const plain = await launch(["--disable-gpu", "--disable-3d-apis"]);
  try {
    const { view, close } = await open(everything, { from: plain });
    assert.match(await view.locator(".stage").innerText(), /no WebGL/);
    assert.equal(await view.locator(".plot").count(), 5);
    const before = await cursorX(view);
    await scrub(view, 0.5);
    assert.ok((await cursorX(view)) > before + 50);
    await close();
  } finally {
    await plain.close();
  }
});

test("a minute of fourteen bodies at sixty frames a second: below 10 MB, and a frame costs little", async (context) => {
  const data = page([longDrive()]);
  assert.ok(JSON.stringify(data).length < 10e6);
  const { view, close } = await open(data);
  assert.equal(await view.getByLabel("Follow a body").inputValue(), "14", "the camera follows a vehicle that drives away");
  // What plots and controls do when the time changes; the mechanism's share is measured in unit.test.mjs.
  const cost = await view.evaluate(() => {
    const input = document.querySelector(".scrubber");
    const start = performance.now();
    for (let i = 0; i < 200; i++) {
      input.value = String(i * 50);
      input.dispatchEvent(new Event("input"));
    }
    return (performance.now() - start) / 200;
  });
  context.diagnostic(`${cost.toFixed(2)} ms per frame for plots and controls`);
  assert.ok(cost < 8, `${cost} ms`);
  await close();
});
