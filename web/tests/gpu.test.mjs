// The drawn run of `gpu.rs`, in ms; the memory snapshot beside it in `memory_snapshots.rs`.
//
//   steps on the host   190    90    90   100    70     the first is the warm-up
//   on GPU 0            200    80    85    90     -     455 in all, 113.75 a call
//   delay                10    15     ?    20     -     15 a call
//   window            |  0       1     0 |               recorded one step after a warm-up of one; (100 + 70) / 2 outside

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHASES, colourAt, figuresOf, pointAt, rowsOf } from "./charts.mjs";
import { drawn, launch, open } from "./page.mjs";
import { eventually, says } from "./patience.mjs";

/** As drawn, in pixels: labels, the strip of the whole run with the axis, what scrolls. */
const [LABELS, HEAD, SCROLLBAR] = [196, 60, 10];

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const shown = (view) => open(browser, drawn("gpu"), { hash: `#view=${view}` });
const byName = (rows) => Object.fromEntries(rows.map((row) => [row[0], row.slice(1)]));

test("call paths have their time on the GPU, and those that were not measured have none", async () => {
  const { page, problems } = await shown("sections");
  const rows = await rowsOf(page, "section_gpu_times");
  const figures = (name) => rows.find(([path]) => path.split(" / ").at(-1).trim() === name);
  for (const [name, expected] of [["denoising_step", ["455 ms", "114 ms", "200 ms", "15.0 ms"]], ["denoise", ["580 ms", "20.0 ms"]], ["decode", ["180 ms", "5.00 ms"]]]) {
    assert.deepEqual(expected.filter((figure) => !figures(name).includes(figure)), [], `${name}: ${figures(name)}`);
  }
  assert.equal(figures("load"), undefined);
  assert.deepEqual(problems, []);
});

test("runs without GPU time have no table of it", async () => {
  const { page } = await open(browser, drawn("overlap"), { hash: "#view=sections" });
  assert.equal(await page.locator("#table-sections").count(), 1);
  assert.equal(await page.locator("#table-section_gpu_times").count(), 0);
});

test("what GPUs did lies below the threads, in the colours of the sections", async () => {
  const { page, problems } = await shown("timeline");
  await page.waitForFunction(() => window.marey);
  const rows = await page.evaluate(() => {
    const { slices } = window.marey;
    const lines = window.marey.lines().filter(({ kind }) => kind === "row");
    return lines.map(({ y, height, row }) => {
      const each = Array.from({ length: row.last - row.first }, (_, at) => row.first + at);
      return { y, height, in: row.group.title, each: each.map((at) => [slices.name(at), slices.start[at] / 1e6, slices.end[at] / 1e6]) };
    });
  });
  assert.deepEqual(rows.slice(2).map((row) => [row.in, row.each]), [
    ["GPU 0, stream 7", [["denoise (GPU)", 120, 700]]],
    // Step 2 has no place.
    ["GPU 0, stream 7", [["denoising_step (GPU)", 120, 320], ["denoising_step (GPU)", 325, 405], ["denoising_step (GPU)", 530, 620]]],
    ["GPU 1", [["decode (GPU)", 705, 885]]],
  ]);
  assert.match(await page.locator(".note").innerText(), /^1 call measured on a GPU is not drawn there: when the work began is not known/);
  const box = await page.locator("canvas").boundingBox();
  const x = (ms) => LABELS + (ms / 1_000) * (box.width - LABELS - SCROLLBAR);
  const colour = (row, ms) => colourAt(page.locator("canvas"), x(ms), HEAD + rows[row].y + 3);
  // Of host and GPU: the loop, a step, the decoder.
  assert.equal(await colour(2, 500), await colour(0, 500));
  assert.equal(await colour(3, 250), await colour(1, 250));
  assert.equal(await colour(4, 800), await colour(0, 800));
  assert.notEqual(await colour(2, 500), await colour(4, 800));
  await page.mouse.move(box.x + x(570), box.y + HEAD + rows[3].y + rows[3].height / 2);
  const tip = page.getByRole("tooltip");
  await eventually(page, () => tip.innerText(), /^denoising_step \(GPU\) gpu\s+start\s+530\.\d* ms\s+duration\s+90\.0 ms[\s\S]*on\s+GPU 0, stream 7/);
  assert.deepEqual(problems, []);
});

test("steps have their time on the GPU beside that of the host", async () => {
  const { page, problems } = await shown("diffusion");
  await page.waitForSelector(PHASES);
  const figures = async () => Object.fromEntries((await figuresOf(page, "Duration of each step")).map((row) => [row[0], row.at(-1)]));
  await pointAt(page, "Duration of each step", 0.4);
  await eventually(page, figures, (read) => read["on the GPU (4)"] === "80.0 ms" && read["computed (4)"] === "90.0 ms");
  await pointAt(page, "Duration of each step", 0.3);
  await eventually(page, figures, (read) => read["on the GPU (4)"] === "200 ms");
  const rows = byName(await rowsOf(page, "step_times"));
  // Count, mean: 80, 85 and 90.
  assert.deepEqual(rows["Other steps on the GPU"].slice(0, 2), ["3", "85.0 ms"]);
  assert.deepEqual(rows["First step on the GPU"].slice(0, 2), ["1", "200 ms"]);
  assert.equal(rows["Other steps"][0], "4");
  assert.deepEqual(problems, []);
});

test("sections have their peak memory on each GPU", async () => {
  const { page, problems } = await shown("memory");
  const rows = await rowsOf(page, "section_peaks");
  // Allocated and reserved: 7 of 8 GiB, at least, of two calls of five; 3 of 3.
  assert.deepEqual(["≥7.0 GiB", "≥8.0 GiB", "12.5 %"].filter((figure) => !rows[0].includes(figure)), [], String(rows[0]));
  assert.ok(rows.some((row) => row.includes("3.0 GiB") && row.includes("0.0 %")), String(rows));
  assert.deepEqual(problems, []);
});

test("a memory snapshot tells its peak, its curve, what was there by stack and by section, and what did not fit", async () => {
  const { page, problems } = await shown("memory");
  await page.waitForSelector(PHASES);
  const levels = byName(await rowsOf(page, "memory_levels"));
  // 1 - 9/14 unused.
  for (const figure of ["9.0 GiB", "14.0 GiB", "35.7 %", "0.455 s"]) {
    assert.ok(levels["Most allocated"].includes(figure), `${figure} in ${levels["Most allocated"]}`);
  }
  const curve = '[data-chart^="Allocator of cuda:0"]';
  const title = await page.locator(curve).first().getAttribute("data-chart");
  const figures = async () => Object.fromEntries((await figuresOf(page, title)).map((row) => [row[0], row.at(-1)]));
  for (const [part, allocated] of [[0.36, "7.0 GiB"], [0.42, "5.0 GiB"], [0.7, "6.5 GiB"]]) {
    await pointAt(page, title, part);
    await eventually(page, figures, (read) => read.allocated.includes(allocated) && read.reserved.includes("14.0 GiB"));
  }
  // At the peak in halves of GiB: of main 16, in it load_model 8, attention 6 and keep 2; before the history 2.
  const stacks = page.locator('[data-flame^="Memory of cuda:0 at its peak"]').first();
  const tip = stacks.locator(".flame-tip:not([hidden])");
  await stacks.locator("canvas").focus();
  await page.keyboard.press("ArrowRight");
  await says(tip, /^film\.py:99 main.*8\.0 GiB · 88\.9 % of what is listed at its peak/);
  await page.keyboard.press("ArrowDown");
  await says(tip, /^film\.py:10 load_model.*4\.0 GiB · 44\.4 %/);
  await page.keyboard.press("ArrowRight");
  await says(tip, /^film\.py:42 attention.*3\.0 GiB · 33\.3 %/);
  const main = await page.locator("main").innerText();
  for (const said of [/Memory snapshot after_denoising\.pickle/, /2 events of an unknown kind/, /film\.py:10 load_model/, /film\.py:42 attention/, /7\.0 GiB/, /refused\.pickle/, /the opcode REDUCE runs code/, /it is empty: no device had memory or a history/]) {
    assert.match(main, said);
  }
  assert.deepEqual(problems, []);
});

test("windows tell what they recorded, what it cost, and what went wrong", async () => {
  const { page, problems } = await shown("system");
  const rows = await rowsOf(page, "windows");
  const text = rows.map((row) => row.join(" ")).join("\n") + (await page.locator("main").innerText());
  for (const said of [/profile/, /203 ms/, /90\.0 ms/, /85\.0 ms/, /decoder/, /RuntimeError: no buffer/]) {
    assert.match(text, said);
  }
  assert.deepEqual(problems, []);
});
