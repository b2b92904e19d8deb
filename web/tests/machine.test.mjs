// Values of the drawn machine: see crates/marey-report/examples/report_page/machine.rs.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { colourAt, figuresOf, plotOf, pointAt } from "./charts.mjs";
import { address, drawn, edited, launch, open, windowOf } from "./page.mjs";
import { eventually } from "./patience.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function machine(hash = "") {
  const opened = await open(browser, drawn("machine"), { hash: `#view=machine${hash}` });
  await opened.page.waitForSelector("[data-chart]");
  return opened;
}

test("each part of the machine that was read has its panel", async () => {
  const { page, problems } = await machine();
  const groups = await page.locator(".group").evaluateAll((all) =>
    all.map((group) => [group.querySelector("h2").firstChild.textContent, [...group.querySelectorAll("[data-chart]")].map((one) => one.dataset.chart)]),
  );
  assert.deepEqual(groups, [
    ["GPU 0 NVIDIA H200", ["Utilisation", "Memory", "Power", "Clocks", "Temperature", "PCIe"]],
    ["Processor", ["All 8 cores", "This process, cores", "Load average"]],
    ["Memory", ["Machine and process", "Swap", "Swapping"]],
    ["Disks", ["This process", "nvme0n1", "nvme0n1 busy"]],
    ["Network", ["eth0"]],
    ["Waiting for the machine", ["Some task waited", "All tasks waited"]],
  ]);
  assert.deepEqual(problems, []);
});

test("figures of the report stand beside the curve, and the pointer reads all charts at once", async () => {
  const { page } = await machine();
  // Half of the time at 5 s: 90 %, 690 W, held back to 1.2 GHz.
  await pointAt(page, "Power", 0.5);
  const row = async (title, at = 0) => (await figuresOf(page, title))[at];
  await eventually(page, () => row("Power"), ["taken", "90 W", "450 W", "690 W", "690 W"]);
  assert.deepEqual(await row("Power", 1), ["limit", "700 W", "700 W", "700 W", "700 W"]);
  assert.equal((await row("Utilisation")).at(-1), "90.0 %");
  assert.equal((await row("Clocks")).at(-1), "1.20 GHz");
  assert.equal((await row("Temperature")).at(-1), "55 °C");
  assert.deepEqual(await row("All 8 cores"), ["busy", "50.0 %", "50.0 %", "50.0 %", "50.0 %"]);
  assert.deepEqual(await row("This process, cores"), ["together", "2.50", "2.50", "2.50", ""]);
  assert.equal((await row("This process, cores", 1)).at(-1), "2.00");
  assert.deepEqual(await row("This process", 1), ["written", "0 B/s", "102 MiB/s", "256 MiB/s", "0 B/s"]);
  assert.equal((await row("Swapping")).at(-1), "128 MiB/s");
  assert.equal((await row("eth0")).at(-1), "100 MiB/s");
  // Cursors of all charts stand at the same place.
  const places = await page.locator(".chart-cursor").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  assert.equal(places.length, await page.locator("[data-chart]").count());
  assert.equal(new Set(places).size, 1);
});

test("figures of an axis have as many decimals as its step", async () => {
  // 4 of 3 200 processors are 0.125 %; the axis has a figure each 0.05 %.
  const path = edited(drawn("machine"), "many-cores", ({ telemetry }) => {
    telemetry.cpu.n_cores = 3_200;
  });
  const before = () => {
    const drawn = CanvasRenderingContext2D.prototype.fillText;
    window.axes = new Map();
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      const chart = this.canvas.closest("[data-chart]")?.dataset.chart;
      if (this.textAlign === "right" && chart) {
        window.axes.set(chart, (window.axes.get(chart) ?? new Set()).add(`${text} at ${place[1]}`));
      }
      drawn.call(this, text, ...place);
    };
  };
  const { page } = await open(browser, path, { hash: "#view=machine&zero=0", before });
  await page.waitForSelector("[data-chart]");
  const read = () => page.evaluate(() => [...window.axes].map(([chart, texts]) => [chart, [...texts].map((text) => text.split(" at ")[0])]));
  const isDrawn = (axes) => String(new Map(axes).get("All 3200 cores")) === "0 %,0.05 %,0.1 %";
  const axes = await eventually(page, read, isDrawn);
  for (const [chart, texts] of axes) {
    const said = texts.filter((text) => text !== "");
    assert.equal(new Set(said).size, said.length, `${chart}: ${said}`);
  }
});

test("clocks that were held down are marked and told", async () => {
  const { page } = await machine();
  assert.match(await page.locator(".group h2").first().textContent(), /clocks held down for 3\.000 s of 10\.000 s \(heat 0 ns, power 3\.000 s\)/);
  assert.match(await page.locator('[data-chart="Clocks"] .chart-note').textContent(), /held clocks down/);
  const { width } = await plotOf(page, "Clocks");
  // Behind the line, between the grid lines: at 5.5 s and at 7.5 s.
  const colour = (second) => colourAt(page.locator('[data-chart="Clocks"] canvas'), Math.round(64 + (width * second) / 10), 90);
  const colours = () => Promise.all([4.5, 5.5, 7.5].map(colour));
  await eventually(page, colours, ([before, held, free]) => held === before && held !== free);
});

test("one of several GPUs is chosen, and the choice is in the address", async () => {
  const { page } = await machine();
  await page.getByLabel("GPU").selectOption({ label: "GPU 1 NVIDIA L4" });
  await eventually(page, address, /gpu=GPU-b/);
  await eventually(page, async () => (await figuresOf(page, "Utilisation"))[0], ["a kernel ran", "25.0 %", "25.0 %", "25.0 %", ""]);
  assert.equal(await page.locator('[data-chart="Power"]').count(), 0);
  const { page: again } = await machine("&gpu=GPU-b");
  assert.equal((await figuresOf(again, "Utilisation"))[0][3], "25.0 %");
});

test("each of several GPUs has its figures, and the memory controller is not called memory in use", async () => {
  const { page } = await open(browser, drawn("machine"));
  // Each reading stands for the time half way to its neighbours: 6 s of 90 % and 2.5 s of 30 %, of 10 s. The other GPU was at 25 % all the time.
  assert.match(await page.locator("main").textContent(), /GPU 0 61\.5 % · GPU 1 25\.0 %/);
  const { page: view } = await machine();
  assert.deepEqual((await figuresOf(view, "Utilisation"))[1].slice(0, 4), ["memory controller busy", "20.0 %", "20.0 %", "20.0 %"]);
});

test("what was nothing all the time is not drawn, but has its figures", async () => {
  const path = edited(drawn("machine"), "no-swap", (_, model) => {
    model.timeline.tracks = model.timeline.tracks.map((track) => (track.name === "host.swap.used" ? { ...track, name: "other" } : track));
  });
  const { page } = await open(browser, path, { hash: "#view=machine" });
  await page.waitForSelector("[data-chart]");
  assert.ok((await page.locator("#table-machine").count()) === 1);
});

test("the keyboard zooms and moves the window, and the peak leads to the timeline", async () => {
  const { page } = await machine();
  await page.locator('[data-chart="Utilisation"] canvas').focus();
  await page.keyboard.press("w");
  await eventually(page, windowOf, [2.5e9, 7.5e9]);
  await page.keyboard.press("d");
  await eventually(page, windowOf, [3.75e9, 8.75e9]);
  await page.keyboard.press("0");
  await eventually(page, windowOf, null);
  await page.locator('[data-chart="Power"] a').first().click();
  await eventually(page, address, /view=timeline&from=1950000000&to=2050000000/);
});
