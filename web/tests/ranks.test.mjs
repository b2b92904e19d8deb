// The drawn job of eight ranks, in ms. A step takes 100 of every rank, the first one 500; rank 5 works 98 of them, the others 78 and wait 20; moving
// data takes 2. Rank 2 takes 160 for step 7. Ranks 4 to 7 are on the second host and begin 3 later.
//
//   rank 0     load 0 to 200, denoise 200 to 700 (step 0), then per step 78 denoise and 22 all_reduce, decode 1800 to 2000
//   rank 5     the same with 98 and 2

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { colourAt, rowsOf } from "./charts.mjs";
import { address, drawn, launch, open, windowOf } from "./page.mjs";
import { eventually, says } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const part = (page, name) => page.locator(`[data-part="${name}"]`);
const map = (page) => page.locator('[data-map="steps"]');
/** Where a cell of a map is, in a canvas with so high rows. */
const cell = (row, column, height = 22, width = 56) => ({ position: { x: 64 + width * (column + 0.5), y: 22 + height * (row + 0.5) } });
/** The colours of cells of a map. */
const coloursOf = (canvas, ...cells) => Promise.all(cells.map(({ position: { x, y } }) => colourAt(canvas, x, y)));

test("the page begins with which job it is, who is slow, who waits, and how much", async () => {
  const { page, problems } = await open(browser, drawn("ranks"));
  assert.equal(await page.title(), "render-8 · 8 ranks – Marey");
  // 98 / 78 is 1.256. Seven ranks wait 240 of 264, one 0 of 24: 1680 of 1872.
  assert.match(await page.locator(".verdict").textContent(), /^8 ranks finished in 2\.103 s · 10 % of rank time is waiting$/);
  const facts = await page.locator(".facts-block").first().innerText();
  for (const fact of [/render-8/, /8 of 8/, /studio-a \(0-3\), studio-b \(4-7\)/, /2\.103 s/, /right within 40\.0 µs/]) {
    assert.match(facts, fact);
  }
  assert.match(await page.locator(".finding").first().innerText(), /rank 5 is 25\.6 % slower/);
  assert.deepEqual(problems, []);
});

test("the page of a job begins with all of its ranks, and goes on with the lowest", async () => {
  const { page, problems } = await open(browser, drawn("job"));
  assert.equal(await page.title(), "render-8 · 8 ranks – Marey");
  const [first, second, ...others] = await page.getByRole("tab").allInnerTexts();
  assert.deepEqual([first, second], ["Ranks", "Rank 0"]);
  assert.ok(others.includes("Timeline"));
  assert.match(await page.locator(".verdict").textContent(), /^8 ranks finished in 2\.103 s/);
  assert.deepEqual((await rowsOf(page, "stragglers"))[0], ["5", "slow", "25.6 %", "98.0 ms", "0 ns"]);
  const said = part(page, "strips").locator("output");
  const canvas = part(page, "strips").locator("canvas");
  const { width } = await canvas.boundingBox();
  await canvas.hover({ position: { x: 64 + ((width - 64 - 14) * 450) / 2103, y: 30 } });
  await says(said, "rank 0 on studio-a: denoise 500 ms, from 0.200 s to 0.700 s");
  await page.getByRole("tab", { name: "Rank 0" }).click();
  assert.match(await page.locator(".verdict").textContent(), /rank 0 of 8/);
  assert.deepEqual(problems, []);
});

test("the slow rank stands first, with its own time and what it made others wait", async () => {
  const { page } = await open(browser, drawn("ranks"));
  const rows = await rowsOf(page, "stragglers");
  assert.deepEqual(rows[0], ["5", "slow", "25.6 %", "98.0 ms", "0 ns"]);
  assert.deepEqual(rows[1], ["0", "waits", "0.0 %", "78.0 ms", "20.0 ms"]);
  assert.equal(rows.length, 8);
  // Each moves data for 24 ms of 12 calls; who comes last makes the others wait 240 on average, and waits for nobody.
  const waiting = new Map((await rowsOf(page, "ranks_communication")).map((row) => [row[0], row]));
  for (const [rank, figures] of [["5", ["24.0 ms", "0 ns"]], ["0", ["24.0 ms", "240 ms"]]]) {
    assert.deepEqual(figures.filter((figure) => !waiting.get(rank).includes(figure)), []);
  }
});

test("a strip says its rank, stage and moment, to the pointer and to the keyboard", async () => {
  const { page } = await open(browser, drawn("ranks"));
  const canvas = part(page, "strips").locator("canvas");
  const said = part(page, "strips").locator("output");
  const { width } = await canvas.boundingBox();
  const at = (row, ms) => ({ position: { x: 64 + ((width - 64 - 14) * ms) / 2103, y: 20 + 20 * (row + 0.5) } });
  await canvas.hover(at(0, 450));
  await says(said, "rank 0 on studio-a: denoise 500 ms, from 0.200 s to 0.700 s");
  await canvas.hover(at(0, 790));
  await says(said, "rank 0 on studio-a: all_reduce 22.0 ms, from 0.778 s to 0.800 s");
  await canvas.hover(at(5, 790));
  await says(said, "rank 5 on studio-b: denoise 98.0 ms, from 0.703 s to 0.801 s");
  // A stage has one colour in all ranks; loading another.
  await page.mouse.move(5, 5);
  await says(said, "");
  const [denoise, another, load, waiting, working] = await coloursOf(canvas, at(0, 450), at(6, 450), at(0, 50), at(0, 790), at(5, 790));
  assert.equal(denoise, another);
  assert.notEqual(denoise, load);
  // Rank 0 waits while rank 5 works.
  assert.notEqual(waiting, working);
  assert.match(await part(page, "strips").locator(".rank-legend").textContent(), /communication and waiting \(all_reduce\)/);
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await says(said, "rank 0 on studio-a: load 200 ms, from 0.000 s to 0.200 s");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await says(said, "rank 1 on studio-a: denoise 500 ms, from 0.200 s to 0.700 s");
  await page.keyboard.press("w");
  await eventually(page, windowOf, [525_750_000, 1_577_250_000]);
  await page.keyboard.press("0");
  await eventually(page, windowOf, null);
});

test("a heat map shows times without communication, whole times, and what is above the median", async () => {
  const { page, problems } = await open(browser, drawn("ranks"));
  const canvas = map(page).locator("canvas");
  const said = map(page).locator(".heatmap-cell");
  await canvas.scrollIntoViewIfNeeded();
  await canvas.hover(cell(5, 3));
  await says(said, "rank 5 on studio-b, step 3: 98.0 ms without communication, of 100 ms · +25.6 % (+20.0 ms) against the median of ranks");
  await canvas.hover(cell(2, 7));
  await says(said, /^rank 2 on studio-a, step 7: 138 ms without communication, of 160 ms · \+76\.9 % \(\+60\.0 ms\)/);
  await canvas.hover(cell(0, 0));
  await says(said, /step 0: 478 ms without communication, of 500 ms .* · warm-up$/);
  await page.mouse.move(5, 5);
  await says(said, "");
  // The slow rank is darker than others, which are alike; the warm-up takes none of the scale.
  const [slow, beside, one, another, warmUp, next] = await coloursOf(canvas, cell(5, 3), cell(4, 3), cell(0, 3), cell(7, 9), cell(0, 0), cell(0, 1));
  assert.notEqual(slow, beside);
  assert.equal(one, another);
  assert.notEqual(warmUp, next);
  assert.match(await map(page).locator(".heatmap-legend").textContent(), /^78\.0 ms98\.0 ms longerwarm-up, 478 ms to 498 ms/);

  await map(page).getByRole("radio", { name: "whole" }).click();
  await eventually(page, address, /time=whole/);
  // As a whole all ranks take as long: who is slow cannot be seen.
  await eventually(page, () => coloursOf(canvas, cell(5, 3), cell(4, 3)), ([slow, beside]) => slow === beside);
  await map(page).getByRole("radio", { name: "above the median of ranks" }).click();
  await eventually(page, address, /heat=difference/);
  await canvas.hover(cell(2, 7));
  await says(said, /step 7: 160 ms · \+60\.0 % \(\+60\.0 ms\)/);
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await says(said, /^rank 2 on studio-a, step 8: 100 ms/);
  assert.deepEqual(problems, []);
});

test("ranks can be ordered by how slow they are", async () => {
  const { page } = await open(browser, drawn("ranks"), { hash: "#order=score" });
  const canvas = map(page).locator("canvas");
  await canvas.hover(cell(0, 3));
  await says(map(page).locator(".heatmap-cell"), /^rank 5 on/);
  await page.getByRole("radio", { name: "by number" }).click();
  await canvas.hover(cell(0, 3));
  await says(map(page).locator(".heatmap-cell"), /^rank 0 on/);
});

test("tables compare steps and sections over ranks", async () => {
  const { page } = await open(browser, drawn("ranks"));
  const [uneven] = await rowsOf(page, "steps");
  assert.deepEqual(uneven.slice(0, 10), ["7", "8", "100 ms", "100 ms", "160 ms", "60.0 ms", "60.0 %", "2", "138 ms", "2"]);
  // Totals of all_reduce: 24 on rank 5, 264 on others.
  const sections = await rowsOf(page, "sections");
  const reduce = sections.find(([path]) => path === "denoise › all_reduce");
  assert.deepEqual([reduce[1], reduce[2], ...reduce.slice(4, 9)], ["8", "96", "24.0 ms", "264 ms", "264 ms", "240 ms", "90.9 %"]);
});

test("missing, killed, damaged and running ranks are named, and the others are there", async () => {
  const { page, problems } = await open(browser, drawn("missing-ranks"));
  const facts = await page.locator(".facts-block").first().innerText();
  for (const fact of [/missing\s+3/, /cut short\s+2/, /damaged\s+4; 6: rank6\.marey could not be read/, /still running\s+7/, /files disagree: 6, 8/, /0\.1\.0 \(0-2, 4-5\), not known \(7\)/]) {
    assert.match(facts, fact);
  }
  assert.deepEqual((await rowsOf(page, "unread"))[0], ["6", "rank6.marey", "not a capture"]);
  // Rows: 0, 1, 2, then 3, of which there is no file.
  const canvas = part(page, "strips").locator("canvas");
  const said = part(page, "strips").locator("output");
  await canvas.hover({ position: { x: 300, y: 20 + 20 * 3.5 } });
  await says(said, "rank 3: no file tells of it");
  await canvas.hover({ position: { x: 300, y: 20 + 20 * 4.5 } });
  await says(said, /^rank 4 on studio-b: denoise/);
  assert.match(await part(page, "strips").locator(".heatmap-note").textContent(), /When 1 rank ran is not known: drawn from the beginning\./);
  assert.match(await map(page).locator(".heatmap-note").textContent(), /Ranks have from 5 to 12 steps\./);
  // The killed one did five steps: its sixth cell is none.
  await map(page).locator("canvas").hover(cell(2, 4));
  await says(map(page).locator(".heatmap-cell"), /^rank 2 on .*, step 4/);
  await map(page).locator("canvas").hover(cell(2, 5));
  await says(map(page).locator(".heatmap-cell"), "");
  assert.deepEqual(problems, []);
});

test("on a narrow screen the list of jobs lies beside nothing else", async () => {
  const { page, problems } = await open(browser, drawn("several-jobs"), { viewport: { width: 420, height: 900 } });
  const list = await page.locator("header select").boundingBox();
  const theme = await page.locator("header .theme").boundingBox();
  assert.ok(list.x + list.width <= theme.x || list.y >= theme.y + theme.height, JSON.stringify({ list, theme }));
  assert.ok(list.x + list.width <= 420);
  assert.deepEqual(problems, []);
});

test("of one rank there is nothing to compare", async () => {
  const { page, problems } = await open(browser, drawn("lone-rank"));
  assert.equal(await page.locator("[data-map]").count(), 0);
  assert.equal((await rowsOf(page, "ranks")).length, 1);
  assert.doesNotMatch(await page.locator("main").innerText(), /NaN|undefined|null|Infinity/);
  assert.deepEqual(problems, []);
});

test("a thousand ranks are drawn, the slowest first", async () => {
  const { page, problems } = await open(browser, drawn("thousand-ranks"));
  assert.match(await page.locator(".verdict").textContent(), /^1024 ranks finished/);
  const canvas = map(page).locator("canvas");
  await canvas.scrollIntoViewIfNeeded();
  const { width } = await canvas.boundingBox();
  const wide = (width - 64 - 8) / 512;
  await canvas.hover(cell(0, 300, 4, wide));
  await says(map(page).locator(".heatmap-cell"), /^rank 777 on studio-b, step 300: 98\.\d ms without communication/);
  await page.mouse.move(5, 5);
  await says(map(page).locator(".heatmap-cell"), "");
  const [slow, next, another] = await coloursOf(canvas, ...[0, 1, 2].map((row) => cell(row, 300, 4, wide)));
  assert.notEqual(slow, next);
  assert.equal(next, another);
  assert.equal((await rowsOf(page, "stragglers")).length, 20);
  // By the keyboard to a row that was out of sight.
  await canvas.focus();
  for (let row = 0; row <= 120; row += 1) {
    await page.keyboard.press("ArrowDown");
  }
  await eventually(page, () => map(page).locator(".heatmap-scroll").evaluate((scroller) => scroller.scrollTop), (top) => top > 80);
  assert.deepEqual(problems, []);
});

test("one of several jobs is chosen, and the choice is in the address", async () => {
  const { page, problems } = await open(browser, drawn("several-jobs"));
  const job = page.getByLabel("Job");
  // The largest one to begin with.
  assert.equal(await job.locator("option:checked").textContent(), "render-8 · 8 ranks");
  assert.match(await page.locator(".verdict").textContent(), /^8 ranks/);
  await job.selectOption({ label: "render-4 · 4 ranks" });
  await eventually(page, address, /job=2/);
  await says(page.locator(".verdict"), /4 ranks/);
  assert.deepEqual(await rowsOf(page, "scaling"), [
    ["1", "1", "400 ms", "1", "100.0 %", "100.0 %", "-", "-"],
    ["2", "1", "210 ms", "1.9", "95.2 %", "190.5 %", "10.0 %", "5.0 %"],
    ["4", "1", "120 ms", "3.33", "83.3 %", "333.3 %", "30.0 %", "15.0 %"],
    ["8", "1", "100 ms", "4", "50.0 %", "400.0 %", "90.0 %", "45.0 %"],
  ]);
  const { page: again } = await open(browser, drawn("several-jobs"), { hash: "#job=2" });
  assert.match(await again.locator(".verdict").textContent(), /4 ranks/);
  assert.deepEqual(problems, []);
});
