// The drawn video: load_models from 20 ms to 1.400 s, in it load_transformer (960 ms) and load_vae (380 ms); 28 calls of attention.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { address, drawn, edited, launch, open, tableOf } from "./page.mjs";
import { eventually, frame, says } from "./patience.mjs";
import { enrich } from "./rich.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const shown = (hash, kind = "video") => open(browser, typeof kind === "string" ? drawn(kind) : kind.path, { hash });
const bar = (page) => page.getByRole("complementary", { name: "Selection" });
/** Names of the rows that are marked in the tables of a view. */
const chosen = (page) => page.locator("tr.is-chosen th").allTextContents();
/** Whether a frame of the flame graph, at a part of its width and in a row, has a line under it. */
const isMarked = (page, part, row) =>
  page.locator(".flame canvas").first().evaluate(
    (canvas, [part, row]) => {
      const sharpness = canvas.width / canvas.clientWidth;
      const at = (y) => [...canvas.getContext("2d").getImageData(canvas.width * part, (row * 18 + y) * sharpness, 1, 1).data].slice(0, 3).join();
      return at(16) !== at(3);
    },
    [part, row],
  );

test("a row of a table selects its section in every view, and the address leads there", async () => {
  const { page, problems } = await shown("#view=sections");
  await page.locator("#at-section_names tr", { hasText: "attention" }).click();
  // By name, and by call path.
  await eventually(page, () => chosen(page), ["attention", "attention"]);
  await says(bar(page), /^\s*attention\s*Sections\s*Timeline\s*Flame graph\s*Clear$/);
  await eventually(page, address, /[#&]section=attention(&|$)/);
  await bar(page).getByRole("button", { name: "Flame graph" }).click();
  // attention is the first 2.293 s of the fourth row, of 11.836 s: block is not marked.
  await eventually(page, () => isMarked(page, 0.1, 3), true);
  assert.equal(await isMarked(page, 0.1, 0), false);
  await bar(page).getByRole("button", { name: "Timeline" }).click();
  await says(page.locator(".timeline-found"), "28 calls");
  await page.getByRole("button", { name: "Next hit" }).click();
  await eventually(page, () => page.locator(".timeline-detail").innerText(), /attention section\s+start\s+2\.007000000 s/);
  const { page: again } = await shown("#view=sections&section=attention");
  await eventually(again, () => chosen(again), ["attention", "attention"]);
  assert.deepEqual(problems, []);
});

test("a slice of the timeline and a frame of the flame graph select the same", async () => {
  const { page } = await shown("#view=timeline");
  await page.waitForFunction(() => window.marey);
  await frame(page);
  const box = await page.locator("canvas").boundingBox();
  const end = await page.evaluate(() => window.marey.slices.end_ns);
  // Below the labels' 196 px: title, session, title, events, then the outermost sections.
  await page.mouse.click(box.x + 196 + (700e6 / end) * (box.width - 206), box.y + 60 + 22 + 18 + 4 + 22 + 16 + 9);
  await says(bar(page), /^\s*load_models/);
  await eventually(page, address, /row=\d+/);
  await bar(page).getByRole("button", { name: "Sections" }).click();
  await eventually(page, () => chosen(page), ["load_models", "load_models"]);
  await page.getByRole("tab", { name: "Flame graph" }).click();
  const flame = page.locator(".flame canvas");
  await flame.waitFor();
  await frame(page);
  const { width } = await flame.boundingBox();
  // vae_decode lies from 8.096 s to 10.056 s of 11.836 s.
  await flame.click({ position: { x: width * 0.75, y: 9 } });
  await says(bar(page), /^\s*vae_decode/);
  await eventually(page, address, (now) => !now.includes("row="));
});

test("a finding selects its section, and its time as a range", async () => {
  const path = edited(drawn("video"), "finding", (_, model) => {
    enrich(model);
    const [first] = model.contents.tabs[0].blocks[0].content.found;
    first.node = model.timeline.paths.names.indexOf("block");
  });
  const { page } = await shown("#view=overview", { path });
  const card = page.locator(".finding").first();
  await card.getByRole("button", { name: "Select block" }).click();
  await says(bar(page), /^\s*block/);
  await eventually(page, () => card.getAttribute("class"), /is-chosen/);
  await card.getByRole("link").click();
  await eventually(page, address, /section=block/);
  await eventually(page, address, /range=2000000000-2900000000/);
  await page.getByText("Range: 2.0000 s to 2.9000 s, 900 ms").waitFor();
});

test("a range limits the flame graph, says so, and is taken back there", async () => {
  // ms               500      1000     1380 1400  1500   1750
  // load_models      |--------------------------|                  900
  // load_transformer |--------|                                    500
  // load_vae                  |--------|                           380
  // text_encoding                                 |------|         250
  const { page, problems } = await shown("#view=flame&range=500000000-1750000000");
  await page.getByText("Only what ran in 500 ms – 1.75 s.").waitFor();
  await says(page.locator(".crumbs"), /all sections 1\.150 s$/);
  const tip = page.locator(".flame-tip:not([hidden])");
  const flame = page.locator(".flame canvas");
  const { width } = await flame.boundingBox();
  await flame.hover({ position: { x: width * (400 / 1150), y: 9 } });
  await says(tip, /^load_models.*calls1.*900 ms · 78\.3 % of all sections.*self20\.0 ms/);
  await flame.hover({ position: { x: width * (600 / 1150), y: 27 } });
  await says(tip, /^load_vae.*380 ms/);
  await page.locator(".note").getByRole("button", { name: "Whole run" }).click();
  await says(page.locator(".crumbs"), /all sections 11\.836 s$/);
  assert.deepEqual(problems, []);
});

test("Escape takes the selection back, and so does a press of what is selected", async () => {
  const { page } = await shown("#view=sections&section=attention&row=3&range=0-1000");
  await bar(page).waitFor();
  await page.keyboard.press("Escape");
  await bar(page).waitFor({ state: "detached" });
  await eventually(page, address, (now) => !/section=|row=|range=/.test(now));
  const swatch = page.locator("#at-section_names").getByRole("button", { name: "Select vae_decode" });
  await swatch.click();
  await eventually(page, () => swatch.getAttribute("aria-pressed"), "true");
  await swatch.click();
  await bar(page).waitFor({ state: "detached" });
});

test("what the page does not have cannot be selected by its address", async () => {
  const { page, problems } = await shown("#view=sections&section=your%20password");
  await page.waitForSelector("#table-section_names");
  assert.equal(await bar(page).count(), 0);
  assert.deepEqual(problems, []);
});

test("a selected row is shown, however far down its table it stands", async () => {
  const { page } = await shown("#view=sections&section=chain", "deep");
  const row = page.locator("#at-section_names tr.is-chosen");
  await bar(page).getByRole("button", { name: "Sections" }).click();
  await row.waitFor();
  const isSeen = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  };
  await eventually(page, () => row.evaluate(isSeen), true);
});

/** The drawn video with so many rows in its table of names, `name` at a place. */
function many(file, n, at, name) {
  return edited(drawn("video"), file, (_, model) => {
    const table = tableOf(model, "section_names");
    const [, ...figures] = table.rows[0];
    table.rows = Array.from({ length: n }, (_, row) => [{ ...table.rows[0][0], value: row === at ? name : `row ${row}` }, ...figures]);
  });
}

test("rows up to the selected one are shown and counted, and of all rows the page that has it", async () => {
  const path = many("many", 1200, 44, "attention");
  const { page } = await shown("#view=sections&section=attention", { path });
  const table = page.locator(".table:has(#table-section_names)");
  await says(table.locator(".pages"), /the first 45 of 1.200 rows/);
  const { page: far } = await shown("#view=sections&section=attention&rows.section_names=all", { path: many("far", 1200, 744, "attention") });
  const paged = far.locator(".table:has(#table-section_names)");
  await eventually(far, () => paged.locator("tr.is-chosen th").allTextContents(), ["attention"]);
  await says(paged.locator(".pages").last(), /rows 501 to 1.000 of 1.200/);
  await paged.getByRole("button", { name: "Previous" }).click();
  await says(paged.locator(".pages").last(), /rows 1 to 500 of 1.200/);
});

test("a call path is selected by its name, however it is marked", async () => {
  const marked = ["~attention", "attention (2 failed)", "attention *", "~attention (iteration) (1 failed) *"];
  const path = edited(drawn("video"), "marked", (_, model) => {
    const { rows } = tableOf(model, "sections");
    marked.forEach((name, at) => (rows[at][0] = { unit: "nested", value: [0, name] }));
    rows.length = marked.length;
  });
  const { page } = await shown("#view=sections", { path });
  const rows = page.locator(".table:has(#table-sections) tbody tr");
  for (const [at, name] of marked.entries()) {
    await rows.nth(at).click();
    await eventually(page, () => page.locator(".table:has(#table-sections) tr.is-chosen th").allTextContents(), marked);
    await says(rows.nth(at).locator("th"), name);
    await page.keyboard.press("Escape");
    await bar(page).waitFor({ state: "detached" });
  }
});

test("a section has the same colour in the first screen, tables, the timeline and the flame graph", async () => {
  const swatchOf = (page, name) => page.locator("button.pick", { has: page.locator("i") }).and(page.getByRole("button", { name: `Select ${name}` })).first().locator("i").evaluate((element) => getComputedStyle(element).backgroundColor);
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await open(browser, drawn("video"), { hash: "#view=overview", colorScheme });
    const first = await swatchOf(page, "load_models");
    await page.getByRole("tab", { name: "Sections" }).click();
    await page.waitForSelector("#table-section_names");
    assert.equal(await swatchOf(page, "load_models"), first);
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.waitForFunction(() => window.marey);
    const pixel = () =>
      page.locator("main canvas").evaluate((canvas) => {
        const sharpness = canvas.width / canvas.clientWidth;
        const x = 196 + (900e6 / window.marey.slices.end_ns) * (canvas.clientWidth - 206);
        // Beside its name.
        const [r, g, b] = canvas.getContext("2d").getImageData(x * sharpness, (60 + 22 + 18 + 4 + 22 + 16 + 3) * sharpness, 1, 1).data;
        return `rgb(${r}, ${g}, ${b})`;
      });
    await eventually(page, pixel, first);
    await page.getByRole("tab", { name: "Flame graph" }).click();
    await page.waitForSelector(".flame canvas");
    await frame(page);
    // Laid thinly over the ground; load_models begins at 10.056 s of 11.836 s.
    const thin = await page.locator(".flame canvas").evaluate((canvas) => [...canvas.getContext("2d").getImageData(canvas.width * (10.1 / 11.836), 3, 1, 1).data].slice(0, 3));
    const full = first.match(/\d+/g).map(Number);
    assert.ok(thin.every((part, at) => Math.abs(part - full[at]) <= 3), `${thin} is not ${full}`);
    await page.context().close();
  }
});
