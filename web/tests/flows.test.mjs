// Arrows of the timeline: from what launched or began something to what that is.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { address, drawn, launch, open } from "./page.mjs";
import { eventually } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const MS = 1e6;

async function timeline(kind) {
  const opened = await open(browser, drawn(kind), { hash: "#view=timeline", viewport: { width: 1400, height: 1200 } });
  await opened.page.waitForFunction(() => window.marey);
  return opened;
}

/** Selects the slice of this name that begins at a moment; gives its number. */
async function select(page, name, ms) {
  const slice = await page.evaluate(
    ([name, at]) => {
      const { slices } = window.marey;
      return Array.from({ length: slices.n }, (_, i) => i).find((i) => slices.name(i) === name && slices.start[i] === at);
    },
    [name, ms * MS],
  );
  await page.evaluate((slice) => (location.hash = `view=timeline&row=${slice}`), slice);
  await eventually(page, () => page.locator(".timeline-detail strong").first().textContent(), name);
  return slice;
}

/** Both ends of each arrow, as `name start`. */
const flows = (page) =>
  page.evaluate(() => {
    const { slices, flows } = window.marey;
    return flows().map((ends) => ends.map((slice) => `${slices.name(slice)} ${slices.start[slice] / 1e6}`));
  });

test("a kernel has an arrow from the call that launched it, and a range one to what it was on the GPU", async () => {
  // ms       10        20
  // step     |-- 2 ---|
  // range     |denoise|
  // launches   ↓3 ↓4                 at 12 and 14
  // stream 7        |-gemm--||attn|  16–23, 24–28
  const { page, problems } = await timeline("trace");
  await select(page, "gemm", 16);
  assert.deepEqual(await flows(page), [["cudaLaunchKernel 12", "gemm 16"]]);
  assert.match(await page.locator(".timeline-detail").innerText(), /led to by\s+cudaLaunchKernel in .*, 4\.00 ms before/);
  const kernel = await address(page);
  await page.locator(".timeline-detail").getByRole("button", { name: "cudaLaunchKernel" }).click();
  await eventually(page, address, (now) => now !== kernel);
  await eventually(page, () => flows(page), [["cudaLaunchKernel 12", "gemm 16"]]);
  await select(page, "denoise", 11);
  assert.deepEqual(await flows(page), [["denoise 11", "denoise (GPU) 16"]]);
  await page.keyboard.press("Escape");
  await eventually(page, () => flows(page), []);
  assert.deepEqual(problems, []);
});

test("a task has an arrow from the section that it was begun in, what nests there has none", async () => {
  // ms       0    10   20   30   40   50   60   70
  // main     |--------------------serve-----------
  // task 1     |----fetch-----------|
  // task 2          |----fetch-----------|
  // task 3               |----fetch---------------|
  // in it                  |parse|
  const { page } = await timeline("overlap");
  await select(page, "fetch", 15);
  assert.deepEqual(await flows(page), [["serve 0", "fetch 15"]]);
  await select(page, "parse", 30);
  assert.deepEqual(await flows(page), []);
  await select(page, "serve", 0);
  assert.deepEqual((await flows(page)).map(([, to]) => to).sort(), ["fetch 15", "fetch 25", "fetch 5", "frames 10"]);
});

test("arrows are drawn for the selected slice only", async () => {
  const { page } = await timeline("trace");
  const canvas = page.locator("main canvas");
  const picture = () => canvas.evaluate((element) => element.toDataURL());
  await select(page, "gemm", 16);
  /** Dark pixels between the rows of both ends, from 10 to 17 ms. */
  const dark = () =>
    page.evaluate(() => {
      const { slices, lines } = window.marey;
      const canvas = document.querySelector("main canvas");
      const sharpness = canvas.width / canvas.clientWidth;
      const group = lines().find(({ kind, title }) => kind === "group" && title.startsWith("GPU"));
      const perMs = (canvas.clientWidth - 206) / (slices.end_ns / 1e6);
      // In the title of the GPU's group, which has nothing of its own there.
      const { data } = canvas.getContext("2d").getImageData((196 + 10 * perMs) * sharpness, (60 + group.y + 11) * sharpness, 7 * perMs * sharpness, 1);
      return Array.from({ length: data.length / 4 }, (_, at) => data[4 * at]).filter((red) => red < 120).length;
    });
  await eventually(page, dark, (n) => n > 0);
  const before = await picture();
  await page.keyboard.press("Escape");
  await eventually(page, dark, 0);
  assert.notEqual(await picture(), before);
});
