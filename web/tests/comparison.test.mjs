import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { drawn, launch, open } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("a comparison begins with its verdict, what got worse, and what differs around it", async () => {
  const { page, problems } = await open(browser, drawn("comparison"));
  assert.equal(await page.title(), "Comparison – Marey");
  assert.match(await page.locator("header").innerText(), /worse/);
  const first = await page.locator("main .note").first().innerText();
  // Seven calls of 280 ms, each 200 ms longer.
  assert.match(first, /vae_decode: slower 1\.960 s → 3\.360 s/);
  const environment = page.getByRole("table", { name: "What differs around the program" });
  assert.match(await environment.innerText(), /--tiles/);
  assert.deepEqual(problems, []);
});

test("what changed can be sorted, searched, and is apart from what stayed the same", async () => {
  const { page } = await open(browser, drawn("comparison"));
  const changed = page.getByRole("table", { name: "What changed" });
  await changed.getByRole("button", { name: "Change" }).click();
  await changed.locator('th[aria-sort="descending"]', { hasText: "Change" }).waitFor();
  assert.match(await changed.locator("tbody tr td:nth-child(5)").first().innerText(), /^[×+]/);
  const same = page.getByRole("table", { name: "What stayed the same" });
  assert.match(await same.innerText(), /text_encoding/);
});
