// In the drawn video, torch's memory is highest at 8 s: 13 GiB of 17 reserved, as a block ends. On the drawn machine the process grows
// to 5.9 GiB (10 readings of 600 MiB) at 5 s, under `attention`, while another thread writes the cache.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHASES, figuresOf, pointAt, rowsOf } from "./charts.mjs";
import { drawn, launch, open } from "./page.mjs";
import { eventually } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function memory(kind, hash = "") {
  const opened = await open(browser, drawn(kind), { hash: `#view=memory${hash}` });
  await opened.page.waitForSelector(PHASES);
  return opened;
}

/** Once the first line of a chart has this value where the pointer is. */
const reads = (page, title, value) => eventually(page, async () => (await figuresOf(page, title))[0].at(-1), value);

test("what torch allocated and reserved stands beside what the device has in use", async () => {
  const { page, problems } = await memory("video");
  await pointAt(page, "cuda:0", 6 / 10.696);
  const figures = async () => Object.fromEntries((await figuresOf(page, "cuda:0")).map((row) => [row[0], row.at(-1)]));
  const read = await eventually(page, figures, ({ allocated }) => allocated === "12.0 GiB");
  assert.equal(read.reserved, "16.0 GiB");
  assert.equal(read["there is"], "24.0 GiB");
  assert.match(read.device, /^1\d\.\d GiB$/);
  assert.deepEqual(problems, []);
});

test("the peak names its call path, what else was open, and the labelled readings around it", async () => {
  const { page } = await memory("video");
  const card = page.locator('[data-peak="cuda:0"]');
  assert.match(await card.textContent(), /peak13\.5 GiBhighest reading13\.0 GiBat8\.000 sfragmented23\.5 %/);
  const pairs = await card.locator(".pairs").evaluate((list) => [...list.children].map((child) => child.textContent));
  assert.deepEqual(pairs.slice(0, 2), ["During", "block"]);
  assert.deepEqual(pairs.slice(-4), ["Labelled before", "after_text_encoding 6.0 GiB at 1.950 s", "Labelled after", "after_decode 5.0 GiB at 10.396 s"]);
  const { page: machine } = await memory("machine");
  const process = machine.locator('[data-peak="process"]');
  assert.deepEqual(await process.locator(".pairs").evaluate((list) => [...list.children].map((child) => child.textContent)), [
    "During",
    "denoise › attention",
    "Open in saver",
    "write_cache",
  ]);
  assert.match(await process.textContent(), /5\.9 GiB.*5\.000 s/);
});

test("labelled readings have their fragmentation, and outer sections what they used", async () => {
  const { page } = await memory("video");
  const readings = await rowsOf(page, "memory-readings");
  // 1 − 1/2, 1 − 5/6, 1 − 6/8, 1 − 5/17.
  assert.deepEqual(readings.map((row) => row.at(-1)), ["50.0 %", "16.7 %", "25.0 %", "70.6 %"]);
  await pointAt(page, "Fragmentation", 1.39 / 10.696);
  await reads(page, "Fragmentation", "16.7 %");
  const { page: machine } = await memory("machine");
  // 6 s with two processors busy; from 4 times 600 MiB to 10 times.
  assert.deepEqual(await rowsOf(machine, "section-resources"), [
    ["denoise", "1", "12.000 s", "6.000 s", "3.0 GiB", "0 B", "+3.5 GiB", "+3.5 GiB"],
  ]);
});

test("what the program reported of its own allocations is summed and listed", async () => {
  const { page } = await memory("video");
  // 3 GiB less 2 for the cache, 1 without a context: most was 4 GiB, at 3 s.
  assert.deepEqual(await rowsOf(page, "memory-uses"), [
    ["cuda", "kv_cache", "1", "3.0 GiB", "1", "2.0 GiB", "+1.0 GiB"],
    ["cuda", "-", "1", "1.0 GiB", "0", "0 B", "+1.0 GiB"],
  ]);
  assert.match(await page.locator(".part", { hasText: "Memory events" }).textContent(), /Allocations: 2\. Releases: 1\. Peak held: 4\.0 GiB at 3\.000 s/);
  assert.deepEqual((await rowsOf(page, "memory-events")).map((row) => row.slice(1)), [
    ["allocation", "3.0 GiB", "cuda", "kv_cache"],
    ["allocation", "1.0 GiB", "cuda", "-"],
    ["release", "2.0 GiB", "cuda", "kv_cache"],
  ]);
});

test("the curve follows the window of the address", async () => {
  const { page } = await memory("video", "&from=1000000000&to=2000000000");
  assert.match(await page.locator(".phases-side").textContent(), /1\.00 s – 2\.00 s/);
  await pointAt(page, "cuda:0", 0.98);
  await reads(page, "cuda:0", "6.0 GiB");
});
