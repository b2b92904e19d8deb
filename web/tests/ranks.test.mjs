// The drawn job of eight ranks, in ms. A step takes 100 of every rank, the first one 500; rank 5 works 98 of them, the others 78 and wait 20; moving
// data takes 2. Rank 2 takes 160 for step 7. Ranks 4 to 7 are on the second host and begin 3 later.
//
//   rank 0     load 0 to 200, denoise 200 to 700 (step 0), then per step 78 denoise and 22 all_reduce, decode 1800 to 2000
//   rank 5     the same with 98 and 2

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { colourAt, figuresOf, rowsOf } from "./charts.mjs";
import { address, drawn, edited, launch, open, windowOf } from "./page.mjs";
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
  assert.equal(await page.title(), "Ranks – Marey");
  const header = await page.locator("header").innerText();
  for (const fact of [/render-8/, /ranks read\s+8 of 8/, /studio-a, studio-b/, /took\s+2\.103 s/, /clocks agree within\s+40\.0 µs/]) {
    assert.match(header, fact);
  }
  // 98 / 78 is 1.256. Seven ranks wait 240 of 264, one 0 of 24: 1680 of 1872.
  assert.equal(
    await page.locator(".verdict").textContent(),
    "Rank 5 on studio-b is slow: its own time is 25.6 % above the median (98.0 ms against 78.0 ms). 7 ranks wait, up to 20.4 % of their time. " +
      "Of the time in collectives 89.7 % is waiting. The job would gain about 240 ms if it came with the others.",
  );
  assert.match(await page.locator(".finding").innerText(), /rank 5 is 25\.6 % slower/);
  assert.deepEqual(problems, []);
});

test("the slow rank stands first, with its own time and what it made others wait", async () => {
  const { page } = await open(browser, drawn("ranks"));
  const rows = await rowsOf(page, "stragglers");
  assert.deepEqual(rows[0], ["rank 5", "studio-b", "slow", "+25.6 %", "", "98.0 ms", "0 ns", "240 ms"]);
  assert.deepEqual(rows[1], ["rank 0", "studio-a", "waits for others", "0.0 %", "", "78.0 ms", "20.0 ms", "0 ns"]);
  assert.equal(rows.length, 8);
  // Bars: 98 and 0, 78 and 20, of 98 at most.
  const widths = await part(page, "stragglers").locator(".stacked").evaluateAll((bars) =>
    bars.slice(0, 2).map((bar) => [...bar.children].map((piece) => Math.round((piece.getBoundingClientRect().width / bar.getBoundingClientRect().width) * 100))),
  );
  assert.deepEqual(widths, [[100, 0], [80, 20]]);
  const waiting = await rowsOf(page, "waiting");
  assert.deepEqual(waiting[5], ["rank 5", "", "24.0 ms", "0 ns", "0.0 %", "12", "12", "12", "240 ms"]);
  assert.deepEqual(waiting[0].slice(2, 5), ["24.0 ms", "240 ms", "90.9 %"]);
  assert.deepEqual((await rowsOf(page, "collectives"))[0], ["all_reduce", "world", "on the host", "8", "12", "24.0 ms", "1.680 s", "96.0 MiB", "0", "-"]);
});

test("of two slow ranks the gain is that of both", async () => {
  const path = edited(drawn("ranks"), "two-slow-ranks", (_, model) => {
    const { stragglers, waiting } = model.jobs[0].answers;
    const rank = 3;
    Object.assign(stragglers.ranks.find(({ place }) => place === rank), { verdict: "slow", own_ns: 97e6, waiting_ns: 1e6, score: 97 / 78 - 1 });
    waiting.ranks.find(({ place }) => place === rank).caused_ns = 60e6;
  });
  const { page, problems } = await open(browser, path);
  // The others waited 240 ms for rank 5, and 60 ms for rank 3.
  assert.match(await page.locator(".verdict").textContent(), /^Ranks 3 and 5 are slow, most of all rank 5 on studio-b: .* The job would gain up to 300 ms if they came with the others\.$/);
  assert.deepEqual(problems, []);
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

test("tables compare steps, sections and machines over ranks", async () => {
  const { page } = await open(browser, drawn("ranks"));
  const steps = await rowsOf(page, "steps");
  assert.deepEqual(steps[0].slice(0, 4), ["0", "warm-up", "8", "500 ms"]);
  assert.deepEqual(steps[7], ["7", "", "8", "100 ms", "100 ms", "160 ms", "60.0 ms", "60.0 %", "rank 2", "78.0 ms", "138 ms", "rank 2"]);
  // Totals of all_reduce: 24 on rank 5, 264 on others.
  const sections = await rowsOf(page, "sections");
  assert.deepEqual(sections[1].slice(0, 8), ["denoise › all_reduce", "8", "96", "24.0 ms", "264 ms", "264 ms", "240 ms", "90.9 %"]);
  const gpus = await rowsOf(page, "gpus");
  assert.deepEqual(gpus[5].slice(-7), ["29.0 GiB", "140.0 GiB", "98.0 %", "400 W", "800 J", "88 °C", "at risk"]);
  const ranks = await rowsOf(page, "ranks");
  assert.deepEqual(ranks[5], ["rank 5", "studio-b", "1", "5005", "finished", "2.000 s", "0.003 s", "±40.0 µs", "shared collectives", "capture", "rank5.marey"]);
});

test("missing, killed, damaged and running ranks are named, and the others are there", async () => {
  const { page, problems } = await open(browser, drawn("missing-ranks"));
  const notes = await page.locator(".quality .note").allInnerTexts();
  assert.equal(notes[0], "No file tells of rank 3. Nothing could be read of the file of rank 6. Figures are of 6 of 8 ranks.");
  assert.equal(notes[1], "Rank 2 did not end by itself; what it did up to then is here: killed by SIGKILL (9)");
  assert.equal(notes[2], "Rank 4 has a damaged file; what could be read is here: finished, truncated at byte 4096");
  assert.match(notes[3], /^Rank 7 had not ended when it was read/);
  assert.match(notes[4], /disagree about the number of ranks: 6, 8\./);
  assert.match(notes[5], /0\.1\.0 \(ranks 0 to 2 and 4, 5\), a version that is not known \(rank 7\)/);
  assert.match(notes.at(-1), /1 file could not be read:\s+rank6\.marey \(rank 6\): not a capture/);
  assert.match(await page.locator(".verdict").textContent(), /a slow rank cannot be told from one that waits/);
  // Rows: 0, 1, 2, then 3, of which there is no file.
  const canvas = part(page, "strips").locator("canvas");
  const said = part(page, "strips").locator("output");
  await canvas.hover({ position: { x: 300, y: 20 + 20 * 3.5 } });
  await says(said, "rank 3: no file tells of it");
  await canvas.hover({ position: { x: 300, y: 20 + 20 * 4.5 } });
  await says(said, /^rank 4 on studio-b: denoise/);
  assert.match(await part(page, "strips").locator(".heatmap-note").textContent(), /When rank 7 ran is not known: drawn from the beginning\./);
  assert.match(await map(page).locator(".heatmap-note").textContent(), /Ranks have from 5 to 12 steps\./);
  // The killed one did five steps: its sixth cell is none.
  await map(page).locator("canvas").hover(cell(2, 4));
  await says(map(page).locator(".heatmap-cell"), /^rank 2 on .*, step 4/);
  await map(page).locator("canvas").hover(cell(2, 5));
  await says(map(page).locator(".heatmap-cell"), "");
  assert.match(await page.locator("main").innerText(), /No two ranks recorded calls of the same collective/);
  assert.deepEqual(problems, []);
});

test("failed calls, lost steps and groups of one name are said", async () => {
  const path = edited(drawn("ranks"), "failed-ranks", (_, model) => {
    const job = model.jobs[0].answers;
    const [all] = job.waiting.collectives;
    // Ranks 0 to 2 are one group, the others cannot be told apart; a barrier of rank 5 failed after 30 s.
    const unmatched = { n_calls: null, transfer_ns: null, waiting_ns: null, bytes: null };
    job.waiting.collectives = [
      { ...all, group: "tp", n_ranks: 3, places: [0, 1, 2] },
      { ...all, ...unmatched, group: "tp", n_ranks: 5, places: [3, 4, 5, 6, 7], is_ambiguous: true },
      { ...all, ...unmatched, name: "barrier", n_ranks: 1, n_failed: 1, failed_ns: 30e9 },
    ];
    job.steps.out_of_step = [3, 6];
    job.rank_findings = [{ rule: "memory-near-limit", severity: "high", places: [1, 2, 5], issue: "<b>97 %</b> of memory in use" }];
  });
  const { page, problems } = await open(browser, path);
  const rows = await rowsOf(page, "collectives");
  assert.deepEqual(
    rows.map((row) => [row[0], row[1], row[4], ...row.slice(-2)]),
    [
      ["all_reduce", "tp (ranks 0 to 2)", "12", "0", "-"],
      ["all_reduce", "tp (ranks 3 to 7)", "-", "0", "-"],
      ["barrier", "world", "-", "1", "30.000 s"],
    ],
  );
  assert.match(await part(page, "communication").innerText(), /Where several groups have one name, .* nothing is matched\./);
  const notes = await page.locator(".quality .note").allInnerTexts();
  assert.equal(notes[0], "Steps of ranks 3 and 6 are lost in part: they have a median, and are not compared one by one.");
  assert.deepEqual(await rowsOf(page, "rank_findings"), [["memory-near-limit", "high", "3", "ranks 1, 2 and 5", "<b>97 %</b> of memory in use"]]);
  assert.deepEqual(problems, []);
});

test("of a section of one rank no rank is the slowest, and cores have two decimals", async () => {
  const path = edited(drawn("ranks"), "one-section", (_, model) => {
    const job = model.jobs[0].answers;
    const [first] = job.sections;
    const totals = { ...first.totals, n_ranks: 1, min_ns: 5e6, median_ns: 5e6, max_ns: 5e6, slowest: 3, spread_ns: 0, spread_ratio: 0 };
    job.sections = [{ ...first, totals }];
    const machine = { ...job.resources.ranks[0]?.machine, process_cores: { min: 0, mean: 0.0793083, max: 1.5 } };
    job.resources = { gpus: [], gpu_memory_bytes: null, gpu_utilization_ratio: null, power_watts: null, energy_joules: null, ranks: [{ place: 0, machine }] };
  });
  const { page, problems } = await open(browser, path);
  const [section] = await rowsOf(page, "sections");
  // Section, ranks, calls, then lowest, middle, highest, spread, its share, and the slowest.
  assert.deepEqual(section.slice(3, 9), ["5.00 ms", "5.00 ms", "5.00 ms", "-", "-", "-"]);
  const [used] = await rowsOf(page, "machine");
  assert.deepEqual(used.slice(0, 3), ["rank 0", "0.08", "1.50"]);
  // Without figures over all GPUs there is no heading of them.
  assert.equal(await part(page, "resources").locator("h2", { hasText: /^Resources$/ }).count(), 0);
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

test("of one rank the page says why there is nothing to compare", async () => {
  const { page, problems } = await open(browser, drawn("lone-rank"));
  assert.equal(await page.locator(".verdict").textContent(), "Only one rank was read, so there is none to compare it with.");
  const text = await page.locator("main").innerText();
  for (const why of [/No rank recorded steps or blocks\./, /There is only one rank\./, /There is only one rank, which waits for nobody\./, /No rank recorded what its machine did\./]) {
    assert.match(text, why);
  }
  assert.equal((await rowsOf(page, "ranks"))[0][0], "process 5000");
  assert.doesNotMatch(text, /NaN|undefined|null|Infinity/);
  assert.deepEqual(problems, []);
});

test("a thousand ranks are drawn, the slowest first", async () => {
  const { page, problems } = await open(browser, drawn("thousand-ranks"));
  assert.match(await page.locator(".verdict").textContent(), /^Rank 777 on studio-b is slow.*1\u2009023 ranks wait/);
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
  assert.equal((await rowsOf(page, "stragglers")).length, 16);
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
  assert.match(await page.locator(".verdict").textContent(), /^Rank 5/);
  await job.selectOption({ label: "render-4 · 4 ranks" });
  await eventually(page, address, /job=2/);
  await says(page.locator(".verdict"), /^No rank is slow/);
  assert.deepEqual(await rowsOf(page, "scaling"), [
    ["1", "1", "400 ms", "1.00 ×", "100.0 %", "100.0 %", "-", "-"],
    ["2", "1", "210 ms", "1.90 ×", "95.2 %", "190.5 %", "5.0 %", "10.0 %"],
    ["4", "1", "120 ms", "3.33 ×", "83.3 %", "333.3 %", "15.0 %", "30.0 %"],
    ["8", "1", "100 ms", "4.00 ×", "50.0 %", "400.0 %", "45.0 %", "90.0 %"],
  ]);
  assert.deepEqual((await figuresOf(page, "Speed-up by number of ranks")).map(([label]) => label), ["measured", "perfect"]);
  const { page: again } = await open(browser, drawn("several-jobs"), { hash: "#job=2" });
  assert.match(await again.locator(".verdict").textContent(), /^No rank is slow/);
  assert.deepEqual(problems, []);
});
