// What tests of charts and flame graphs share.

/** The plot of the chart with this title: left edge and width of its plot area, on the page. */
export async function plotOf(page, title) {
  const canvas = page.locator(`[data-chart="${title}"] canvas`);
  await canvas.scrollIntoViewIfNeeded();
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

/** Key figures above a chart, by their names. */
export function factsOf(page, part) {
  return part
    .locator(".key-figures > div")
    .evaluateAll((all) => Object.fromEntries(all.map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent])));
}

/** How many pixels of a canvas have a colour of their own: something is drawn there. */
export function colours(canvas) {
  return canvas.evaluate((element) => {
    const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}
