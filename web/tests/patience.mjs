// How tests wait: for what a page shows, frame by frame, never for a time.

import assert from "node:assert/strict";
import { inspect } from "node:util";

/** Milliseconds that whatever is waited for may take; a failure, not a measurement. */
export const PATIENCE = 120_000;

/** The next frame of a page, and the effects of components that follow it. */
export const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

/**
 * What `read(page)` gives, once it is as expected: equal, or a text that matches, or one that a function accepts. Looks again at every
 * frame, and fails with what was read last. What follows an action is read by this, or after it.
 */
export async function eventually(page, read, expected) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    try {
      const value = await read(page);
      check(value, expected);
      return value;
    } catch (error) {
      if (Date.now() > deadline) {
        throw error;
      }
    }
    await frame(page);
  }
}

/** Once the text of an element is as expected. */
export const says = (locator, expected) => eventually(locator.page(), () => locator.textContent(), expected);

function check(value, expected) {
  if (expected instanceof RegExp) {
    assert.match(value, expected);
  } else if (typeof expected === "function") {
    assert.ok(expected(value), `${inspect(value)} is not accepted by ${expected}`);
  } else {
    assert.deepEqual(value, expected);
  }
}
