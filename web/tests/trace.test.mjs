// The drawn trace of `trace.rs`, in ms:
//
//   steps on the host   0–9, 10–19
//   stream 7            gemm 3–10, attention 11–15, gemm 16–23, attention 24–28: busy 22 of 25, gaps of 1, 1 and 1

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { rowsOf } from "./charts.mjs";
import { drawn, edited, launch, open } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const shown = (kind, view, options = {}) => open(browser, drawn(kind), { hash: `#view=${view}`, ...options });

/** The id of the table with this key. */
const idOf = (page, key) =>
  page.locator(`table[aria-labelledby$="-${key}"]`).evaluate((table) => table.getAttribute("aria-labelledby").replace("table-", ""));

test("a page about a trace is called as its file, begins with its devices and has a view of all tables", async () => {
  const { page, problems } = await shown("trace", "overview");
  assert.equal(await page.locator("h1").innerText(), "flux.json");
  assert.equal(await page.locator("header .pill").count(), 0);
  assert.doesNotMatch(await page.locator("header").innerText(), /1970/);
  const [device] = await rowsOf(page, "devices-0");
  // Ops, span, busy, share, idle.
  assert.deepEqual([device[0], device[2], device[3], device[4], device[5], device.at(-1)], ["GPU 0", "4", "25.0 ms", "22.0 ms", "88.0 %", "3.00 ms"]);
  await page.getByRole("tab", { name: "Trace" }).click();
  const names = await rowsOf(page, await idOf(page, "kernels"));
  assert.deepEqual(names.map((row) => row[0].slice(0, 12)), ["gemm", "void flash_f"]);
  assert.deepEqual(names[0].slice(2, 4), ["2", "14.0 ms"]);
  assert.deepEqual(problems, []);
});

test("a long name is cut, and whole when that is asked for", async () => {
  const { page } = await shown("trace", "trace");
  const row = page.locator('table[aria-labelledby$="-kernels"] tbody tr').nth(1);
  assert.doesNotMatch(await row.innerText(), /Flash_fwd_params/);
  await row.getByRole("button", { name: /show all \d+ characters/ }).click();
  assert.match(await row.innerText(), /Flash_fwd_params/);
});

test("tables are sorted by figures, not by their texts, with the keyboard too", async () => {
  const { page } = await shown("trace", "trace");
  const id = await idOf(page, "kernels");
  const table = page.locator(`table[aria-labelledby="table-${id}"]`);
  const mean = table.getByRole("button", { name: "Mean" });
  await mean.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  assert.equal(await table.locator('th[aria-sort="ascending"]').innerText().then((text) => text.trim().slice(0, 4)), "Mean");
  assert.deepEqual((await rowsOf(page, id)).map((row) => row[5]), ["4.00 ms", "7.00 ms"]);
});

test("kernels lie below the range that launched them", async () => {
  const { page, problems } = await shown("trace", "timeline");
  await page.waitForFunction(() => window.marey);
  const rows = await page.evaluate(() => {
    const { slices } = window.marey;
    const lines = window.marey.lines().filter(({ kind, row }) => kind === "row" && row.group.title.startsWith("GPU"));
    return lines.map(({ row }) => {
      const each = Array.from({ length: row.last - row.first }, (_, at) => row.first + at);
      return each.map((at) => [slices.name(at).slice(0, 18), slices.start[at] / 1e6, slices.end[at] / 1e6]);
    });
  });
  assert.deepEqual(rows, [
    [["ProfilerStep (GPU)", 3, 15], ["ProfilerStep (GPU)", 16, 28]],
    [["denoise (GPU)", 3, 15], ["denoise (GPU)", 16, 28]],
    [["gemm", 3, 10], ["void flash_fwd_ker", 11, 15], ["gemm", 16, 23], ["void flash_fwd_ker", 24, 28]],
  ]);
  assert.deepEqual(problems, []);
});

test("names of a trace stay text, in every view", async () => {
  const { page, problems } = await shown("hostile-trace", "overview");
  for (const tab of await page.getByRole("tab").all()) {
    await tab.click();
    assert.equal(await page.evaluate(() => window.injected), undefined);
    assert.equal(await page.locator("img").count(), 0);
    assert.doesNotMatch(await page.locator("body").innerText(), /[\u001b\u202e]/);
  }
  assert.deepEqual(problems, []);
});

test("what is not known, and what was left out, is said", async () => {
  const path = edited(drawn("trace"), "trace-cut", (_, model) => {
    const kernels = model.traces[0].tables.find(({ key }) => key === "kernels");
    kernels.n_left_out = 1234;
    kernels.rows[0][4] = { unit: "absent" };
    model.traces.push({ file: "b.json", problem: "it is cut", tables: [] });
  });
  const { page, problems } = await open(browser, path, { hash: "#view=trace" });
  assert.match(await page.locator("main").innerText(), /1\u2009234 more are not in this page/);
  assert.equal((await rowsOf(page, await idOf(page, "kernels")))[0][4], "-");
  assert.match(await page.locator("[data-trace]").nth(1).innerText(), /b\.json\s+Not read: it is cut/);
  assert.deepEqual(problems, []);
});

test("the views are no wider than a narrow window", async () => {
  for (const [view, width] of [["overview", 600], ["trace", 400]]) {
    const { page } = await shown("trace", view, { viewport: { width, height: 800 } });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, view);
  }
});
