// Figures of findings, in their units.

import { bytes, count, duration, number, percent, rate } from "../data/quantity";
import type { FigureUnit } from "../data/report";

export function figureText(value: number | null, unit: FigureUnit): string {
  switch (unit) {
    case "ns":
      return duration(value);
    case "bytes":
      return bytes(value);
    case "bytes_per_second":
      return value === null ? bytes(null) : `${bytes(value)}/s`;
    case "ratio":
      return percent(value);
    case "per_second":
      return rate(value, "").replace(" /s", " /s");
    case "celsius":
      return value === null ? number(null) : `${number(value)} °C`;
    case "watts":
      return value === null ? number(null) : `${number(value)} W`;
    case "count":
      return value !== null && Number.isInteger(value) ? count(value) : number(value);
    case "number":
      return number(value);
  }
}
