// What every view of every kind of page promises: that it opens, that names in it stay text, and how it is drawn.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";

import { drawn, edited, launch, open } from "./page.mjs";
import { eventually, frame, says } from "./patience.mjs";
import { enrich } from "./rich.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Opens a page with its timeline decoded, so that each view is drawn when it is shown. */
async function opened(path, options = {}) {
  const { page, problems } = await open(browser, path, { hash: "#view=timeline", ...options });
  if ((await page.locator("#view.view-timeline").count()) > 0) {
    await page.waitForFunction(() => window.marey);
  }
  return { page, problems };
}

/** Goes from tab to tab; gives each view's id once it is drawn. A page without tabs is one view. */
async function* views(page) {
  const tabs = await page.getByRole("tab").all();
  if (tabs.length === 0) {
    yield "page";
  }
  for (const tab of tabs) {
    await tab.click();
    const id = (await tab.getAttribute("id")).slice("tab-".length);
    await page.waitForSelector(`.view-${id}`);
    // One for the effects of the view, one for those of what they have drawn.
    await frame(page);
    await frame(page);
    yield id;
  }
}

/** All text and titles of a page, with what is folded. */
async function textOf(page) {
  await page.locator("details").evaluateAll((folded) => {
    for (const details of folded) {
      details.open = true;
    }
  });
  await frame(page);
  return page.evaluate(() => {
    const titles = [...document.querySelectorAll("[title], [aria-label]")].map((e) => `${e.title}${e.ariaLabel ?? ""}`);
    return [document.title, document.getElementById("page").textContent, ...titles].join("");
  });
}

/** Names have become no element, and no script has run. */
async function hasNoMarkup(page, what) {
  assert.equal(await page.locator("img").count(), 0, what);
  assert.equal(await page.evaluate(() => window.injected), undefined, what);
}

test("a page opens from its file without a request, an error or a breach of its policy", async () => {
  for (const kind of ["video", "empty", "killed", "machine", "gpu", "trace", "ranks", "comparison"]) {
    const { page, problems } = await opened(drawn(kind));
    for await (const id of views(page)) {
      const text = await textOf(page);
      assert.ok(text.length > 50, `${kind}: ${id} is empty`);
      assert.doesNotMatch(text, /undefined|NaN|\[object|Infinity|null/, `${kind}: ${id}`);
    }
    assert.deepEqual(problems, [], kind);
    await page.context().close();
  }
});

test("names cannot become markup, nor control or reorder text, in any view", async () => {
  const hostile = (text) => `${text}</script><img src=x onerror="window.injected=1">\x1b[31m../&amp;\u202e`;
  const rich = edited(drawn("hostile"), "hostile-rich", (_, model) => enrich(model, hostile));
  // The views that have no name outside of a drawing.
  for (const [path, nameless] of [
    [drawn("hostile"), ["timeline", "flame", "help"]],
    [rich, ["timeline", "flame", "help"]],
    [drawn("hostile-machine"), ["timeline", "flame", "help"]],
    [drawn("hostile-gpu"), ["timeline", "flame", "help"]],
    [drawn("hostile-trace"), ["timeline", "flame", "help"]],
    [drawn("hostile-ranks"), []],
    [drawn("hostile-comparison"), []],
  ]) {
    const { page, problems } = await opened(path);
    const without = [];
    for await (const id of views(page)) {
      const what = `${path}: ${id}`;
      // Line ends are the only control codes that the page has of its own.
      assert.doesNotMatch(await textOf(page), /[\0-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/, what);
      await hasNoMarkup(page, what);
      if (!(await page.locator("main").textContent()).includes("<img src=x onerror=")) {
        without.push(id);
      }
    }
    assert.deepEqual(without, nameless, path);
    await page.emulateMedia({ media: "print" });
    await frame(page);
    await hasNoMarkup(page, `${path} on paper`);
    assert.deepEqual(problems, [], path);
    await page.context().close();
  }
});

test("a name under the pointer is text", async () => {
  // Where the drawing has a section or a session: a part of its width, and pixels from its top.
  for (const [view, part, y] of [
    ["timeline", 0.6, 91],
    ["flame&mode=heavy", 0.4, 9],
    ["flame&mode=order", 0.4, 27],
    ["flame&mode=sandwich", 0.4, 9],
  ]) {
    const { page, problems } = await opened(drawn("hostile"), { hash: `#view=${view}` });
    const canvas = page.locator("main canvas").first();
    await canvas.hover({ position: { x: (await canvas.boundingBox()).width * part, y } });
    await says(page.locator(".timeline-tip, .flame-tip:not([hidden])"), /^\w+<\/script><img src=x onerror="window\.injected=1">\\x1b\[31m/);
    await hasNoMarkup(page, view);
    assert.deepEqual(problems, [], view);
    await page.context().close();
  }
});

/** All drawings of a view, each by its digest. */
async function drawings(page) {
  const all = await page.locator("main canvas").evaluateAll((all) => all.map((canvas) => canvas.toDataURL()));
  return all.map((drawing) => createHash("sha256").update(drawing).digest("hex"));
}

test("every view is drawn in light and in dark, and only tables are wider than a narrow window", async () => {
  const wide = edited(drawn("trace"), "trace-wide", (_, { contents }) => {
    contents.screen.bars[0].rows[0].name = "## Call CompiledFxGraph fjs75i4jmhjizyb52gwp7gln7sgi42fcmh5xdwningderuqcuslv ##";
  });
  const background = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  for (const [path, nDrawn] of [[drawn("video"), 24], [drawn("machine"), 25], [drawn("gpu"), 7], [wide, 2], [drawn("ranks"), 2], [drawn("comparison"), 3]]) {
    const themes = ["light", "dark"].map((colorScheme) => opened(path, { colorScheme, viewport: { width: 400, height: 900 } }));
    const [light, dark] = await Promise.all(themes);
    const inDark = views(dark.page);
    let n = 0;
    for await (const id of views(light.page)) {
      await inDark.next();
      const both = async () => [id, await drawings(light.page), await drawings(dark.page)];
      // What nothing is drawn on is the same in both.
      const differ = ([, light, dark]) => light.length === dark.length && light.every((one, at) => one !== dark[at]);
      const [, all] = await eventually(dark.page, both, differ);
      n += all.length;
      for (const { page } of [light, dark]) {
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${path}: ${id} is ${over} too wide`);
      }
    }
    assert.equal(n, nDrawn, path);
    assert.equal(await background(light.page), "rgb(255, 255, 255)");
    assert.notEqual(await background(dark.page), "rgb(255, 255, 255)");
    for (const { page, problems } of [light, dark]) {
      assert.deepEqual(problems, [], path);
      await page.context().close();
    }
  }
});

test("a page whose model cannot be read says so", async () => {
  const path = edited(drawn("empty"), "broken", (_, model) => {
    delete model.contents;
  });
  const { page } = await open(browser, path);
  assert.match(await page.textContent("#page"), /could not be read: TypeError/);
});
