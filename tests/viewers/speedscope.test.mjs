// speedscope's own page reads what was written.

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

/** Opens a drawn run; what the page says above it, and what went wrong. */
async function opened(kind) {
  const { context, page } = await blank(browser);
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => {
    problems.push(dialog.message());
    return dialog.dismiss();
  });
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  const path = drawn("speedscope", kind, "speedscope.json");
  await page.goto(`${site.address}/#profileURL=${site.address}/traces/${basename(path)}`);
  await page.getByText("Left Heavy").waitFor();
  return { context, page, problems };
}

test("speedscope shows the main thread first, of all tracks that took time", async () => {
  const { context, page, problems } = await opened("known");
  await page.getByText("main (3/8)", { exact: false }).first().waitFor();
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
