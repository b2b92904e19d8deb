// Values that a user attached to something.

import { UNKNOWN, number } from "../data/quantity";
import type { Value } from "../data/report";

/** The value as text, not safe to show as it is. */
export function valueText(value: Value): string {
  return value === null ? UNKNOWN : typeof value === "number" && !Number.isInteger(value) ? number(value) : String(value);
}
