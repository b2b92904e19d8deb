// Fingers on a phone: what a mouse and a wheel do elsewhere.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHASES } from "./charts.mjs";
import { drawn, launch, open, windowOf } from "./page.mjs";
import { eventually, frame, says } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A page on a phone, and `fingers(type, [x, y], …)`, which puts them there, moves or lifts them. */
async function phone(hash, kind = "video") {
  const opened = await open(browser, drawn(kind), { hash, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const session = await opened.page.context().newCDPSession(opened.page);
  const fingers = (type, ...places) =>
    session.send("Input.dispatchTouchEvent", { type: `touch${type}`, touchPoints: places.map(([x, y], id) => ({ x, y, id })) });
  return { ...opened, fingers };
}

/** Moves fingers from places to places in small steps. */
async function drag(fingers, from, to) {
  await fingers("Start", ...from);
  for (let n = 1; n <= 10; n += 1) {
    await fingers("Move", ...from.map(([x, y], at) => [x + ((to[at][0] - x) * n) / 10, y + ((to[at][1] - y) * n) / 10]));
  }
  await fingers("End");
}

/** Left edge, width and middle of a plot in a canvas. */
async function plotOf(canvas, left, right) {
  await canvas.scrollIntoViewIfNeeded();
  await frame(canvas.page());
  const box = await canvas.boundingBox();
  return { left: box.x + left, width: box.width - left - right, y: box.y + box.height / 2, top: box.y };
}

const FROM = 4e9;
const TO = 8e9;
const PART = `&from=${FROM}&to=${TO}`;

/** Of each kind of plot over time: the view, its canvas, and what is left and right of the plot. The first is a third of 350 px. */
const PLOTS = [
  ["timeline", ".timeline canvas", 112, 10],
  ["flame&mode=order", ".flame canvas", 0, 0],
  ["machine", '[data-chart="Utilisation"] canvas', 64, 14],
  ["machine", PHASES, 64, 14],
];

test("one finger moves what is shown, two zoom around what is between them", async () => {
  for (const [view, selector, left, right] of PLOTS) {
    const { page, fingers, problems } = await phone(`#view=${view}${PART}`, view === "machine" ? "machine" : "video");
    const plot = await plotOf(page.locator(selector).first(), left, right);
    const y = view === "timeline" ? plot.top + 200 : plot.y;
    const at = (part) => [plot.left + plot.width * part, y];
    const [begin, end] = await windowOf(page);
    const length = end - begin;
    await drag(fingers, [at(0.7)], [at(0.45)]);
    // A quarter of the plot to the left.
    const [moved] = await eventually(page, windowOf, ([from, to]) => Math.abs(to - from - length) < 10 && Math.abs(from - begin - length / 4) < length * 0.005);
    await drag(fingers, [at(0.4), at(0.6)], [at(0.3), at(0.7)]);
    // Twice as far from each other: half is shown, and its middle is where it was.
    await eventually(page, windowOf, ([from, to]) => Math.abs((to - from) / length - 0.5) < 0.02 && Math.abs((from + to) / 2 - (moved + length / 2)) < length * 0.02);
    assert.deepEqual(problems, [], view);
    await page.context().close();
  }
});

test("a tap selects, as a click does", async () => {
  const { page } = await phone("#view=timeline");
  await page.waitForFunction(() => window.marey);
  await frame(page);
  const { left, width, top } = await plotOf(page.locator("canvas"), 112, 10);
  const { y, height } = await page.evaluate(() => {
    const { y, height } = window.marey.lines().find(({ kind, row }) => kind === "row" && row.group.title === "main" && row.kind === "nested");
    return { y, height };
  });
  const end = await page.evaluate(() => window.marey.slices.end_ns);
  await page.touchscreen.tap(left + (700e6 / end) * width, top + 60 + y + height / 2);
  await says(page.getByRole("complementary", { name: "Selection" }), /^\s*load_models/);
});

test("a mouse clicks after a finger has moved", async () => {
  const { page, fingers } = await phone(`#view=machine${PART}`, "machine");
  const { left, width, y } = await plotOf(page.locator(PHASES).first(), 64, 14);
  await drag(fingers, [[left + width * 0.6, y]], [[left + width * 0.5, y]]);
  const [from, to] = await eventually(page, windowOf, ([from]) => from !== FROM);
  // The phase there is shown.
  await page.mouse.click(left + width * 0.5, y + 8);
  await eventually(page, windowOf, ([begin, end]) => begin !== from && end !== to);
});

test("what is pressed is at least as high as a finger is wide", async () => {
  for (const [kind, view] of [["video", "overview"], ["video", "sections"], ["video", "timeline&section=attention"], ["video", "flame&mode=sandwich"], ["comparison", "comparison"]]) {
    const { page } = await phone(`#view=${view}`, kind);
    await frame(page);
    const small = await page.locator("button:visible, select:visible, summary:visible, input:visible").evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().height < 40).map((one) => one.outerHTML.slice(0, 200)),
    );
    assert.deepEqual(small, [], view);
    await page.context().close();
  }
  const { page } = await phone("#view=timeline");
  await page.waitForFunction(() => window.marey);
  const heights = await page.evaluate(() => window.marey.lines().filter((line) => line.kind !== "row" || line.row.kind !== "events").map(({ height }) => height));
  assert.ok(heights.every((height) => height >= 40));
});
