import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { rowsOf } from "./charts.mjs";
import { drawn, launch, open } from "./page.mjs";

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
