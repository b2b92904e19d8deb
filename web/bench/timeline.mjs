// The page of a run with a million slices: how long it takes to write, how large it is, how soon it is drawn, how it follows the
// wheel. Against the targets of the reports (times are absolute, on one core).
//
//   node bench/timeline.mjs

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "../tests/page.mjs";

const REPEATS = 5;
const DRAWS = 240;
/** The smallest window, as a share of the run. */
const DEEPEST = 1e-5;

const root = new URL("../..", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "marey-bench-"));
const path = join(folder, "million.html");

const written = [];
for (let n = 0; n < REPEATS; n++) {
  written.push(JSON.parse(example("million", path)));
}
const asset = statSync(new URL("crates/marey-report/assets/page.html", root)).size;
const opened = [];
for (let n = 0; n < REPEATS; n++) {
  opened.push(await open());
}
rmSync(folder, { recursive: true });

const rows = [
  ["write: page, CPU", median(written.map((w) => w.page_cpu_ns / 1e9)), 1, "s"],
  ["write: questions and page, CPU", median(written.map((w) => (w.page_cpu_ns + w.report_cpu_ns) / 1e9)), 1, "s"],
  ["size", opened[0].bytes / 1e6, 5, "MB"],
  ["asset", asset / 1e3, 150, "KB"],
  ["ready: CPU of all processes", median(opened.map((o) => o.cpu)), 1, "s"],
  ["ready: wall", median(opened.map((o) => o.wall)), null, "s"],
  ["drawing p50", median(opened.map((o) => quantile(o.draws, 0.5))), null, "ms"],
  ["drawing p95", median(opened.map((o) => quantile(o.draws, 0.95))), 33, "ms"],
  ["drawing, longest", Math.max(...opened.flatMap((o) => o.draws)), null, "ms"],
  ["frame p50", median(opened.map((o) => quantile(o.frames, 0.5))), null, "ms"],
  ["frame p95", median(opened.map((o) => quantile(o.frames, 0.95))), 33, "ms"],
  ["frame, longest", Math.max(...opened.flatMap((o) => o.frames)), null, "ms"],
];
console.log(`${written[0].slices} sections, median of ${REPEATS} pages, ${DRAWS} windows from the whole run to ${DEEPEST} of it\n`);
let isMissed = false;
for (const [what, value, target, unit] of rows) {
  const holds = target === null ? "" : value <= target ? "holds" : "MISSED";
  isMissed ||= holds === "MISSED";
  console.log([what.padEnd(32), `${value.toFixed(3)} ${unit}`.padStart(12), target === null ? "" : `≤ ${target} ${unit}`.padEnd(9), holds].join("  "));
}
process.exitCode = isMissed ? 1 : 0;

function example(kind, to) {
  const command = ["run", "--quiet", "--release", "--locked", "-p", "marey-report", "--example", "report_page", "--", kind, to];
  return execFileSync("cargo", command, { cwd: root, encoding: "utf8" });
}

/** A browser of its own, so that nothing is warm. */
async function open() {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
  const processes = await browser.newBrowserCDPSession();
  const cpu = async () => {
    const { processInfo } = await processes.send("SystemInfo.getProcessInfo");
    return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
  const before = await cpu();
  await page.goto(`${pathToFileURL(path).href}#view=timeline`);
  await page.waitForFunction(() => window.marey);
  const found = {
    bytes: statSync(path).size,
    cpu: (await cpu()) - before,
    wall: (await page.evaluate(() => window.marey.ready)) / 1e3,
    ...(await page.evaluate(zoomed, [DRAWS, DEEPEST])),
  };
  await browser.close();
  return found;
}

/** Runs in the page: a window a frame. `draws` is the script's time, `frames` from one frame to the next, painting included. */
async function zoomed([n, deepest]) {
  const end = window.marey.slices.end_ns;
  const frame = () => new Promise(requestAnimationFrame);
  const draws = [];
  const frames = [];
  let seed = 1;
  let last = await frame();
  for (let k = 0; k < n; k++) {
    const length = end * deepest ** (k / (n - 1));
    seed = (seed * 48_271) % 2_147_483_647;
    const from = (seed / 2_147_483_647) * (end - length);
    draws.push(window.marey.draw(from, from + length));
    const now = await frame();
    frames.push(now - last);
    last = now;
  }
  return { draws, frames };
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

function median(values) {
  return quantile(values, 0.5);
}
