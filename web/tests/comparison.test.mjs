import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { colourAt, figuresOf, pointAt, rowsOf } from "./charts.mjs";
import { address, drawn, edited, launch, open } from "./page.mjs";
import { eventually, says } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("a comparison begins with its verdict, then a picture of both sides that adds up", async () => {
  const { page, problems } = await open(browser, drawn("comparison"));
  assert.equal(await page.title(), "Comparison – Marey");
  // Seven calls in a thread of their own are 200 ms longer each; the program waits for the last alone.
  assert.match(await page.locator(".verdict").innerText(), /^slower by 0\.200 s \(\+1\.9 %\): 10\.696 → 10\.896 s/);
  const rows = await page.locator(".picture tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent.trim())));
  const seconds = (text) => Number(text.replace("−", "-").replace(/[^0-9.+-]/g, ""));
  const parts = rows.slice(0, -1);
  for (const column of [2, 3, 4]) {
    const sum = parts.reduce((sum, row) => sum + seconds(row[column]), 0);
    assert.equal(sum.toFixed(3), seconds(rows.at(-1)[column]).toFixed(3));
  }
  assert.ok(parts.some(([name]) => name.startsWith("vae_decode")));
  assert.deepEqual(problems, []);
});

test("what changed is apart from what differs around it and from what stayed the same", async () => {
  const { page, problems } = await open(browser, drawn("comparison"));
  const changed = page.getByRole("table", { name: "What changed" });
  await changed.getByRole("button", { name: "Change" }).click();
  await changed.locator('th[aria-sort="descending"]', { hasText: "Change" }).waitFor();
  assert.match(await changed.locator("tbody tr td:nth-child(5)").first().innerText(), /^[×+]/);
  const folded = page.locator("details");
  assert.equal(await folded.locator("table").first().isVisible(), false);
  await folded.filter({ hasText: "Environment" }).locator("summary").click();
  assert.match(await page.getByRole("table", { name: "Environment and configuration" }).innerText(), /--tiles/);
  await folded.filter({ hasText: "What stayed the same" }).locator("summary").click();
  const same = await rowsOf(page, "same");
  assert.ok(same.some(([of]) => of.includes("text_encoding")));
  assert.deepEqual(problems, []);
});

const MS = 1e6;
const runs = (...steps) => steps.map((all) => ({ wall_ns: all.reduce((sum, ms) => sum + ms, 0) * MS, step_ns: all.map((ms) => ms * MS) }));

/** A comparison with these runs, and call paths: name, place of the one around it, seconds before and after. */
function compared(name, sides, paths) {
  return edited(drawn("comparison"), name, (_, { comparison }) => {
    comparison.sides = sides;
    comparison.paths = paths.map(([name, parent, before, after]) => ({ name, parent, held_ns: [before * 1e9, after * 1e9] }));
  });
}

test("steps of both sides are one picture, of repeats the median of each step", async () => {
  // step         1    2    3
  // before     100  200  300      after     150  250  350
  //            120  220  320                150  250
  //            140  240  340                150  250  350
  const path = compared("steps", [runs([100, 200, 300], [140, 240, 340], [120, 220, 320]), runs([150, 250, 350], [150, 250], [150, 250, 350])], []);
  const { page, problems } = await open(browser, path);
  const title = "Time per step";
  // Sums of 1 980 and 1 950 ms, of 9 and of 8 steps.
  await eventually(page, () => figuresOf(page, title), [
    ["before (3 runs)", "100 ms", "220 ms", "340 ms", ""],
    ["after (3 runs)", "150 ms", "238 ms", "350 ms", ""],
  ]);
  await pointAt(page, title, 0.5);
  await eventually(page, async () => (await figuresOf(page, title)).map((row) => row.at(-1)), ["220 ms", "250 ms"]);
  // Of 8 steps after it 3 took 150 ms, 6 no more than 250 ms; of 9 before it 6 took no more than 250 ms. The axis is from 92.5 to 357.5 ms.
  const steps = "Distribution of steps: share that took no longer";
  await pointAt(page, steps, (260 - 92.5) / 265);
  await eventually(page, async () => (await figuresOf(page, steps)).map((row) => row.at(-1)), ["66.7 %", "75.0 %"]);
  // Runs of 600, 660 and 720 ms against 400, 750 and 750 ms: the axis is from 389.5 to 760.5 ms.
  const walls = "Distribution of runs: share that took no longer";
  await pointAt(page, walls, (670 - 389.5) / 371);
  await eventually(page, async () => (await figuresOf(page, walls)).map((row) => row.at(-1)), ["66.7 %", "33.3 %"]);
  assert.deepEqual(problems, []);
});

test("steps of no known duration have no picture, and the others are there", async () => {
  const unknown = { wall_ns: MS, step_ns: [null, null] };
  const path = compared("unknown-steps", [[unknown], runs([100, 200])], [["denoise", null, 4, 6]]);
  const { page, problems } = await open(browser, path);
  await page.locator('[data-flame="Call paths by their change"] canvas').waitFor();
  assert.equal(await page.locator("[data-chart]").count(), 0);
  assert.deepEqual(problems, []);
});

test("what the pictures have no room for is said below them", async () => {
  const path = edited(drawn("comparison"), "not-drawn", (_, { comparison }) => {
    assert.deepEqual(comparison.not_drawn, []);
    comparison.not_drawn = ["Not drawn: 12 of 20012 steps of the baseline.", "Not drawn: 1 of 4097 call paths."];
  });
  const { page, problems } = await open(browser, path);
  await page.getByText("Not drawn: 12 of 20012 steps of the baseline. Not drawn: 1 of 4097 call paths.").waitFor();
  assert.deepEqual(problems, []);
});

test("the flame graph of changes is as wide as the time after, and its colours say what changed", async () => {
  // after   |---- denoise 6 ----|- decode 3 -|encode 1|      before   4, 3, 2; save 1, which is gone
  //         |- attention 5 -|                                         3
  const path = compared("paths", [runs([1]), runs([1])], [["denoise", null, 4, 6], ["attention", 0, 3, 5], ["decode", null, 3, 3], ["encode", null, 2, 1], ["save", null, 1, 0]]);
  const { page, problems } = await open(browser, path);
  const flame = page.locator('[data-flame="Call paths by their change"] canvas');
  await flame.waitFor();
  const { width } = await flame.boundingBox();
  const tip = page.locator(".flame-tip:not([hidden])");
  for (const [part, row, said] of [
    [0.3, 0, /^denoisebefore4\.000 safter6\.000 schange\+2\.000 s \(\+50\.0 %\)/],
    [0.45, 1, /^attentionbefore3\.000 safter5\.000 schange\+2\.000 s \(\+66\.7 %\)/],
    [0.7, 0, /^decode.*change0 ns \(0\.0 %\)/],
    [0.95, 0, /^encodebefore2\.000 safter1\.000 schange−1\.000 s \(-50\.0 %\)/],
  ]) {
    await flame.hover({ position: { x: width * part, y: 18 * row + 9 } });
    await says(tip, said);
  }
  await page.mouse.move(0, 0);
  const [red, , blue] = [0, 1, 2];
  const at = async (part) => (await colourAt(flame, width * part, 4)).split(",").map(Number);
  await eventually(page, () => at(0.4), (colour) => colour[red] > colour[blue] + 40);
  assert.ok((await at(0.98))[blue] > (await at(0.98))[red] + 40);
  const same = await at(0.8);
  assert.ok(Math.max(...same) - Math.min(...same) < 40, `${same} is grey`);
  await page.getByText("longer than before").waitFor();
  await says(page.locator("p", { hasText: "Gone:" }), /^Gone: save \(1\.000 s\)$/);
  await flame.click({ position: { x: width * 0.3, y: 9 } });
  const link = await eventually(page, address, /section=denoise/);
  // It fills the width now: attention is 5 of its 6 s.
  await flame.hover({ position: { x: width * 0.8, y: 27 } });
  await says(tip, /^attention/);
  const { page: again } = await open(browser, path, { hash: new URL(link).hash });
  await again.locator('[data-flame="Call paths by their change"] canvas').hover({ position: { x: width * 0.8, y: 27 } });
  await says(again.locator(".flame-tip:not([hidden])"), /^attention/);
  // A second press goes back out.
  await flame.click({ position: { x: width * 0.3, y: 9 } });
  await eventually(page, address, (now) => !/section=|focus=/.test(now));
  await flame.hover({ position: { x: width * 0.7, y: 9 } });
  await says(tip, /^decode/);
  assert.deepEqual(problems, []);
});

test("a part that changed is selected in the tables and in the picture", async () => {
  const { page } = await open(browser, drawn("comparison"), { hash: "#section=vae_decode" });
  await eventually(page, () => page.locator("#at-time tr.is-chosen th").allTextContents(), ["vae_decode"]);
  await page.getByRole("complementary", { name: "Selection" }).getByRole("button", { name: "Clear" }).click();
  await page.locator("tr.is-chosen").first().waitFor({ state: "detached" });
});
