import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { drawn, launch, open } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("a page opens from its file without a request, an error or a breach of its policy", async () => {
  const { page, problems } = await open(browser, drawn("video"));
  await page.waitForSelector("h1");
  assert.deepEqual(problems, []);
});

test("names cannot become markup in any view", async () => {
  const { page, problems } = await open(browser, drawn("hostile"));
  await page.waitForSelector("h1");
  assert.equal(await page.evaluate(() => window.injected), undefined);
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(problems, []);
});
