// speedscope's own page reads Chrome JSON.

import assert from "node:assert/strict";
import { basename } from "node:path";
import { after, before, test } from "node:test";

import { blank, drawn, launch, serve, speedscopeViewer } from "./browser.mjs";

let browser;
let site;
before(async () => {
  site = await serve(speedscopeViewer());
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await site?.end();
});

/** What it says of frames that do not nest. */
const NOT_NESTED = /Tried to end|still open/;

/** Opens a drawn run; what the page says above it, and what went wrong. */
async function opened(kind) {
  const { context, page } = await blank(browser);
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => {
    problems.push(dialog.message());
    return dialog.dismiss();
  });
  page.on("console", (message) => (message.type() === "error" || NOT_NESTED.test(message.text())) && problems.push(message.text()));
  const path = drawn("chrome", kind, "json.gz");
  await page.goto(`${site.address}/#profileURL=${site.address}/traces/${basename(path)}`);
  await page.getByText("Left Heavy").waitFor();
  return { context, page, problems };
}

test("speedscope shows all tracks that took time, one after the other", async () => {
  const { context, page, problems } = await opened("known");
  const tracks = [];
  for (let at = 1; at <= 8; at++) {
    const place = page.getByText(`(${at}/8)`).last();
    const title = await place.locator("..").innerText();
    tracks.push(title.replace(/^.*, | \(tid .*/g, ""));
    await page.keyboard.press("n");
  }
  assert.deepEqual(tracks, [
    "GPU 0 stream 7",
    "GPU 0 stream 20",
    "main",
    "decoder",
    "sessions",
    "profiler windows",
    "main: tasks 1",
    "main: tasks 2",
  ]);
  assert.deepEqual(problems, []);
  await context.close();
});

for (const kind of ["video", "hostile", "extremes", "job"]) {
  test(`speedscope opens the run ${kind}`, async () => {
    const { context, page, problems } = await opened(kind);
    await page.locator("canvas").first().waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });
}
