// Numbers with units, as people read them; the same look as in marey-report's text.

import type { Cell, FigureUnit } from "../../model/page";

/** Shown where a figure is not known. */
export const UNKNOWN = "-";

type Maybe = number | null | undefined;

function known(value: Maybe, show: (value: number) => string): string {
  return value === null || value === undefined || !Number.isFinite(value) ? UNKNOWN : show(value);
}

/** A duration with three significant digits, from 1 s on with three decimals: `812 ns`, `5.20 µs`, `48.1 ms`, `3.769 s`. */
export function duration(ns: Maybe): string {
  return known(ns, (n) => {
    if (n < 0) {
      return `-${duration(-n)}`;
    }
    // Limits are where rounding reaches the next unit.
    if (n < 999.5) {
      return `${n.toFixed(0)} ns`;
    }
    if (n < 999_500) {
      return `${threeDigits(n / 1e3)} µs`;
    }
    return n < 999_500_000 ? `${threeDigits(n / 1e6)} ms` : `${(n / 1e9).toFixed(3)} s`;
  });
}

/** A moment of the run, in seconds with three decimals. */
export function moment(ns: Maybe): string {
  return known(ns, (n) => `${(n / 1e9).toFixed(3)} s`);
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A size with one decimal: `512 B`, `4.0 KiB`; with more where they tell it from one that is a `step` away. */
export function bytes(size: Maybe, step?: number): string {
  return known(size, (n) => {
    if (n < 0) {
      return `-${bytes(-n, step)}`;
    }
    // Limits are where rounding reaches the next unit.
    let [at, unitSize] = [0, 1];
    while (n / unitSize >= (at === 0 ? 1024 : 1023.95) && at < SIZES.length - 1) {
      at += 1;
      unitSize *= 1024;
    }
    return `${(n / unitSize).toFixed(decimals(Math.min(at, 1), step, unitSize))} ${SIZES[at]}`;
  });
}

/** A ratio of 0 to 1 in percent with one decimal; of the figures of an axis with as many as its step has. */
export function percent(ratio: Maybe, step?: number): string {
  return known(ratio, (r) => (r > 0 && r < 0.0005 && step === undefined ? "<0.1 %" : `${(r * 100).toFixed(decimals(1, step, 0.01))} %`));
}

/** `least`, or as many as figures of a `size` have that are multiples of a step. Without a step: `least`. */
function decimals(least: number, step: number | undefined, size = 1): number {
  const needed = step === undefined || !(step > 0) ? least : Math.ceil(-Math.log10(step / size) - 1e-9);
  return Math.min(9, Math.max(least, needed));
}


/** A number of any size with at most six significant digits: `4`, `0.125`, `1234.57`, `1.5e-7`. */
export function number(value: Maybe): string {
  return known(value, (n) => {
    const size = Math.abs(n);
    if (size !== 0 && (size < 1e-4 || size >= 1e15)) {
      return n.toExponential(5).replace(/\.?0+e\+?/, "e");
    }
    return size >= 99_999.5 ? n.toFixed(0) : String(Number(n.toPrecision(6)));
  });
}

/** A whole number in groups of three digits. */
export function count(value: Maybe): string {
  return known(value, (n) => n.toFixed(0).replace(/\B(?=(\d{3})+$)/g, "\u2009"));
}

/** Large counts in short: `1.30 G`, for parameters and operations. */
function short(n: number): string {
  const found = ([["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]] as const).find(([, size]) => n >= size * 0.9995);
  return found ? `${threeDigits(n / found[1])} ${found[0]}` : number(n);
}

/** `1 section`, `2 sections`. */
export function counted(n: number, one: string, several: string): string {
  return `${count(n)} ${n === 1 ? one : several}`;
}

/** A ratio as a change: `+5.2 %`, `-98.6 %`, from twice as much on `×8.56`. */
export function change(ratio: Maybe): string {
  return known(ratio, (r) => {
    if (r >= 1.995) {
      return `×${r.toFixed(r < 9.995 ? 2 : 1)}`;
    }
    const percents = (r - 1) * 100;
    // What is rounded away has no sign.
    return Math.abs(percents) < 0.05 ? "0.0 %" : `${percents > 0 ? "+" : ""}${percents.toFixed(1)} %`;
  });
}

/** A number of 1 to 999.5. */
function threeDigits(n: number): string {
  return n.toFixed(n < 9.995 ? 2 : n < 99.95 ? 1 : 0);
}

/** Operations with three digits: `930 MFLOP`, `41.3 TFLOP/s`. */
function operations(n: number, unit: string): string {
  const found = ([[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"]] as const).find(([size]) => n >= size * 0.9995);
  return found === undefined || n >= found[0] * 999.5 ? `${number(n)} ${unit}` : `${threeDigits(n / found[0])} ${found[1]}${unit}`;
}

/** Units whose value is one number. */
export type Unit = FigureUnit | Extract<Cell, { value: number }>["unit"];

const FIGURES: Record<Unit, (value: number) => string> = {
  count: (value) => (Number.isInteger(value) ? count(value) : number(value)),
  duration,
  ns: duration,
  mean: duration,
  moment,
  bytes,
  bytes_per_second: (value) => `${bytes(value)}/s`,
  growth: (value) => `${value > 0 ? "+" : ""}${bytes(value)}`,
  ratio: percent,
  change,
  // Below 0.01 with more digits.
  per_second: (value) => `${value.toFixed(value < 0.01 ? 4 : 2)} /s`,
  celsius: (value) => `${value.toFixed(1)} °C`,
  watts: (value) => `${value.toFixed(1)} W`,
  joules: (value) => `${number(value)} J`,
  hertz: (value) => `${number(value / 1e6)} MHz`,
  parameters: short,
  flops: (value) => operations(value, "FLOP"),
  flops_per_second: (value) => operations(value, "FLOP/s"),
  number,
};

/** A figure of a table. */
export function figure(value: Maybe, unit: Unit): string {
  return known(value, FIGURES[unit]);
}

/** A value; of the figures of an axis, which are a step apart, with as many decimals as tell them apart. */
export type Show = (value: number, step?: number) => string;

const tenths = (value: number) => (value < 10 ? 1 : 0);

const READINGS: Record<string, Show> = {
  bytes,
  // Three digits are enough: 102.4 MiB is 102 MiB.
  bytes_per_second: (value, step) => `${bytes(value, step).replace(/^\d{3,}\.\d(?!\d)/, (digits) => Number(digits).toFixed())}/s`,
  ratio: (value, step) => (value === 0 ? "0 %" : value === 1 ? "100 %" : percent(value, step)),
  seconds: (value) => duration(value * 1e9),
  celsius: (value, step) => `${value.toFixed(decimals(tenths(value), step))} °C`,
  watts: (value, step) => `${value.toFixed(decimals(tenths(value), step))} W`,
  hertz: (value, step) => {
    const [unit, size, least] = value === 0 || value >= 1e9 ? ["GHz", 1e9, 2] as const : ["MHz", 1e6, 0] as const;
    return `${(value / size).toFixed(decimals(least, step, size))} ${unit}`;
  },
  cores: (value, step) => value.toFixed(decimals(2, step)),
  joules: (value) => `${fourDigits(value)} J`,
  per_second: (value) => `${fourDigits(value)} /s`,
};

/** How readings of a unit are written, on curves and their axes. */
export function reading(unit: string): Show {
  return READINGS[unit] ?? fourDigits;
}

/** Floats of 32 bits have no more than seven. */
function fourDigits(value: number): string {
  return number(Number(value.toPrecision(4)));
}
