import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { address, drawn, launch, open } from "./page.mjs";

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
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

test("a tab shows its view, and back goes to the one before", async () => {
  const { page, problems } = await open(browser, drawn("video"));
  assert.equal(await current(page), "Overview");
  await page.getByRole("tab", { name: "Phases" }).click();
  assert.equal(await page.locator("h2").first().textContent(), "Preparation and work");
  await page.getByRole("tab", { name: "Caches" }).click();
  assert.match(await address(page), /view=caches/);
  await page.goBack();
  assert.equal(await current(page), "Phases");
  await page.goBack();
  assert.equal(await current(page), "Overview");
  await page.goForward();
  assert.equal(await current(page), "Phases");
  assert.deepEqual(problems, []);
});

test("an address leads to a view, an unknown one to the first", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=system" });
  assert.equal(await current(page), "System");
  await page.evaluate(() => {
    location.hash = "#view=nowhere";
  });
  await page.waitForFunction(() => document.querySelector('[aria-selected="true"]').textContent === "Overview");
});

test("keys choose views, the theme and the search", async () => {
  const { page } = await open(browser, drawn("video"));
  await page.keyboard.press("2");
  assert.equal(await current(page), "Phases");
  await page.keyboard.press("?");
  assert.equal(await current(page), "Help");
  const before = await background(page);
  await page.keyboard.press("t");
  assert.notEqual(await background(page), before);
  await page.getByRole("tab", { name: "Caches" }).click();
  await page.keyboard.press("/");
  const search = page.getByRole("searchbox");
  assert.ok(await search.evaluate((field) => field === document.activeElement));
  // What is typed is text, not keys of the page.
  await page.keyboard.type("1t?");
  assert.equal(await current(page), "Caches");
  assert.equal(await search.inputValue(), "1t?");
  await page.keyboard.press("Escape");
  assert.ok(await search.evaluate((field) => field !== document.activeElement));
});

test("arrows go from tab to tab and around, and take the focus along", async () => {
  const { page } = await open(browser, drawn("video"));
  const tabs = await page.getByRole("tab").allTextContents();
  await page.getByRole("tab", { name: "Overview" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), tabs[1]);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), tabs[1]);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await current(page), tabs.at(-1));
  assert.equal(await page.locator('[role="tab"][tabindex="0"]').count(), 1);
});

test("the first key of a keyboard leads past the tabs", async () => {
  const { page } = await open(browser, drawn("video"));
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), "Skip to the view");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "view");
});

test("the theme is the system's until one is chosen, and is kept", async () => {
  const { page } = await open(browser, drawn("video"), { colorScheme: "dark" });
  const dark = await background(page);
  await system(page, "light");
  const light = await background(page);
  assert.notEqual(light, dark);
  await page.getByRole("button", { name: "Theme" }).click();
  assert.equal(await background(page), dark);
  // What was chosen stays when the system changes.
  await system(page, "dark");
  await system(page, "light");
  assert.equal(await background(page), dark);
  await page.reload();
  assert.equal(await background(page), dark);
  assert.doesNotMatch(await address(page), /theme/);
});

test("a browser that stores nothing changes the theme all the same", async () => {
  const { page, problems } = await open(browser, drawn("video"), {
    before: () => Object.defineProperty(window, "localStorage", { get: () => { throw new Error("refused"); } }),
  });
  const before = await background(page);
  await page.keyboard.press("t");
  assert.notEqual(await background(page), before);
  assert.deepEqual(problems, []);
});

test("paper has every view but the help after the other, in light, and nothing to press", async () => {
  const { page, problems } = await open(browser, drawn("video"), { colorScheme: "dark" });
  const tabs = await page.getByRole("tab").allTextContents();
  await page.emulateMedia({ media: "print" });
  await page.waitForSelector(".print-title");
  assert.deepEqual(await page.locator(".print-title").allTextContents(), tabs.filter((title) => title !== "Help"));
  assert.equal(await background(page), "rgb(255, 255, 255)");
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
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${kind} at ${width}: ${over}`);
      const cut = await page.locator("table").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right - innerWidth));
      assert.ok(Math.max(...cut) <= 0, `${kind} at ${width}: ${cut}`);
      const [heading, content] = await page.evaluate(() => [".headline", ".print-title"].map((of) => document.querySelector(of).getBoundingClientRect().left));
      assert.equal(heading, content);
    }
  }
});

test("what a table is exported and searched with is in sight, however wide the table", async () => {
  for (const width of [900, 1280]) {
    const { page } = await open(browser, drawn("video"), { viewport: { width, height: 700 }, hash: "#view=phases" });
    const scroll = page.getByRole("region", { name: "Every call path" });
    assert.ok(width > 900 || (await scroll.evaluate((box) => box.scrollWidth > box.clientWidth)), "the table is wider");
    const tools = page.locator(".table:has(#table-phases) .tools");
    for (const tool of [tools.getByRole("button", { name: "CSV" }), tools.getByRole("button", { name: "JSON" })]) {
      const { x, width: own } = await tool.boundingBox();
      assert.ok(x >= 0 && x + own <= width, `${x + own} of ${width}`);
    }
    assert.equal(await page.locator(".table-scroll .tools").count(), 0);
    // The names stay while the figures are scrolled.
    const name = scroll.locator("tbody th").first();
    const before = await name.boundingBox();
    await scroll.evaluate((box) => box.scrollTo(box.scrollWidth, 0));
    assert.equal((await name.boundingBox()).x, before.x);
    assert.equal(await page.getByRole("table", { name: "Every call path" }).count(), 1);
  }
});

test("a narrow window needs no scrolling to the side", async () => {
  const { page } = await open(browser, drawn("video"), { viewport: { width: 900, height: 700 } });
  for (const tab of await page.getByRole("tab").all()) {
    await tab.click();
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${await tab.textContent()}: ${over}`);
  }
});

test("the heading says which run it is and how it ended", async () => {
  const { page } = await open(browser, drawn("killed"));
  const heading = await page.locator("header").textContent();
  assert.match(heading, /studio-99-\d+/);
  assert.match(heading, /killed by SIGKILL \(9\)/);
  assert.match(heading, /2026-11-18 11:06:40 UTC/);
  assert.match(heading, /300 ms/);
});
