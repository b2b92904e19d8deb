import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { address, drawn, edited, launch, open, windowOf } from "./page.mjs";
import { eventually, frame, says } from "./patience.mjs";

const MS = 1e6;
/** As drawn, in pixels: labels, the strip of the whole run with the axis, titles, rows, and what scrolls. */
const [LABELS, HEAD, TITLE, ROW, SCROLLBAR] = [196, 60, 22, 18, 10];

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function timeline(kind, hash = "", options = {}) {
  const opened = await open(browser, drawn(kind), { hash: `#view=timeline${hash}`, ...options });
  const { page } = opened;
  await page.waitForFunction(() => window.marey);
  await frame(page);
  const box = await page.locator("canvas").boundingBox();
  const end = await page.evaluate(() => window.marey.slices.end_ns);
  /** Where a moment is while the whole run is shown. */
  const x = (ns) => box.x + LABELS + (ns / end) * (box.width - LABELS - SCROLLBAR);
  return { ...opened, box, end, x };
}

const tip = (page) => page.getByRole("tooltip");
const detail = (page) => page.locator(".timeline-detail");
/** Once the text of an element, as it is laid out, is as expected. */
const shows = (locator, expected) => eventually(locator.page(), () => locator.innerText(), expected);
/** Once a search has found so much. */
const finds = (page, expected) => says(page.locator(".timeline-found"), expected);

/** The middle of a track of readings, on the page. */
async function trackAt(page, box, name) {
  const { y, height } = await page.evaluate((name) => {
    const { y, height } = window.marey.lines().find(({ track }) => track?.name === name);
    return { y, height };
  }, name);
  return box.y + HEAD + y + height / 2;
}

/** Cells of the table by the first one of their row. */
function cells(page, table) {
  return page.locator(`table[aria-labelledby=table-${table}] tbody tr`).evaluateAll((rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent)),
  );
}

test("the wheel zooms around the pointer and the address follows", async () => {
  const { page, box, end, x, problems } = await timeline("video");
  const at = 4_000 * MS;
  await page.mouse.move(x(at), box.y + 200);
  await page.mouse.wheel(0, -500);
  const [from, to] = await eventually(page, windowOf, ([from, to]) => Math.abs((to - from) / end - Math.exp(-0.0018 * 500)) < 0.001);
  // What was under the pointer still is, within a pixel.
  const place = (at - from) / (to - from);
  assert.ok(Math.abs(place - at / end) < 1 / (box.width - LABELS), `${place}`);
  assert.deepEqual(problems, []);
});

test("dragging and keys pan, keys zoom, and 0 shows the whole run", async () => {
  const { page, box } = await timeline("video", `&from=${2000 * MS}&to=${4000 * MS}`);
  await page.mouse.move(box.x + 700, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 300, { steps: 4 });
  await page.mouse.up();
  const perPixel = (2000 * MS) / (box.width - LABELS - SCROLLBAR);
  const [dragged] = await eventually(page, windowOf, ([from]) => Math.abs(from - (2000 * MS + 100 * perPixel)) < perPixel);
  await page.locator("canvas").focus();
  await page.keyboard.press("d");
  // 15 % of 2 s.
  await eventually(page, windowOf, ([from]) => Math.abs(from - dragged - 300 * MS) < 2);
  await page.keyboard.press("ArrowLeft");
  await eventually(page, windowOf, ([from]) => Math.abs(from - dragged) < 2);
  await page.mouse.move(0, 0);
  await page.keyboard.press("w");
  // 85 % of 2 s.
  await eventually(page, windowOf, ([from, to]) => Math.abs(to - from - 1700 * MS) < 2);
  await page.keyboard.press("0");
  await eventually(page, windowOf, null);
});

test("a search jumps to its hits, counts them and stays in the address", async () => {
  const { page } = await timeline("video");
  await page.fill("input[type=search]", "ATTEN");
  await finds(page, "28 hits");
  await page.keyboard.press("Enter");
  await finds(page, "1 of 28 hits");
  // The first step begins at 2.005 s, its attention 2 ms later; a third of its 1 110 ms.
  await shows(detail(page), /attention section\s+start\s+2\.007000000 s\s+duration\s+368 ms/);
  await page.locator("canvas").focus();
  await page.keyboard.press("n");
  await finds(page, "2 of 28 hits");
  await page.keyboard.press("N");
  await page.keyboard.press("N");
  await finds(page, "28 of 28 hits");
  await eventually(page, address, /[#&]q=ATTEN(&|$)/);
  const opened = await timeline("video", "&q=vae_dec");
  await finds(opened.page, "7 hits");
});

test("sums of a part equal those of the drawing", async () => {
  // ms               500      1000     1380 1400  1500   1750
  // load_models      |--------------------------|                  900
  // load_transformer |--------|                                    500
  // load_vae                  |--------|                           380
  // text_encoding                                 |------|         250
  const { page } = await timeline("video", `&from=${500 * MS}&to=${1750 * MS}`);
  await page.getByRole("button", { name: "Sum up what is shown" }).click();
  // Name, kind, calls, total, mean, share, union.
  await eventually(page, () => cells(page, "range"), [
    ["load_models", "section", "1", "900 ms", "900 ms", "72.0 %", "900 ms"],
    ["load_transformer", "section", "1", "500 ms", "500 ms", "40.0 %", "500 ms"],
    ["load_vae", "section", "1", "380 ms", "380 ms", "30.4 %", "380 ms"],
    ["generation", "session", "1", "250 ms", "250 ms", "20.0 %", "250 ms"],
    ["text_encoding", "section", "1", "250 ms", "250 ms", "20.0 %", "250 ms"],
  ]);
  assert.deepEqual(await cells(page, "range-rows"), [
    ["sessions", "depth 0", "1", "250 ms", "20.0 %"],
    ["main", "depth 0", "2", "1.150 s", "92.0 %"],
    ["main", "depth 1", "2", "880 ms", "70.4 %"],
  ]);
});

test("sums are exported in whole nanoseconds", async () => {
  const { page } = await timeline("video", "&from=500000000.4&to=1750000000.7");
  await page.getByRole("button", { name: "Sum up what is shown" }).click();
  for (const id of ["range", "range-rows"]) {
    const tools = page.locator(`.table:has(#table-${id}) .tools`);
    const [file] = await Promise.all([page.waitForEvent("download"), tools.getByRole("button", { name: "CSV" }).click()]);
    const [titles, ...rows] = (await readFile(await file.path(), "utf8")).trim().split("\r\n").map((line) => line.split(","));
    assert.ok(rows.length > 0);
    for (const [at, title] of titles.entries()) {
      assert.ok(!title.endsWith("_ns") || rows.every((row) => /^\d+$/.test(row[at])), `${title}: ${rows.map((row) => row[at])}`);
    }
  }
});

test("a range that is drawn with shift is summed up", async () => {
  const { page, box, x } = await timeline("video");
  await page.keyboard.down("Shift");
  await page.mouse.move(x(100 * MS), box.y + 300);
  await page.mouse.down();
  await page.mouse.move(x(900 * MS), box.y + 320, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const sums = async () => (await cells(page, "range")).map(([name, , calls, , , share]) => [name, calls, share]);
  await eventually(page, sums, [
    ["load_models", "1", "100.0 %"],
    ["load_transformer", "1", "100.0 %"],
  ]);
  await page.keyboard.press("Escape");
  await eventually(page, sums, []);
});

test("a deep link opens its place, and a link from elsewhere moves there", async () => {
  const { page, problems } = await timeline("video", `&from=${2000 * MS}&to=${2500 * MS}`);
  await page.getByText("500 ms of 10.696 s shown").waitFor();
  await page.evaluate(() => {
    location.hash = "view=timeline&from=3000000000&to=3001000000";
  });
  await page.getByText("1.00 ms of 10.696 s shown").waitFor();
  await page.evaluate(() => {
    location.hash = "view=timeline&from=nothing&to=-5&row=99999";
  });
  await page.getByText(" of 10.696 s shown").waitFor();
  assert.deepEqual(problems, []);
});

test("a click selects a slice, says what is known of it, and f fits it", async () => {
  const { page, box, x } = await timeline("video");
  // Below the session's group: title, events, then the outermost sections.
  await page.mouse.click(x(700 * MS), box.y + HEAD + TITLE + ROW + 4 + TITLE + 16 + ROW / 2);
  await shows(detail(page), /load_models section\s+start\s+20\.000000 ms\s+duration\s+1\.380 s/);
  await page.keyboard.press("f");
  // A twentieth of its length on either side.
  await eventually(page, windowOf, [0, 1518 * MS]);
});

test("what is pointed at is named, its value read, and a folded group is folded", async () => {
  const { page, box, x } = await timeline("video", "", { viewport: { width: 1400, height: 1800 } });
  const y = box.y + HEAD + TITLE + ROW / 2;
  await page.mouse.move(x(6_000 * MS), y);
  await shows(tip(page), /generation session[\s\S]*model\s+self_forcing/);
  await page.mouse.click(box.x + 60, box.y + HEAD + TITLE / 2);
  await page.mouse.move(x(700 * MS), box.y + HEAD + TITLE + 4 + TITLE + 16 + ROW / 2);
  await shows(tip(page), /load_models/);
  await page.mouse.move(x(6_000 * MS), await trackAt(page, box, "memory.allocated"));
  await shows(tip(page), /Program: allocated · cuda:0 memory[\s\S]*value\s+12\.0 GiB/);
  // The last reading is of 10.396 s, and holds to the end of the run.
  await page.mouse.move(x(10_690 * MS), await trackAt(page, box, "memory.allocated"));
  await shows(tip(page), /value\s+5\.0 GiB/);
});

test("tracks have the words and the order of the machine view, and cores lie folded below", async () => {
  const path = edited(drawn("machine"), "cores", (report, model) => {
    // 400 % of one core: more than one has.
    const names = ["host.cpu.busy", "process.cpu.user", "process.cpu.system"];
    const tracks = names.map((name) => model.timeline.tracks.find((track) => track.name === name));
    tracks.forEach((track, at) => Object.assign(track, { name: "core.cpu.busy", subject: String(at) }));
  });
  const { page } = await open(browser, path, { hash: "#view=timeline", viewport: { width: 1400, height: 2400 } });
  await page.waitForFunction(() => window.marey);
  const titles = () => page.evaluate(() => window.marey.lines().filter(({ kind }) => kind === "tracks").map(({ title, isFolded }) => (isFolded ? `${title}, folded` : title)));
  await eventually(page, titles, ["GPU", "Processor", "Memory", "Disks", "Network", "Waiting for the machine", "Cores, folded"]);
  const names = await page.evaluate(() => window.marey.lines().flatMap(({ kind, track }) => (kind === "track" ? [track.name] : [])));
  const places = ["gpu.utilization", "host.cpu.iowait", "memory.allocated", "process.disk.read", "host.network.received", "pressure.io.some"].map((name) => names.indexOf(name));
  assert.ok(places.every((place) => place >= 0));
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
  const box = await page.locator("canvas").boundingBox();
  const cores = await page.evaluate(() => window.marey.lines().find(({ title }) => title === "Cores").y);
  await page.mouse.click(box.x + 60, box.y + HEAD + cores + TITLE / 2);
  await eventually(page, async () => (await titles()).at(-1), "Cores");
  await page.mouse.move(box.x + 700, await trackAt(page, box, "core.cpu.busy"));
  await shows(tip(page), /^core 0 [\s\S]*value\s+100\.0 %/);
});

test("slices that overlap lie in rows of their own", async () => {
  // ms       0    10   20   30   40   50   60   70   80   90   100  110
  // main     |--------------------serve--------------------------|
  // beside     |----fetch-----------|          |---------upload-------->
  //               |------frames----------|
  //                 |----fetch (failed)--|
  //                      |----fetch---------------|
  //                        |parse|
  const { page, box, x, problems } = await timeline("overlap");
  for (const [row, ms, title] of [
    [0, 50, "serve section"],
    [1, 20, "fetch section"],
    [2, 30, "frames section, was suspended: drawn as long as it ran"],
    [3, 45, "fetch section, left by an error"],
    [4, 60, "fetch section"],
    [5, 35, "parse section"],
    [1, 100, "upload section, open at the end of the run"],
  ]) {
    await page.mouse.move(x(ms * MS), box.y + HEAD + TITLE + ROW * row + ROW / 2);
    await eventually(page, async () => (await tip(page).innerText()).split("\n")[0], title);
  }
  await page.getByRole("button", { name: "Sum up what is shown" }).click();
  // Three of 35, 35 and 40 ms, from 5 to 65 ms together.
  await eventually(page, async () => (await cells(page, "range")).find(([name]) => name === "fetch"), ["fetch", "section", "3", "110 ms", "36.7 ms", "100.0 %", "60.0 ms"]);
  assert.deepEqual(problems, []);
});

test("more slices than a page holds are put together, counted, and said to be", async () => {
  // 50 steps of 40 blocks of 999 operations.
  const all = 50 + 50 * 40 + 50 * 40 * 999;
  const { page, problems } = await timeline("crowded");
  const found = await page.evaluate(() => {
    const { slices } = window.marey;
    let calls = 0;
    for (let i = 0; i < slices.n; i++) {
      const parts = slices.parts(i);
      calls += parts.length > 0 ? parts.reduce((sum, part) => sum + part.count, 0) : 1;
    }
    return { calls, n: slices.n };
  });
  assert.equal(found.calls, all);
  assert.ok(found.n <= 2 ** 20);
  assert.match(await page.locator(".note").innerText(), /sections shorter than .* are drawn as .* put together/);
  await page.fill("input[type=search]", "attention");
  // Each eighth operation of a block, from the fifth on: 125 of 999.
  await finds(page, /^250\s000 hits$/);
  assert.deepEqual(problems, []);
});

test("busy time by prefix sums is that of adding slices up, in any part of the run", async () => {
  for (const kind of ["video", "overlap", "million"]) {
    const { page } = await timeline(kind);
    const worst = await page.evaluate(() => {
      const { slices } = window.marey;
      let seed = 1;
      const random = () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed / 2_147_483_647;
      };
      let worst = 0;
      for (const row of slices.rows) {
        for (let n = 0; n < 25; n++) {
          const from = random() * slices.end_ns;
          const to = from + random() ** 4 * (slices.end_ns - from);
          let sum = 0;
          for (let i = row.first; i < row.last; i++) {
            sum += Math.max(0, Math.min(slices.end[i], to) - Math.max(slices.start[i], from));
          }
          const found = slices.busyUntil(row, to) - slices.busyUntil(row, from);
          worst = Math.max(worst, Math.abs(found - sum));
        }
      }
      return worst;
    });
    // Floats of 10^10 ns are exact to a millionth.
    assert.ok(worst < 1e-3, `${kind}: ${worst}`);
    await page.context().close();
  }
});

test("time under no section is shown when asked for", async () => {
  // ms   0 20        1400  1500        1900  2000             b  b+10       b+290     b+600
  //      |  |--load---|     |---text----|     |---blocks------|   |--decode--|         |
  const { page } = await timeline("video");
  await page.getByRole("button", { name: "Gaps" }).click();
  await page.getByText("under no section: 540 ms").waitFor();
});

test("the drawing is dark in the dark, sharp on dense screens, and follows the theme", async () => {
  const corner = (page) =>
    page.evaluate(() => {
      const canvas = document.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(canvas.width - 20, canvas.height - 4, 1, 1);
      return { colour: [...data.slice(0, 3)], width: canvas.width / canvas.clientWidth };
    });
  const { page } = await timeline("overlap", "", { colorScheme: "dark", deviceScaleFactor: 2 });
  await eventually(page, corner, { colour: [0x14, 0x18, 0x1c], width: 2 });
  await page.keyboard.press("t");
  await eventually(page, corner, { colour: [255, 255, 255], width: 2 });
});

test("a range is in the address, and an address leads to it", async () => {
  const { page, box, x } = await timeline("video");
  await page.keyboard.down("Shift");
  await page.mouse.move(x(100 * MS), box.y + 300);
  await page.mouse.down();
  await page.mouse.move(x(900 * MS), box.y + 320, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await eventually(page, address, /[#&]range=\d+-\d+(&|$)/);
  const { page: again, problems } = await timeline("video", "&range=100000000-900000000");
  await again.getByText("Range: 100.0 ms to 900.0 ms, 800 ms").waitFor();
  await again.locator("canvas").focus();
  await again.keyboard.press("Escape");
  await eventually(again, address, (now) => !now.includes("range="));
  assert.deepEqual(problems, []);
});

test("on a phone a swipe over the timeline scrolls the page, in which all rows are", async () => {
  const { page, box } = await timeline("machine", "", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const touch = await page.context().newCDPSession(page);
  const finger = (type, y) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: y === undefined ? [] : [{ x: box.x + 200, y }] });
  await finger("touchStart", 600);
  for (let y = 550; y >= 200; y -= 50) {
    await finger("touchMove", y);
  }
  await finger("touchEnd");
  await eventually(page, () => page.evaluate(() => scrollY), (top) => top > 200);
  const last = await page.evaluate(() => window.marey.lines().at(-1));
  assert.ok(box.height >= HEAD + last.y + last.height);
});
