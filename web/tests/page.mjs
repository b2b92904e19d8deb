// A page in headless Chromium, opened from a file. The drawn runs come from the example `report_page` of marey-report, built by
// cargo or, where BUILT_EXAMPLES names a folder of built examples, taken from there.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

import { chromium } from "playwright-core";

import { PATIENCE, frame } from "./patience.mjs";

// A file of tests that waits for ever says so, instead of keeping all others from running. Building what draws is in its time.
setTimeout(() => {
  console.error("these tests have not ended within half an hour");
  process.exit(1);
}, 1_800_000).unref();

const folder = mkdtempSync(join(tmpdir(), "marey-page-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const made = new Map();

/** The file of a drawn run: `video`, `hostile`, `empty`, `killed` or `million`. */
export function drawn(kind) {
  if (!made.has(kind)) {
    const path = join(folder, `${kind}.html`);
    const examples = process.env.BUILT_EXAMPLES;
    const cargo = ["cargo", "run", "--quiet", "--locked", "-p", "marey-report", "--example", "report_page", "--"];
    const [program, ...options] = examples ? [join(examples, "report_page")] : cargo;
    execFileSync(program, [...options, kind, path], { cwd: new URL("../..", import.meta.url), stdio: ["ignore", "inherit", "inherit"] });
    made.set(kind, path);
  }
  return made.get(kind);
}

const MODEL = /(id="marey-model">)([^<]*)/;

/** The model that a page carries: what its figures are compared with. */
export function modelOf(path) {
  const [, , packed] = readFileSync(path, "utf8").match(MODEL);
  return JSON.parse(gunzipSync(Buffer.from(packed, "base64")));
}

/** A table of a page's model by its key, also one that is folded. */
export function tableOf(model, key) {
  const within = (blocks) => blocks.flatMap(({ kind, content }) => (kind === "aside" ? within(content[1]) : kind === "table" ? [content] : []));
  return model.contents.tabs.flatMap(({ blocks }) => within(blocks)).find((table) => table.key === key);
}

/** The file of a page whose model was changed: what a view does with answers that the drawn runs do not have. */
export function edited(path, name, change) {
  const model = modelOf(path);
  change(model.pictures, model);
  const packed = gzipSync(JSON.stringify(model)).toString("base64");
  const to = join(folder, `${name}.html`);
  writeFileSync(to, readFileSync(path, "utf8").replace(MODEL, (_, tag) => tag + packed));
  return to;
}

export function launch() {
  // Inside containers Chromium's own sandbox cannot be set up.
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"], timeout: PATIENCE });
}

/** The address as the page itself has it; what drives the browser is told of a new one later. */
export const address = (page) => page.evaluate(() => location.href);

/** The part of the run that an address says, in nanoseconds; none where it says no part. */
export async function windowOf(page) {
  const state = new URLSearchParams(new URL(await address(page)).hash.slice(1));
  return state.has("from") ? [Number(state.get("from")), Number(state.get("to"))] : null;
}

/**
 * Opens a file's page. `problems` collects whatever must not happen: errors of the script, of the policy, and every request but
 * that of the file itself. `before` runs in the page before its own script.
 */
export async function open(browser, path, { hash = "", before = () => {}, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  await page.addInitScript(before);
  const problems = [];
  const own = pathToFileURL(path).href;
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
  page.on("request", (request) => request.url().split("#")[0] === own || problems.push(`request: ${request.url()}`));
  await page.goto(own + hash);
  await page.waitForSelector("#page > *");
  await frame(page);
  return { page, problems };
}
