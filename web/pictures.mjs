// Makes the pictures of docs/pictures, of the pages that the tests draw: `node pictures.mjs`. Needs chromium.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { drawn, launch, open } from "./tests/page.mjs";

const FOLDER = fileURLToPath(new URL("../docs/pictures", import.meta.url));

/** The file, the drawn run, the view of it, and how much of the view, in pixels. */
const PICTURES = [
  ["overview", "video", "overview"],
  ["timeline", "video", "timeline"],
  ["flame", "video", "flame", 260],
  ["steps", "video", "diffusion"],
  ["memory", "video", "memory"],
  ["machine", "machine", "machine"],
  ["comparison", "comparison", "overview"],
  ["trace", "trace", "timeline", 440],
];

mkdirSync(FOLDER, { recursive: true });
const browser = await launch();
for (const [name, kind, view, height = 620] of PICTURES) {
  const { page, problems } = await open(browser, drawn(kind), { hash: `#view=${view}`, viewport: { width: 1120, height } });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled" });
  if (problems.length) {
    throw new Error(`${name}: ${problems}`);
  }
  await page.close();
}
await browser.close();
process.exit();
