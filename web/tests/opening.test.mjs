import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { drawn, edited, launch, open } from "./page.mjs";
import { enrich } from "./rich.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Goes from tab to tab; gives each view's id and all text and titles that the page has then. */
async function* views(page) {
  for (const tab of await page.getByRole("tab").all()) {
    await tab.click();
    const id = (await tab.getAttribute("id")).slice("tab-".length);
    await page.locator("details").evaluateAll((folded) => {
      for (const details of folded) {
        details.open = true;
      }
    });
    const text = await page.evaluate(() => {
      const titles = [...document.querySelectorAll("[title], [aria-label]")].map((e) => `${e.title}${e.ariaLabel ?? ""}`);
      return [document.title, document.getElementById("page").textContent, ...titles].join("");
    });
    yield { id, text };
  }
}

test("a page opens from its file without a request, an error or a breach of its policy", async () => {
  for (const kind of ["video", "empty", "killed"]) {
    const { page, problems } = await open(browser, drawn(kind));
    for await (const { id, text } of views(page)) {
      assert.ok(text.length > 50, `${kind}: ${id} is empty`);
      assert.doesNotMatch(text, /undefined|NaN|\[object|Infinity|null/, `${kind}: ${id}`);
    }
    assert.deepEqual(problems, [], kind);
  }
});

test("names cannot become markup, nor control or reorder text, in any view", async () => {
  const hostile = (text) => `${text}</script><img src=x onerror="window.injected=1">\x1b[31m../&amp;\u202e`;
  const paths = [drawn("hostile"), edited(drawn("hostile"), "hostile-rich", (report) => enrich(report, hostile))];
  for (const path of paths) {
    const { page, problems } = await open(browser, path);
    for await (const { id, text } of views(page)) {
      // Line ends are the only control codes that the page has of its own.
      assert.doesNotMatch(text, /[\0-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/, id);
      assert.equal(await page.locator("img").count(), 0, id);
    }
    await page.emulateMedia({ media: "print" });
    await page.waitForSelector(".print-title");
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.evaluate(() => window.injected), undefined);
    assert.deepEqual(problems, []);
  }
});

test("a page whose model cannot be read says so", async () => {
  const path = edited(drawn("empty"), "broken", (report) => {
    delete report.run;
  });
  const { page } = await open(browser, path);
  assert.match(await page.textContent("#page"), /could not be read: TypeError/);
});
