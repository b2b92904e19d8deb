// Call paths of the drawn video: block 8.096 s, vae_decode 1.960 s, load_models 1.380 s and text_encoding 0.400 s, 11.836 s in all.
// Below block: denoising_step 7.046 s (28 turns), in it transformer_forward 4.669 s, in it attention 2.293 s.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { colourAt, rowsOf } from "./charts.mjs";
import { address, drawn, launch, open, windowOf } from "./page.mjs";
import { eventually, frame, says } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function flame(hash = "", kind = "video") {
  const opened = await open(browser, drawn(kind), { hash: `#view=flame${hash}` });
  await opened.page.waitForSelector(".flame canvas");
  return opened;
}

const canvas = (page, label) => page.locator(`[data-flame^="${label}"] canvas`);
const tip = (page) => page.locator(".flame-tip:not([hidden])");
const crumbs = (page) => page.locator(".crumbs");
const found = (page) => page.locator(".controls [role=status]");

/** A place of a canvas: a part of its width, and a row. */
async function at(locator, part, row) {
  const { width } = await locator.boundingBox();
  return { position: { x: width * part, y: 18 * row + 9 } };
}

test("left-heavy: the widest first, with figures, zoom by click and back", async () => {
  const { page, problems } = await flame();
  const heavy = canvas(page, "Call paths");
  await heavy.hover(await at(heavy, 0.3, 0));
  await says(tip(page), /^block.*7 \(iterations of a loop\).*8\.096 s · 68\.4 % of all sections/);
  // 8.096 of 11.836 is block, then vae_decode up to 10.056.
  await heavy.hover(await at(heavy, 0.75, 0));
  await says(tip(page), /^vae_decode.*1\.960 s/);
  await heavy.hover(await at(heavy, 0.1, 3));
  await says(tip(page), /^attention.*28.*2\.293 s.*self2\.293 s/);
  await heavy.click(await at(heavy, 0.3, 2));
  await says(crumbs(page), /all sections › block › denoising_step › transformer_forward/);
  // transformer_forward fills the width now: 4.669 s, of which attention is the first 2.293.
  await heavy.hover(await at(heavy, 0.48, 3));
  await says(tip(page), /^attention/);
  await crumbs(page).locator("button", { hasText: "denoising_step" }).click();
  await says(crumbs(page), /denoising_step 7\.046 s$/);
  await heavy.click(await at(heavy, 0.5, 1));
  await says(crumbs(page), /block 8\.096 s$/);
  await crumbs(page).locator("button").first().click();
  await eventually(page, address, (now) => !now.includes("focus="));
  assert.deepEqual(problems, []);
});

test("the keyboard walks through call paths, zooms and goes back", async () => {
  const { page } = await flame();
  await canvas(page, "Call paths").focus();
  for (const [key, name] of [["ArrowDown", "block"], ["ArrowRight", "vae_decode"], ["ArrowLeft", "block"], ["ArrowDown", "denoising_step"]]) {
    await page.keyboard.press(key);
    await says(tip(page), new RegExp(`^${name}`));
  }
  await page.keyboard.press("Enter");
  await says(crumbs(page), /denoising_step 7\.046 s$/);
  await page.keyboard.press("Escape");
  await says(crumbs(page), /block 8\.096 s$/);
});

test("a search counts call paths and dims the others", async () => {
  const { page } = await flame();
  const heavy = canvas(page, "Call paths");
  const { width } = await heavy.boundingBox();
  const pixel = () => colourAt(heavy, width * 0.6, 4);
  const before = await pixel();
  await page.getByLabel("Search names").fill("ATTEN");
  await says(found(page), "1 of 11 call paths");
  await eventually(page, address, /q=ATTEN/);
  await eventually(page, pixel, (now) => now !== before);
});

test("time order: threads, slices where they ran, zoom into one, and the same part in the address", async () => {
  const { page } = await flame("&mode=order");
  const order = canvas(page, "Sections as they ran");
  // A row for the time axis, then block, denoising_step, …; the outlier ran from 6.924 s to 7.532 s.
  await order.hover(await at(order, 7.2 / 10.696, 2));
  await says(tip(page), /^denoising_steptook608 msfrom6\.924 sto7\.532 s/);
  await order.click(await at(order, 7.2 / 10.696, 2));
  await eventually(page, address, /from=6924000000&to=7532000000/);
  await order.hover(await at(order, 0.5, 1));
  await says(tip(page), /^blocktook1\.344 s/);
  await page.keyboard.press("Escape");
  await order.focus();
  await page.keyboard.press("Escape");
  await eventually(page, windowOf, null);
  await page.getByLabel("Thread").selectOption({ label: "decoder" });
  await order.hover(await at(order, 4.0 / 10.696, 1));
  await says(tip(page), /^vae_decodetook280 msfrom3\.900 s/);
});

test("time order: the wheel zooms around the pointer and dragging moves", async () => {
  const { page } = await flame("&mode=order&from=4000000000&to=8000000000");
  const order = canvas(page, "Sections as they ran");
  const box = await order.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 30);
  await page.mouse.wheel(0, -385);
  // e^(−0.0018 × 385) is one half: 5 s to 7 s.
  await eventually(page, windowOf, ([from, to]) => Math.abs(from - 5e9) < 1e7 && Math.abs(to - 7e9) < 1e7);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 4, box.y + 30, { steps: 5 });
  await page.mouse.up();
  await eventually(page, windowOf, ([from]) => Math.abs(from - 5.5e9) < 2e7);
});

test("sandwich: names with their figures, callers above, callees below", async () => {
  const { page } = await flame("&mode=sandwich");
  const names = await rowsOf(page, "names");
  assert.deepEqual(names.slice(0, 3), [
    ["block", "7", "8.096 s", "245 ms"],
    ["denoising_step", "28", "7.046 s", "2.181 s"],
    ["transformer_forward", "28", "4.669 s", "2.377 s"],
  ]);
  await page.getByRole("button", { name: "transformer_forward" }).click();
  await eventually(page, address, /section=transformer_forward/);
  const [callers, callees] = [canvas(page, "Callers"), canvas(page, "Callees")];
  await callers.hover(await at(callers, 0.5, 0));
  await says(tip(page), /^block.*4\.669 s · 100\.0 % of its time/);
  await callees.hover(await at(callees, 0.4, 1));
  await says(tip(page), /^attention.*2\.293 s · 49\.1 %/);
  await callees.click(await at(callees, 0.4, 1));
  await eventually(page, address, /section=attention/);
});

test("an address leads to a mode, a thread, a call path and a search", async () => {
  const { page } = await flame("&mode=order&thread=1&q=vae");
  assert.equal(await page.getByRole("radio", { name: "Time order" }).getAttribute("aria-checked"), "true");
  assert.equal(await page.getByLabel("Thread").inputValue(), "1");
  assert.equal(await page.getByLabel("Search names").inputValue(), "vae");
  const { page: sandwich } = await flame("&mode=sandwich&section=load_vae");
  assert.match(await sandwich.locator(".sandwich-flames h3").first().textContent(), /load_vae/);
});

test("four thousand call paths are all there, and two thousand levels scroll", async () => {
  const { page, problems } = await flame("", "deep");
  const heavy = canvas(page, "Call paths");
  await heavy.hover(await at(heavy, 0.9, 0));
  // 904 ms of 5 s, under which the chain is.
  await says(tip(page), /^chain.*904 ms/);
  await page.getByLabel("Search names").fill(" 10");
  await says(found(page), "1024 of 4047 call paths");
  await page.locator(".flame-scroll").evaluate((element) => element.scrollTo({ top: 1999 * 18 }));
  await frame(page);
  const { width, height } = await heavy.boundingBox();
  assert.ok(height < 600);
  await heavy.hover({ position: { x: width * 0.9, y: height - 12 } });
  await says(tip(page), /^again/);
  assert.deepEqual(problems, []);
});

test("a million slices are found in a pixel and in a box", async () => {
  const { page, problems } = await flame("&mode=order", "million");
  const order = canvas(page, "Sections as they ran");
  await order.hover(await at(order, 0.5, 1));
  await says(tip(page), /^denoising_step/);
  await order.focus();
  for (let n = 0; n < 12; n += 1) {
    await page.keyboard.press("w");
  }
  // 2^12 times larger: single operations have boxes and names.
  await order.hover(await at(order, 0.5, 3));
  await says(tip(page), /^(?!denoising_step).*took\d/);
  assert.deepEqual(problems, []);
});
