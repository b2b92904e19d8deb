// A page in headless Chromium, opened from a file. The drawn runs come from the example `report_page` of marey-report.

import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

const folder = mkdtempSync(join(tmpdir(), "marey-page-"));
const made = new Map();

/** The file of a drawn run: `video`, `hostile` or `million`. */
export function drawn(kind) {
  if (!made.has(kind)) {
    const path = join(folder, `${kind}.html`);
    const command = ["run", "--quiet", "--release", "--locked", "-p", "marey-report", "--example", "report_page", "--", kind, path];
    execFileSync("cargo", command, { cwd: new URL("../..", import.meta.url), stdio: ["ignore", "inherit", "inherit"] });
    made.set(kind, path);
  }
  return made.get(kind);
}

export function launch() {
  // Inside containers Chromium's own sandbox cannot be set up.
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
}

/**
 * Opens a file's page. `problems` collects whatever must not happen: errors of the script, of the policy, and every request but
 * that of the file itself.
 */
export async function open(browser, path, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  const problems = [];
  const own = pathToFileURL(path).href;
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
  page.on("request", (request) => request.url().split("#")[0] === own || problems.push(`request: ${request.url()}`));
  await page.goto(own + hash);
  await page.waitForSelector("#page > *");
  return { page, problems };
}
