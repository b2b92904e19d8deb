// A figure with its unit, as people read it.

import type { FigureUnit } from "../../model/page";
import { bytes, count, duration, number, percent, rate } from "./quantity";

const SHOWN: Record<FigureUnit, (value: number) => string> = {
  count: (value) => (Number.isInteger(value) ? count(value) : number(value)),
  ns: duration,
  bytes,
  bytes_per_second: (value) => `${bytes(value)}/s`,
  ratio: percent,
  per_second: (value) => rate(value, ""),
  celsius: (value) => `${value.toFixed(1)} °C`,
  watts: (value) => `${value.toFixed(1)} W`,
  joules: (value) => `${number(value)} J`,
  hertz: (value) => `${number(value / 1e6)} MHz`,
  number,
};

/** The figure; `-` when it is not known. */
export function figure(value: number | null | undefined, unit: FigureUnit): string {
  return value === null || value === undefined ? "-" : SHOWN[unit](value);
}
