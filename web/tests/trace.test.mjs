// The drawn trace of `trace.rs`, in ms:
//
//   steps on the host   0–9, 10–19
//   stream 7            gemm 3–10, attention 11–15, gemm 16–23, attention 24–28: busy 22 of 25, gaps of 1, 1 and 1

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { rowsOf } from "./charts.mjs";
import { drawn, edited, launch, open, tableOf } from "./page.mjs";
import { eventually } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const shown = (view) => open(browser, drawn("trace"), { hash: `#view=${view}` });

test("a page about a trace is called as its file, begins with its devices and has all tables", async () => {
  const { page, problems } = await shown("overview");
  assert.equal(await page.locator("h1").innerText(), "flux.json");
  assert.doesNotMatch(await page.locator("main").innerText(), /1970|it\/s|often loads|Nothing was lost/);
  const [device] = await rowsOf(page, "devices");
  // Ops, span, busy, share, idle.
  assert.deepEqual([device[0], ...["4", "25.0 ms", "22.0 ms", "88.0 %", "3.00 ms"].filter((figure) => !device.includes(figure))], ["GPU 0"]);
  const names = await rowsOf(page, "kernels");
  assert.deepEqual(names.map((row) => row[0].slice(0, 12)), ["gemm", "void flash_f"]);
  assert.deepEqual(names[0].slice(2, 4), ["2", "14.0 ms"]);
  assert.deepEqual(problems, []);
});

test("a long name is cut, and whole when that is asked for", async () => {
  const { page } = await shown("overview");
  const row = page.locator('table[aria-labelledby="table-kernels"] tbody tr').nth(1);
  assert.doesNotMatch(await row.innerText(), /Flash_fwd_params/);
  await row.getByRole("button", { name: /show all \d+ characters/ }).click();
  await eventually(page, () => row.innerText(), /Flash_fwd_params/);
});

test("tables are sorted by figures, not by their texts, with the keyboard too", async () => {
  const { page } = await shown("overview");
  const table = page.locator('table[aria-labelledby="table-kernels"]');
  const mean = table.getByRole("button", { name: "Mean" });
  await mean.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await table.locator('th[aria-sort="ascending"]', { hasText: "Mean" }).waitFor();
  assert.deepEqual((await rowsOf(page, "kernels")).map((row) => row[5]), ["4.00 ms", "7.00 ms"]);
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

test("what is not known has no figure, and what the page leaves out stands below its table", async () => {
  const path = edited(drawn("trace"), "trace-cut", (_, model) => {
    const kernels = tableOf(model, "kernels");
    kernels.notes.unshift("… and 1234 more rows: --table kernels has all.");
    kernels.rows[0][4] = { unit: "absent" };
  });
  const { page, problems } = await open(browser, path);
  assert.match(await page.locator("main").innerText(), /… and 1234 more rows: --table kernels has all\./);
  assert.equal((await rowsOf(page, "kernels"))[0][4], "-");
  assert.deepEqual(problems, []);
});

test("long tables begin with their first rows, and the list of tables is never far", async () => {
  const path = edited(drawn("trace"), "trace-long", (_, model) => {
    const kernels = tableOf(model, "kernels");
    kernels.rows = Array.from({ length: 40 }, (_, n) => [{ unit: "text", value: `kernel ${n}` }, ...kernels.rows[0].slice(1)]);
    for (let n = 0; n < 6; n++) {
      model.contents.tabs[0].blocks.push({ kind: "table", content: { ...kernels, key: `more_${n}`, title: `More ${n}` } });
    }
  });
  const { page, problems } = await open(browser, path);
  const nShown = async () => (await rowsOf(page, "kernels")).length;
  assert.equal(await nShown(), 20);
  const table = page.locator('.table:has([aria-labelledby="table-kernels"])');
  assert.match(await table.innerText(), /the first 20 of 40 rows/);
  await table.getByRole("button", { name: "Show all 40" }).click();
  await eventually(page, nShown, 40);
  await table.getByRole("button", { name: "Show only the first 20" }).click();
  await eventually(page, nShown, 20);
  await page.getByRole("button", { name: "More 3" }).click();
  await page.waitForFunction(() => scrollY > 0);
  const isInSight = () => page.locator(".contents").evaluate((it) => it.getBoundingClientRect().bottom > 0 && it.getBoundingClientRect().top < innerHeight);
  await eventually(page, isInSight, true);
  await page.setViewportSize({ width: 400, height: 800 });
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await eventually(page, isInSight, false);
  await page.getByRole("button", { name: "All tables" }).last().click();
  await eventually(page, isInSight, true);
  // Paper has all rows, and nothing to press.
  await page.emulateMedia({ media: "print" });
  await eventually(page, nShown, 40);
  assert.deepEqual(problems, []);
});
