// Call paths of the drawn video: block 8.096 s, vae_decode 1.960 s, load_models 1.380 s and text_encoding 0.400 s, 11.836 s in all.
// Below block: denoising_step 7.046 s (28 turns), in it transformer_forward 4.669 s, in it attention 2.293 s.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { rowsOf } from "./charts.mjs";
import { address, drawn, launch, open } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function flame(hash = "", kind = "video", options = {}) {
  const opened = await open(browser, drawn(kind), { hash: `#view=flame${hash}`, ...options });
  await opened.page.waitForSelector(".flame canvas");
  return opened;
}

const canvas = (page, label) => page.locator(`[data-flame^="${label}"] canvas`);
const tip = (page) => page.locator(".flame-tip:not([hidden])");

/** A place of a canvas: a part of its width, and a row. */
async function at(locator, part, row) {
  const { width } = await locator.boundingBox();
  return { position: { x: width * part, y: 18 * row + 9 } };
}

test("left-heavy: the widest first, with figures, zoom by click and back", async () => {
  const { page, problems } = await flame();
  const heavy = canvas(page, "Call paths");
  await heavy.hover(await at(heavy, 0.3, 0));
  assert.match(await tip(page).textContent(), /^block.*7 \(turns of a loop\).*8\.096 s · 68\.4 % of all sections/);
  // 8.096 of 11.836 is block, then vae_decode up to 10.056.
  await heavy.hover(await at(heavy, 0.75, 0));
  assert.match(await tip(page).textContent(), /^vae_decode.*1\.960 s/);
  await heavy.hover(await at(heavy, 0.1, 3));
  assert.match(await tip(page).textContent(), /^attention.*28.*2\.293 s.*self2\.293 s/);
  await heavy.click(await at(heavy, 0.3, 2));
  // transformer_forward fills the width now: 4.669 s, of which attention is the first 2.293.
  await heavy.hover(await at(heavy, 0.48, 3));
  assert.match(await tip(page).textContent(), /^attention/);
  assert.match(await page.locator(".crumbs").textContent(), /all sections › block › denoising_step › transformer_forward/);
  await page.locator(".crumbs button", { hasText: "denoising_step" }).click();
  assert.match(await page.locator(".crumbs").textContent(), /denoising_step 7\.046 s$/);
  await heavy.click(await at(heavy, 0.5, 1));
  assert.match(await page.locator(".crumbs").textContent(), /block 8\.096 s$/);
  await page.locator(".crumbs button").first().click();
  assert.doesNotMatch(await address(page), /focus=/);
  assert.deepEqual(problems, []);
});

test("the keyboard walks through call paths, zooms and goes back", async () => {
  const { page } = await flame();
  await canvas(page, "Call paths").focus();
  for (const [key, name] of [["ArrowDown", "block"], ["ArrowRight", "vae_decode"], ["ArrowLeft", "block"], ["ArrowDown", "denoising_step"]]) {
    await page.keyboard.press(key);
    assert.match(await tip(page).textContent(), new RegExp(`^${name}`));
  }
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".crumbs").textContent(), /denoising_step 7\.046 s$/);
  await page.keyboard.press("Escape");
  assert.match(await page.locator(".crumbs").textContent(), /block 8\.096 s$/);
});

test("a search counts call paths and dims the others", async () => {
  const { page } = await flame();
  const heavy = canvas(page, "Call paths");
  const pixel = () =>
    heavy.evaluate((element) => [...element.getContext("2d").getImageData(element.width * 0.6, 4 * devicePixelRatio, 1, 1).data].join());
  const before = await pixel();
  await page.getByLabel("Search names").fill("ATTEN");
  assert.equal(await page.locator(".controls [role=status]").textContent(), "1 of 11 call paths");
  assert.match(await address(page), /q=ATTEN/);
  assert.notEqual(await pixel(), before);
});

test("time order: threads, slices where they ran, zoom into one, and the same part in the address", async () => {
  const { page } = await flame("&mode=order");
  const order = canvas(page, "Sections as they ran");
  // A row for the time axis, then block, denoising_step, …; the outlier ran from 6.924 s to 7.532 s.
  await order.hover(await at(order, 7.2 / 10.696, 2));
  assert.match(await tip(page).textContent(), /^denoising_steptook608 msfrom6\.924 sto7\.532 s/);
  await order.click(await at(order, 7.2 / 10.696, 2));
  assert.match(await address(page), /from=6924000000&to=7532000000/);
  await order.hover(await at(order, 0.5, 1));
  assert.match(await tip(page).textContent(), /^blocktook1\.344 s/);
  await page.keyboard.press("Escape");
  await order.focus();
  await page.keyboard.press("Escape");
  assert.doesNotMatch(await address(page), /from=/);
  await page.getByLabel("Thread").selectOption({ label: "decoder" });
  await order.hover(await at(order, 4.0 / 10.696, 1));
  assert.match(await tip(page).textContent(), /^vae_decodetook280 msfrom3\.900 s/);
});

test("time order: the wheel zooms around the pointer and dragging moves", async () => {
  const { page } = await flame("&mode=order&from=4000000000&to=8000000000");
  const order = canvas(page, "Sections as they ran");
  const box = await order.boundingBox();
  const window = async () => {
    const state = new URLSearchParams(new URL(await address(page)).hash.slice(1));
    return [Number(state.get("from")) / 1e9, Number(state.get("to")) / 1e9];
  };
  await page.mouse.move(box.x + box.width / 2, box.y + 30);
  await page.mouse.wheel(0, -385);
  await page.waitForFunction(() => !location.hash.includes("from=4000000000"));
  // e^(−0.0018 × 385) is one half: 5 s to 7 s.
  const [from, to] = await window();
  assert.ok(Math.abs(from - 5) < 0.01 && Math.abs(to - 7) < 0.01, `${from} ${to}`);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 4, box.y + 30, { steps: 5 });
  await page.mouse.up();
  const [moved] = await window();
  assert.ok(Math.abs(moved - 5.5) < 0.02, `${moved}`);
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
  assert.match(await address(page), /focus=transformer_forward/);
  const [callers, callees] = [canvas(page, "Callers"), canvas(page, "Callees")];
  await callers.hover(await at(callers, 0.5, 0));
  assert.match(await tip(page).textContent(), /^block.*4\.669 s · 100\.0 % of its time/);
  await callees.hover(await at(callees, 0.4, 1));
  assert.match(await tip(page).textContent(), /^attention.*2\.293 s · 49\.1 %/);
  await callees.click(await at(callees, 0.4, 1));
  assert.match(await address(page), /focus=attention/);
});

test("an address leads to a mode, a thread, a call path and a search", async () => {
  const { page } = await flame("&mode=order&thread=1&q=vae");
  assert.equal(await page.getByRole("radio", { name: "Time order" }).getAttribute("aria-checked"), "true");
  assert.equal(await page.getByLabel("Thread").inputValue(), "1");
  assert.equal(await page.getByLabel("Search names").inputValue(), "vae");
  const { page: sandwich } = await flame("&mode=sandwich&focus=load_vae");
  assert.match(await sandwich.locator(".sandwich-flames h3").first().textContent(), /load_vae/);
});

test("four thousand call paths are all there, and two thousand levels scroll", async () => {
  const { page, problems } = await flame("", "deep");
  const heavy = canvas(page, "Call paths");
  await heavy.hover(await at(heavy, 0.9, 0));
  // 904 ms of 5 s, under which the chain is.
  assert.match(await tip(page).textContent(), /^chain.*904 ms/);
  await page.getByLabel("Search names").fill(" 10");
  assert.equal(await page.locator(".controls [role=status]").textContent(), "1024 of 4047 call paths");
  await page.locator(".flame-scroll").evaluate((element) => element.scrollTo({ top: 1999 * 18 }));
  const height = await heavy.evaluate((element) => element.getBoundingClientRect().height);
  assert.ok(height < 600);
  const { height: seen } = await heavy.boundingBox();
  await heavy.hover({ position: { x: (await heavy.boundingBox()).width * 0.9, y: seen - 12 } });
  assert.match(await tip(page).textContent(), /^again/);
  assert.deepEqual(problems, []);
});

test("a million slices are found in a pixel and in a box", async () => {
  const { page, problems } = await flame("&mode=order", "million");
  const order = canvas(page, "Sections as they ran");
  await order.hover(await at(order, 0.5, 1));
  assert.match(await tip(page).textContent(), /^denoising_step/);
  await order.focus();
  for (let n = 0; n < 12; n += 1) {
    await page.keyboard.press("w");
  }
  // 2^12 times larger: single operations have boxes and names.
  await order.hover(await at(order, 0.5, 3));
  assert.match(await tip(page).textContent(), /took\d/);
  assert.deepEqual(problems, []);
});

test("hostile names stay text", async () => {
  for (const mode of ["heavy", "order", "sandwich"]) {
    const { page, problems } = await flame(`&mode=${mode}`, "hostile");
    const first = page.locator(".flame canvas").first();
    await first.hover(await at(first, 0.4, mode === "order" ? 1 : 0));
    assert.match(await tip(page).textContent(), /^\w+<\/script><img/);
    assert.equal(await page.evaluate(() => window.injected), undefined);
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(problems, []);
  }
});

test("it is drawn in light and in dark", async () => {
  const drawings = [];
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await flame("", "video", { colorScheme });
    drawings.push(await canvas(page, "Call paths").evaluate((element) => element.toDataURL()));
  }
  assert.notEqual(drawings[0], drawings[1]);
});
