// The drawn trace of `trace.rs`, in ms:
//
//   steps on the host   0–9, 10–19
//   stream 7            gemm 3–10, attention 11–15, gemm 16–23, attention 24–28: busy 22 of 25, gaps of 1, 1 and 1

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { rowsOf } from "./charts.mjs";
import { drawn, edited, launch, open } from "./page.mjs";
import { eventually } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const shown = (view) => open(browser, drawn("trace"), { hash: `#view=${view}` });

/** The id of the table with this key. */
const idOf = (page, key) =>
  page.locator(`table[aria-labelledby$="-${key}"]`).evaluate((table) => table.getAttribute("aria-labelledby").replace("table-", ""));

test("a page about a trace is called as its file, begins with its devices and has a view of all tables", async () => {
  const { page, problems } = await shown("overview");
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
  const { page } = await shown("trace");
  const row = page.locator('table[aria-labelledby$="-kernels"] tbody tr').nth(1);
  assert.doesNotMatch(await row.innerText(), /Flash_fwd_params/);
  await row.getByRole("button", { name: /show all \d+ characters/ }).click();
  await eventually(page, () => row.innerText(), /Flash_fwd_params/);
});

test("tables are sorted by figures, not by their texts, with the keyboard too", async () => {
  const { page } = await shown("trace");
  const id = await idOf(page, "kernels");
  const table = page.locator(`table[aria-labelledby="table-${id}"]`);
  const mean = table.getByRole("button", { name: "Mean" });
  await mean.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await table.locator('th[aria-sort="ascending"]', { hasText: "Mean" }).waitFor();
  assert.deepEqual((await rowsOf(page, id)).map((row) => row[5]), ["4.00 ms", "7.00 ms"]);
});

test("kernels lie below the range that launched them", async () => {
  const { page, problems } = await shown("timeline");
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

test("what is not known, and what was left out, is said", async () => {
  const path = edited(drawn("trace"), "trace-cut", (_, model) => {
    const kernels = model.traces[0].tables.find(({ key }) => key === "kernels");
    kernels.n_left_out = 1234;
    kernels.rows[0][4] = { unit: "absent" };
    model.traces.push({ file: "b.json", problem: "it is cut", devices: [], steps: [], tables: [] });
  });
  const { page, problems } = await open(browser, path, { hash: "#view=trace" });
  assert.match(await page.locator("main").innerText(), /1\u2009234 more are not in this page/);
  assert.equal((await rowsOf(page, await idOf(page, "kernels")))[0][4], "-");
  assert.match(await page.locator("[data-trace]").nth(1).innerText(), /b\.json\s+Not read: it is cut/);
  assert.deepEqual(problems, []);
});

test("the headline is about the device, and what the profiler calls a step is no step", async () => {
  const { page, problems } = await shown("overview");
  const verdict = await page.locator(".verdict").innerText();
  assert.match(verdict, /^GPU 0 was busy 88\.0 % of 25\.0 ms; /);
  const main = await page.locator("main").innerText();
  assert.doesNotMatch(main, /it\/s|First step|often loads|Nothing was lost|could not be read/);
  assert.match(main, /Where the time of the host went/);
  assert.match(main, /\d+ operators, ranges and calls of the host/);
  assert.deepEqual(problems, []);
});

/** The drawn trace with four calls of the denoiser, a busy device and long tables. */
const long = () =>
  edited(drawn("trace"), "trace-long", (report, model) => {
    const [file] = model.traces;
    file.devices = [
      { name: "GPU 2", span_ns: 227e6, busy_ratio: 0.889, idle_cause: "launch_late", idle_cause_ratio: 0.95 },
      { name: "GPU 3", span_ns: 227e6, busy_ratio: 0.95, idle_cause: null, idle_cause_ratio: null },
    ];
    file.steps = [{ what: "Denoiser calls", n_parts: 5, n_counted: 4, mean_ns: 42.8e6, is_of_device: true }];
    const kernels = file.tables.find(({ key }) => key === "kernels");
    kernels.rows = Array.from({ length: 40 }, (_, n) => [{ unit: "text", value: `kernel ${n}` }, ...kernels.rows[0].slice(1)]);
    file.tables = file.tables.filter(({ key }) => key !== "steps");
    file.tables.push({ ...kernels, key: "steps", title: "Denoiser calls" });
    for (let n = 0; n < 4; n++) {
      file.tables.push({ ...kernels, key: `more_${n}`, title: `More ${n}` });
    }
    report.quality.unavailable = [
      { what: "python_functions", why: "7 calls of Python functions are left out" },
      { what: "end", why: "the file ends too early" },
    ];
    model.left_out = [
      { list: "activity.stages.each", kept: 500, left_out: 322 },
      { list: "activity.unheard_of.each", kept: 1, left_out: 2 },
    ];
  });

test("steps of a trace are cards, and a view, with the time of the device", async () => {
  const { page } = await open(browser, long(), { hash: "#view=overview" });
  assert.match(
    await page.locator(".verdict").innerText(),
    /^GPU 2, the least busy of 2 devices, was busy 88\.9 % of 227 ms; of its idle time the host was late for 95\.0 %/,
  );
  const card = page.locator(".cards .card", { hasText: "Denoiser calls" });
  assert.match(await card.innerText(), /5, 42\.8 ms each\s+busy on the device, on average, of the 4 after the warm-up/);
  await page.getByRole("tab", { name: "Diffusion" }).click();
  await eventually(page, async () => (await rowsOf(page, "diffusion-0")).length, 40);
});

test("what the page leaves out is said in words, and apart from damage to the file", async () => {
  const { page } = await open(browser, long(), { hash: "#view=overview" });
  const quality = page.locator(".quality");
  assert.equal(await quality.locator(".note.warn").innerText(), "the file ends too early");
  const text = await quality.innerText();
  assert.match(text, /7 calls of Python functions are left out\./);
  assert.match(text, /For lack of room this page lists 500 of 822 stages, 1 of 3 entries of activity unheard of\. Figures count all\./);
  assert.doesNotMatch(text, /could not be read|\.each/);
});

test("long tables begin with their first rows, and the list of tables is never far", async () => {
  const { page, problems } = await open(browser, long(), { hash: "#view=trace" });
  const id = await idOf(page, "kernels");
  const nShown = async () => (await rowsOf(page, id)).length;
  assert.equal(await nShown(), 15);
  const table = page.locator(`.table:has([aria-labelledby="table-${id}"])`);
  assert.match(await table.innerText(), /the first 15 of 40 rows/);
  await table.getByRole("button", { name: "Show all 40" }).click();
  await eventually(page, nShown, 40);
  await table.getByRole("button", { name: "Show only the first 15" }).click();
  await eventually(page, nShown, 15);
  await page.getByRole("button", { name: "More 3" }).click();
  await page.waitForFunction(() => scrollY > 0);
  const isInSight = () => page.locator(".contents").evaluate((it) => it.getBoundingClientRect().bottom > 0 && it.getBoundingClientRect().top < innerHeight);
  await eventually(page, isInSight, true);
  await page.setViewportSize({ width: 400, height: 800 });
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await eventually(page, isInSight, false);
  await page.getByRole("button", { name: "All tables" }).last().click();
  await eventually(page, isInSight, true);
  assert.deepEqual(problems, []);
});
