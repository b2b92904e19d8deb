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

test("peaks name their call path, and labelled readings have their fragmentation", async () => {
  const { page } = await memory("video");
  const peaks = await rowsOf(page, "memory_peaks");
  const torch = peaks.find(([source]) => source.includes("cuda:0"));
  // Most as torch counts it, the highest reading, when, and how much of what was held no tensor used: 1 − 13/17.
  assert.deepEqual(torch.slice(-5), ["13.5 GiB", "13.0 GiB", "8.000 s", "23.5 %", "block"]);
  assert.deepEqual((await rowsOf(page, "memory_readings")).slice(0, 2).map((row) => [row[2], row[3]]).length, 2);
  // 1 − 1/2, 1 − 5/6, 1 − 6/8, 1 − 5/17.
  await pointAt(page, "Fragmentation", 1.39 / 10.696);
  await reads(page, "Fragmentation", "16.7 %");
  const { page: machine } = await memory("machine");
  const process = (await rowsOf(machine, "memory_peaks")).find(([source]) => source === "process");
  for (const figure of ["5.9 GiB", "5.000 s", "denoise / attention"]) {
    assert.ok(process.includes(figure), `${figure} in ${process}`);
  }
  // 6 s with two processors busy; from 4 times 600 MiB to 10 times.
  const [used] = await rowsOf(machine, "section_resources");
  for (const figure of ["denoise", "12.000 s", "6.000 s", "3.0 GiB", "+3.5 GiB"]) {
    assert.ok(used.includes(figure), `${figure} in ${used}`);
  }
});

test("what the program reported of its own allocations is listed", async () => {
  const { page } = await memory("video");
  // 3 GiB less 2 for the cache, 1 without a context.
  assert.deepEqual(await rowsOf(page, "memory_events"), [
    ["(all)", "-", "2", "4.0 GiB", "1", "2.0 GiB", "+2.0 GiB"],
    ["cuda", "kv_cache", "1", "3.0 GiB", "1", "2.0 GiB", "+1.0 GiB"],
    ["cuda", "-", "1", "1.0 GiB", "0", "0 B", "+1.0 GiB"],
  ]);
});

test("the curve follows the window of the address", async () => {
  const { page } = await memory("video", "&from=1000000000&to=2000000000");
  assert.match(await page.locator(".phases-side").textContent(), /1\.00 s – 2\.00 s/);
  await pointAt(page, "cuda:0", 0.98);
  await reads(page, "cuda:0", "6.0 GiB");
});
