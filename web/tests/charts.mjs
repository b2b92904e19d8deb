// What tests of charts and flame graphs share.

import { frame } from "./patience.mjs";

/** The strip of phases, once the timeline is read: what is below it has its place then. */
export const PHASES = '.phases canvas:not([aria-label="Phases: "])';

/** The plot of the chart with this title: left edge and width of its plot area, on the page. */
export async function plotOf(page, title) {
  const canvas = page.locator(`[data-chart="${title}"] canvas`);
  await canvas.scrollIntoViewIfNeeded();
  // What listens to the pointer is there one frame after the chart.
  await frame(page);
  const box = await canvas.boundingBox();
  // Room for the figures of the y axis, and air at the right.
  return { left: box.x + 64, width: box.width - 64 - 14, top: box.y, height: box.height };
}

/** Points at a part of a chart, 0 to 1 from its left edge. */
export async function pointAt(page, title, part) {
  const { left, width, top, height } = await plotOf(page, title);
  await page.mouse.move(left + width * part, top + height / 2);
}

/** What the table beside a chart says: the texts of each row. */
export function figuresOf(page, title) {
  return page.locator(`[data-chart="${title}"] .chart-figures tbody tr`).evaluateAll((rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent.trim())),
  );
}

/** The rows of a table, by its id. */
export function rowsOf(page, id) {
  return page.locator(`table[aria-labelledby="table-${id}"] tbody tr`).evaluateAll((rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent.trim())),
  );
}

/** The colour of a canvas at a point of it, in pixels of the page. */
export function colourAt(canvas, x, y) {
  return canvas.evaluate(
    (element, [x, y]) => {
      const sharpness = element.width / element.clientWidth;
      return [...element.getContext("2d").getImageData(x * sharpness, y * sharpness, 1, 1).data].slice(0, 3).join();
    },
    [x, y],
  );
}
