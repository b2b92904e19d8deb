// The drawn run of `gpu.rs`, in ms; the memory snapshot beside it in `memory_snapshots.rs`.
//
//   steps on the host   190    90    90   100    70     the first is the warm-up
//   on GPU 0            200    80    85    90     -     455 in all, 113.75 a call
//   delay                10    15     ?    20     -     15 a call
//   window            |  0       1     0 |               recorded one step after a warm-up of one; (100 + 70) / 2 outside

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHASES, colourAt, factsOf, figuresOf, pointAt, rowsOf } from "./charts.mjs";
import { drawn, launch, open } from "./page.mjs";
import { eventually } from "./patience.mjs";

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
  const { page, problems } = await shown("phases");
  const rows = byName(await rowsOf(page, "phases"));
  // For, count, total; GPU, mean, p95, queue delay.
  assert.deepEqual(rows.denoising_step.slice(0, 7), ["work", "5", "540 ms", "455 ms", "114 ms", "200 ms", "15.0 ms"]);
  assert.deepEqual(rows.denoise.slice(2, 7), ["600 ms", "580 ms", "580 ms", "580 ms", "20.0 ms"]);
  assert.deepEqual(rows.decode.slice(2, 7), ["200 ms", "180 ms", "180 ms", "180 ms", "5.00 ms"]);
  assert.deepEqual(rows.load.slice(2, 7), ["100 ms", "-", "-", "-", "-"]);
  assert.match(await page.locator("main").innerText(), /GPU time: CUDA events; 6 of 7 calls of these call paths were measured/);
  assert.deepEqual(problems, []);
});

test("runs without GPU time have no columns for it", async () => {
  const { page } = await open(browser, drawn("overlap"), { hash: "#view=phases" });
  const titles = await page.locator('table[aria-labelledby="table-phases"] thead th').allTextContents();
  assert.ok(titles.includes("Total"));
  assert.deepEqual(titles.filter((title) => /GPU|delay/.test(title)), []);
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
  const rows = byName(await rowsOf(page, "steps"));
  // Count, total, min, mean: 80, 85 and 90.
  assert.deepEqual(rows["steady, on the GPU"].slice(0, 4), ["3", "255 ms", "80.0 ms", "85.0 ms"]);
  assert.deepEqual(rows["warm-up, on the GPU"].slice(0, 2), ["1", "200 ms"]);
  assert.deepEqual(rows.steady.slice(0, 2), ["4", "350 ms"]);
  assert.deepEqual(problems, []);
});

test("sections have their peak memory on each GPU", async () => {
  const { page, problems } = await shown("memory");
  // GPU, measured of made calls; allocated, reserved, added, growth; 1 - 7/8 unused; cut up. Where nothing was held no share is known.
  assert.deepEqual(await rowsOf(page, "section_peaks"), [
    ["denoise › denoising_step", "0", "2 of 5", "≥ 7.0 GiB", "≥ 8.0 GiB", "≥ 2.5 GiB", "+512.0 MiB", "12.5 %", "512.0 MiB"],
    ["decode", "1", "1", "3.0 GiB", "3.0 GiB", "1.0 GiB", "-1.0 GiB", "0.0 %", "-"],
    ["decode", "0", "1", "0 B", "0 B", "0 B", "0 B", "-", "-"],
  ]);
  assert.match(await page.locator("main").innerText(), /≥: at least; not all calls were measured/);
  assert.deepEqual(problems, []);
});

test("a memory snapshot tells its peak, and what was there then by stack and by section", async () => {
  const { page, problems } = await shown("memory");
  const snapshot = page.locator('[data-snapshot="0"]');
  assert.match(await snapshot.locator("h2").first().innerText(), /Memory snapshot after_denoising\.pickle/);
  assert.match(await snapshot.innerText(), /Passed over: 2 events of an unknown kind\./);
  // 1 - 9/14 unused.
  assert.deepEqual(await snapshot.locator(".key-figures").first().locator("> div").allInnerTexts(), [
    "most allocated\n9.0 GiB",
    "at\n0.455 s",
    "reserved then\n14.0 GiB",
    "unused then\n35.7 %",
    "largest free piece then\n4.0 GiB",
    "most reserved\n14.0 GiB",
    "allocated at the snapshot\n6.5 GiB",
    "there before the history\n1.0 GiB",
  ]);
  const [weights, scores, old, cache] = await rowsOf(page, "snapshot-0-0-stacks");
  assert.match(weights[0], /^film\.py:10 load_model\s*\/opt/);
  assert.deepEqual(weights.slice(1), ["4.0 GiB", "44.4 %", "1", "4.0 GiB"]);
  assert.match(scores[0], /^film\.py:42 attention ← vae\.py:115 forward/);
  assert.deepEqual(scores.slice(1), ["3.0 GiB", "33.3 %", "1", "3.0 GiB"]);
  assert.deepEqual(old, ["before the history: no stack", "1.0 GiB", "11.1 %", "1", "1.0 GiB"]);
  assert.match(cache[0], /^cache\.py keep/);
  assert.deepEqual(await rowsOf(page, "snapshot-0-0-sections"), [
    ["load", "4.0 GiB", "44.4 %", "1"],
    ["denoise › denoising_step", "4.0 GiB", "44.4 %", "2"],
    ["before the history", "1.0 GiB", "11.1 %", "1"],
  ]);
  const place = snapshot.locator("table details").first();
  await place.locator("summary").click();
  await eventually(page, () => place.locator("li").allInnerTexts(), [
    "/opt/venv/site-packages/torch/nn/module.py:7 to",
    "/home/me/film.py:10 load_model",
    "/home/me/film.py:99 main",
  ]);
  assert.deepEqual(problems, []);
});

test("a memory snapshot has its curve, the growth of steps, what did not fit, and what is held", async () => {
  const { page } = await shown("memory");
  await page.waitForSelector(PHASES);
  const figures = async () => Object.fromEntries((await figuresOf(page, "Allocator of cuda:0")).map((row) => [row[0], row.at(-1)]));
  for (const [part, allocated] of [[0.36, "7.0 GiB"], [0.42, "5.0 GiB"], [0.7, "6.5 GiB"]]) {
    await pointAt(page, "Allocator of cuda:0", part);
    await eventually(page, figures, (read) => read.allocated.includes(allocated) && read.reserved.includes("14.0 GiB"));
  }
  // Number, at, allocated, growth. The run has one loop: it is not named.
  assert.deepEqual(await rowsOf(page, "snapshot-0-0-growth"), [
    ["0", "0.300 s", "5.0 GiB", "-"],
    ["1", "0.400 s", "5.0 GiB", "0 B"],
    ["2", "0.500 s", "6.0 GiB", "+1.0 GiB"],
    ["3", "0.610 s", "6.5 GiB", "+512.0 MiB"],
    ["4", "0.690 s", "6.5 GiB", "0 B"],
  ]);
  const failed = page.locator("[data-out-of-memory]");
  const facts = await factsOf(page, failed);
  assert.deepEqual(facts, {
    "asked for": "7.0 GiB",
    at: "0.760 s",
    "left on the device": "2.0 GiB",
    "free within what was held": "7.5 GiB",
    "largest piece of it": "4.0 GiB",
    why: "enough was free, in pieces that were too small",
    during: "decode",
  });
  assert.match(await failed.locator("summary").innerText(), /^cache\.py keep/);
  // Segments; reserved, allocated, free; pieces and the largest of them.
  assert.deepEqual(await rowsOf(page, "snapshot-0-0-pools"), [
    ["large", "1", "12.0 GiB", "5.5 GiB", "6.5 GiB", "2", "4.0 GiB"],
    ["large pool 1.0 stream 7", "1", "2.0 GiB", "1.0 GiB", "1.0 GiB", "1", "1.0 GiB"],
  ]);
});

test("a snapshot that was refused says why, and an empty one that it is", async () => {
  const { page } = await shown("memory");
  assert.match(await page.locator('[data-snapshot="1"]').innerText(), /refused\.pickle\s+Not read: the opcode REDUCE runs code/);
  assert.match(await page.locator('[data-snapshot="2"]').innerText(), /empty\.pickle\s+It is empty: no device had memory or a history\./);
});

test("windows tell what they recorded, what it cost, and what went wrong", async () => {
  const { page, problems } = await shown("system");
  const rows = byName(await rowsOf(page, "windows"));
  // Opened, lasted; steps recorded and in the warm-up; mean step, mean of others; ended by.
  assert.deepEqual(rows.profile.slice(0, 6), ["0.302 s", "203 ms", "1 + 1 warm-up", "90.0 ms", "85.0 ms", "steps"]);
  assert.deepEqual(rows.decoder.slice(0, 6), ["0.720 s", "-", "0 + 0 warm-up", "-", "85.0 ms", "the process's end"]);
  const said = page.locator('table[aria-labelledby="table-windows"] tbody tr > :last-child');
  assert.deepEqual((await said.nth(0).innerText()).split("\n"), ["profiles/profile.trace.json.gz (3.0 MiB)", "no shapes, hooks move the model"]);
  assert.equal(await said.nth(1).innerText(), "failed during stop: RuntimeError: no buffer");
  // 3 ms to start, 5 ms to stop.
  assert.match(await page.locator("main").innerText(), /Starting and stopping windows held up the program for 8\.00 ms\./);
  assert.deepEqual(problems, []);
});
