import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { address, drawn, launch, open } from "./page.mjs";
import { eventually, frame, says } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const current = (page) => page.locator('[role="tab"][aria-selected="true"]').textContent();
const background = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

/** Changes what the system wants; a page is told of it before it is drawn the next time. */
async function system(page, colorScheme) {
  await page.emulateMedia({ colorScheme });
  await frame(page);
}

test("a tab shows its view, and back goes to the one before", async () => {
  const { page, problems } = await open(browser, drawn("video"));
  assert.equal(await current(page), "Overview");
  await page.getByRole("tab", { name: "Sections" }).click();
  await page.waitForSelector("#table-section_names");
  await page.getByRole("tab", { name: "Caches" }).click();
  await eventually(page, address, /view=caches/);
  await page.goBack();
  await eventually(page, current, "Sections");
  await page.goBack();
  await eventually(page, current, "Overview");
  await page.goForward();
  await eventually(page, current, "Sections");
  assert.deepEqual(problems, []);
});

test("an address leads to a view, an unknown one to the first", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=system" });
  assert.equal(await current(page), "System");
  await page.evaluate(() => {
    location.hash = "#view=nowhere";
  });
  await eventually(page, current, "Overview");
});

test("keys choose views, the theme and the search", async () => {
  const { page } = await open(browser, drawn("video"));
  await page.keyboard.press("2");
  await eventually(page, current, "Sections");
  await page.keyboard.press("?");
  await eventually(page, current, "Help");
  const before = await background(page);
  await page.keyboard.press("t");
  await eventually(page, background, (now) => now !== before);
  await page.getByRole("tab", { name: "Caches" }).click();
  const search = page.getByRole("searchbox").first();
  await search.waitFor();
  await page.keyboard.press("/");
  const isFocused = () => search.evaluate((field) => field === document.activeElement);
  await eventually(page, isFocused, true);
  // What is typed is text, not keys of the page.
  await page.keyboard.type("1t?");
  await eventually(page, () => search.inputValue(), "1t?");
  assert.equal(await current(page), "Caches");
  await page.keyboard.press("Escape");
  await eventually(page, isFocused, false);
});

test("arrows go from tab to tab and around, and take the focus along", async () => {
  const { page } = await open(browser, drawn("video"));
  const tabs = await page.getByRole("tab").allTextContents();
  await page.getByRole("tab", { name: "Overview" }).focus();
  await page.keyboard.press("ArrowRight");
  await eventually(page, current, tabs[1]);
  await says(page.locator(":focus"), tabs[1]);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await eventually(page, current, tabs.at(-1));
  assert.equal(await page.locator('[role="tab"][tabindex="0"]').count(), 1);
});

test("the first key of a keyboard leads past the tabs", async () => {
  const { page } = await open(browser, drawn("video"));
  await page.keyboard.press("Tab");
  await says(page.locator(":focus"), /^\s*Skip to the view\s*$/);
  await page.keyboard.press("Enter");
  await page.locator("#view:focus").waitFor();
});

test("the theme is the system's until one is chosen, and is kept", async () => {
  const { page } = await open(browser, drawn("video"), { colorScheme: "dark" });
  const dark = await background(page);
  await system(page, "light");
  await eventually(page, background, (now) => now !== dark);
  await page.getByRole("button", { name: "Theme" }).click();
  await eventually(page, background, dark);
  // What was chosen stays when the system changes.
  await system(page, "dark");
  await system(page, "light");
  assert.equal(await background(page), dark);
  await page.reload();
  await eventually(page, background, dark);
  assert.doesNotMatch(await address(page), /theme/);
});

test("a browser that stores nothing changes the theme all the same", async () => {
  const { page, problems } = await open(browser, drawn("video"), {
    before: () => Object.defineProperty(window, "localStorage", { get: () => { throw new Error("refused"); } }),
  });
  const before = await background(page);
  await page.keyboard.press("t");
  await eventually(page, background, (now) => now !== before);
  assert.deepEqual(problems, []);
});

test("paper has every view but the help after the other, in light, and nothing to press", async () => {
  const { page, problems } = await open(browser, drawn("video"), { colorScheme: "dark" });
  const tabs = await page.getByRole("tab").allTextContents();
  await page.emulateMedia({ media: "print" });
  await eventually(page, () => page.locator(".print-title").allTextContents(), tabs.filter((title) => title !== "Help"));
  await eventually(page, background, "rgb(255, 255, 255)");
  assert.equal(await page.locator("button:visible").count(), await page.locator("th button:visible").count());
  await page.emulateMedia({ media: "screen" });
  await page.waitForSelector('[role="tab"]');
  assert.deepEqual(problems, []);
});

test("paper is wide enough for what is printed, and the heading stands where the rest does", async () => {
  // A4 between margins of 12 mm, and a window of 800.
  for (const kind of ["video", "machine"]) {
    for (const width of [703, 800]) {
      const { page } = await open(browser, drawn(kind), { viewport: { width, height: 1000 } });
      await page.emulateMedia({ media: "print" });
      await page.waitForSelector(".print-title");
      // Of the page, and of each table, in pixels.
      const over = (page) =>
        page.evaluate(() => {
          const tables = [...document.querySelectorAll("table")].map((one) => one.getBoundingClientRect().right);
          return [document.documentElement.scrollWidth, ...tables].map((right) => right - innerWidth);
        });
      await eventually(page, over, (all) => Math.max(...all) <= 0);
      const [heading, content] = await page.evaluate(() => [".headline", ".print-title"].map((of) => document.querySelector(of).getBoundingClientRect().left));
      assert.equal(heading, content);
    }
  }
});

test("what a table is exported and searched with is in sight, however wide the table", async () => {
  for (const width of [900, 1280]) {
    const { page } = await open(browser, drawn("video"), { viewport: { width, height: 700 }, hash: "#view=sections" });
    const scroll = page.getByRole("region", { name: "Inclusive and self time" });
    assert.ok(width > 900 || (await scroll.evaluate((box) => box.scrollWidth > box.clientWidth)), "the table is wider");
    const tools = page.locator(".table:has(#table-sections) .tools");
    for (const tool of [tools.getByRole("button", { name: "CSV" }), tools.getByRole("button", { name: "JSON" })]) {
      const { x, width: own } = await tool.boundingBox();
      assert.ok(x >= 0 && x + own <= width, `${x + own} of ${width}`);
    }
    assert.equal(await page.locator(".table-scroll .tools").count(), 0);
    // The names stay while the figures are scrolled.
    const name = scroll.locator("tbody th").first();
    const before = await name.boundingBox();
    await scroll.evaluate((box) => box.scrollTo(box.scrollWidth, 0));
    await frame(page);
    assert.equal((await name.boundingBox()).x, before.x);
    assert.equal(await page.getByRole("table", { name: "Inclusive and self time" }).count(), 1);
  }
});

test("the heading says which run it is, and the first sentence how it ended", async () => {
  const { page } = await open(browser, drawn("killed"));
  assert.match(await page.locator("header").textContent(), /studio-99-\d+/);
  assert.match(await page.locator(".verdict").textContent(), /killed.*SIGKILL.*300/);
});
