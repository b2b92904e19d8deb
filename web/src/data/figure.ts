// A figure with its unit, as people read it.

import { bytes, count, duration, number, percent, rate } from "./quantity";
import type { Unit } from "./comparison";
import type { FigureUnit } from "./report";

const SHOWN: Record<FigureUnit | Unit, (value: number) => string> = {
  count: (value) => (Number.isInteger(value) ? count(value) : number(value)),
  ns: duration,
  seconds: (value) => duration(value * 1e9),
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
export function figure(value: number | null | undefined, unit: FigureUnit | Unit): string {
  return value === null || value === undefined ? "-" : SHOWN[unit](value);
}
