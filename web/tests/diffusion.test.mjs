// The drawn run, in ms. A block is 4 steps with 5 between them, 115 of clean context and 15 around that; its frames are delivered 290
// after it, 9 for the first and 12 for each other; a viewer plays 16 in a second.
//
//   block        0      1      2      3      4      5      6
//   steps       210    222    234    246    258    270    282     step 0 of block 0: 1110, the warm-up
//   cached             70     70     70     70     70     70      step 3; step 1 of block 4: 608, the outlier
//   ends       3890   4776   5698   6656   8000   9030  10096
//   delivered  4180   5066   5988   6946   8290   9320  10386
//   deadline        4742.5   5816   6738   7696   9040  10070     the one before, or its own delivery, and 12/16 s (9/16 s)
//   stands still     323.5    172    208    594    280    316     1893.5 in all

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHASES, colourAt, figuresOf, plotOf, pointAt, rowsOf } from "./charts.mjs";
import { address, drawn, edited, launch, open, windowOf } from "./page.mjs";
import { eventually, says } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function diffusion(hash = "") {
  const opened = await open(browser, drawn("video"), { hash: `#view=diffusion${hash}` });
  await opened.page.waitForSelector(PHASES);
  return opened;
}

test("steps are told apart: warm-up, computed, cached, outlier", async () => {
  const { page, problems } = await diffusion();
  assert.deepEqual(
    (await figuresOf(page, "Duration of each step")).map(([label]) => label),
    ["computed (20)", "cached (6)", "warm-up (1)", "outlier (1)"],
  );
  const facts = await page.locator(".facts-block").first().innerText();
  // Computed steps are 246 ms in the middle: (246 − 70) × 6.
  assert.match(facts, /28 steps in 7 loops of at most 4/);
  assert.match(facts, /6 of 28, which saved 1\.056 s/);
  const [first, others] = await rowsOf(page, "step_times");
  assert.deepEqual(first.slice(0, 3), ["First step", "1", "1.110 s"]);
  assert.deepEqual(others.slice(0, 2), ["Other steps", "27"]);
  const outliers = await rowsOf(page, "outliers");
  assert.equal(outliers.length, 1);
  // Step, block, loop, took, and the median of steps 1 of other blocks.
  assert.deepEqual([outliers[0][0], outliers[0][1], outliers[0][3]], ["1", "4", "608 ms"]);
  assert.deepEqual(problems, []);
});

test("layers stand as the program reported them", async () => {
  const { page, problems } = await diffusion();
  // 25 + 15, 35 and 25 of 100 ms.
  const rows = await rowsOf(page, "layers");
  assert.deepEqual(rows.map((row) => row[0]), ["attention", "mlp", "norm"]);
  for (const figure of ["2", "40.0 ms", "20.0 ms", "40.0 %", "590 M"]) {
    assert.ok(rows[0].includes(figure), `${figure} in ${rows[0]}`);
  }
  assert.deepEqual(problems, []);
});

test("the pointer reads a step off the chart, over time and one after the other", async () => {
  const { page } = await diffusion();
  // 7.532 s of 10.696 s: the outlier.
  await pointAt(page, "Duration of each step", 7.532 / 10.696);
  const outlier = async () => (await figuresOf(page, "Duration of each step")).find(([label]) => label.startsWith("outlier")).at(-1);
  await eventually(page, outlier, "608 ms");
  await page.getByRole("radio", { name: "One after the other" }).click();
  await eventually(page, address, /by=number/);
  // Step 18 of 28: 17.5 of 28 parts.
  await pointAt(page, "Duration of each step", 17.5 / 28);
  await says(page.locator('[data-chart="Duration of each step"] thead .chart-at'), "step 18");
  await eventually(page, outlier, "608 ms");
});

test("a cell of the heat map says its block, step and duration, and leads to the timeline", async () => {
  const { page } = await diffusion();
  const canvas = page.locator(".heatmap canvas");
  await canvas.scrollIntoViewIfNeeded();
  const cell = (row, column) => ({ position: { x: 64 + 56 * (column + 0.5), y: 22 + 22 * (row + 0.5) } });
  const said = page.locator(".heatmap-cell");
  await canvas.hover(cell(4, 1));
  await says(said, /^block 4, step 1: 608 ms.*timestep 750.*3 latent frames/);
  await canvas.hover(cell(2, 3));
  await says(said, /^block 2, step 3: 70\.0 ms · answered by a cache/);
  await canvas.hover(cell(0, 0));
  await says(said, /^block 0, step 0: 1\.110 s · warm-up/);
  // The keyboard goes the same ways.
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await says(said, /^block 1, step 1: 222 ms/);
  await canvas.click(cell(4, 1));
  await eventually(page, address, /view=timeline&from=6924000000&to=7532000000/);
});

test("outliers of the heat map stand out from the others, and from each other by their size", async () => {
  // Steps of 210 to 282 ms, three outliers: 330, 608 and 3 300 ms.
  const path = edited(drawn("video"), "outliers", ({ diffusion }) => {
    const { each, outliers } = diffusion.steps;
    each[9].duration_ns = 330e6;
    each[21].duration_ns = 3.3e9;
    outliers.push(9, 21);
  });
  const { page, problems } = await open(browser, path, { hash: "#view=diffusion" });
  const canvas = page.locator(".heatmap canvas");
  await canvas.scrollIntoViewIfNeeded();
  // The warm-up, three outliers, and steps of 70, 222 and 282 ms: what is left of the scale is theirs.
  const cells = [[0, 0], [2, 1], [4, 1], [5, 1], [1, 3], [1, 1], [6, 2]];
  const colours = () => Promise.all(cells.map(([block, step]) => colourAt(canvas, 64 + 56 * (step + 0.5), 22 + 22 * (block + 0.3))));
  await eventually(page, colours, (all) => new Set(all).size === all.length);
  const legend = await page.locator(".heatmap-legend").textContent();
  assert.match(legend, /^70\.0 ms282 ms.*outliers, 330 ms to 3\.300 s.*warm-up, 1\.110 s$/);
  await canvas.hover({ position: { x: 64 + 56 * 1.5, y: 22 + 22 * 5.5 } });
  await says(page.locator(".heatmap-cell"), /^block 5, step 1: 3\.300 s · much longer than the others/);
  assert.deepEqual(problems, []);
});

test("blocks have their durations, and how steps grow", async () => {
  const { page } = await diffusion();
  const facts = await page.locator(".facts-block").first().innerText();
  assert.match(facts, /7 blocks/);
  assert.match(facts, /Time to first block\s+2\.390 s/);
  assert.match(facts, /\+12\.0 ms a step with each block \(95 %: \+12\.0 ms to \+12\.0 ms\): 222 ms to 282 ms/);
  assert.match(facts, /kv_cache_commit/);
  await pointAt(page, "Duration of each block", 4.5 / 7);
  await eventually(page, async () => (await figuresOf(page, "Duration of each block"))[0].at(-1), "1.344 s");
});

test("a viewer stands still between a missed deadline and the delivery", async () => {
  const { page } = await diffusion();
  const facts = await page.locator(".facts-block").first().innerText();
  assert.match(facts, /viewer at 16 frames\/s: 0 of 6 deadlines met/);
  assert.match(facts, /stood still for 1\.89[34] s/);
  // At 8 s 45 frames are delivered, and all of them are played: nothing to see until 8.29 s.
  await pointAt(page, "Frames delivered and played", 8 / 10.696);
  const read = async () => (await figuresOf(page, "Frames delivered and played")).map((row) => [row[0], row.at(-1)]);
  await eventually(page, read, [["delivered", "45"], ["played", "45"]]);
  // Stalls are shaded: the same column is red at 8 s and not at 7.3 s.
  const plot = await plotOf(page, "Frames delivered and played");
  const redness = (ms) =>
    page.locator('[data-chart="Frames delivered and played"] canvas').evaluate((canvas, x) => {
      const [r, , b] = canvas.getContext("2d").getImageData(x * devicePixelRatio, 12 * devicePixelRatio, 1, 1).data;
      return r - b;
    }, Math.round(64 + (plot.width * ms) / 10_696));
  assert.ok((await redness(8000)) > (await redness(7300)) + 15);
});

test("dragging zooms every chart over time, and a double click takes that back", async () => {
  const { page } = await diffusion();
  const { left, width, top, height } = await plotOf(page, "Duration of each step");
  await page.mouse.move(left + width * 0.5, top + height / 2);
  await page.mouse.down();
  await page.mouse.move(left + width * 0.75, top + height / 2, { steps: 4 });
  await page.mouse.up();
  // Half and three quarters of 10.696 s, a pixel is 12 ms.
  await eventually(page, windowOf, ([from, to]) => Math.abs(from - 5.348e9) < 2.5e7 && Math.abs(to - 8.022e9) < 2.5e7);
  await says(page.locator(".phases-side"), /5\.\d+ s – 8\.\d+ s/);
  await page.locator('[data-chart="Duration of each step"] canvas').dblclick();
  await eventually(page, windowOf, null);
});

test("an address leads to the same place", async () => {
  const { page } = await diffusion("&from=6000000000&to=8000000000&zero=0");
  assert.match(await page.locator(".phases-side").textContent(), /6\.00 s – 8\.00 s/);
  assert.equal(await page.getByRole("button", { name: "From zero" }).getAttribute("aria-pressed"), "false");
});
