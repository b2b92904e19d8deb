// Numbers with units, as people read them; the same look as in marey-report's text.

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

/** A difference of sizes with its sign: `+4.0 KiB`. */
export function growth(difference: Maybe): string {
  return typeof difference === "number" && difference > 0 ? `+${bytes(difference)}` : bytes(difference);
}

/** A size with one decimal: `512 B`, `4.0 KiB`; with more where they tell it from one that is a `step` away. */
export function bytes(size: Maybe, step?: number): string {
  return known(size, (n) => {
    if (n < 0) {
      return `-${bytes(-n, step)}`;
    }
    if (n < 1024) {
      return `${n.toFixed(decimals(0, step))} B`;
    }
    let unitSize = 1;
    for (const unit of ["KiB", "MiB", "GiB"]) {
      n /= 1024;
      unitSize *= 1024;
      if (n < 1023.95) {
        return `${n.toFixed(decimals(1, step, unitSize))} ${unit}`;
      }
    }
    return `${(n / 1024).toFixed(decimals(1, step, unitSize * 1024))} TiB`;
  });
}

/** A ratio of 0 to 1 in percent with one decimal; of the figures of an axis with as many as its step has. */
export function percent(ratio: Maybe, step?: number): string {
  return known(ratio, (r) => (r > 0 && r < 0.0005 && step === undefined ? "<0.1 %" : `${(r * 100).toFixed(decimals(1, step, 0.01))} %`));
}

/** `least`, or as many as figures of a `size` have that are multiples of a step. Without a step: `least`. */
export function decimals(least: number, step: number | undefined, size = 1): number {
  const needed = step === undefined || !(step > 0) ? least : Math.ceil(-Math.log10(step / size) - 1e-9);
  return Math.min(9, Math.max(least, needed));
}

/** Things in a second, with two decimals, below 0.01 with four: `rate(2.5, "it")` is `2.50 it/s`. */
export function rate(perSecond: Maybe, of: string): string {
  return known(perSecond, (r) => `${r.toFixed(r < 0.01 ? 4 : 2)} ${of}/s`);
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
export function short(value: Maybe): string {
  return known(value, (n) => {
    for (const [unit, size] of [["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]] as const) {
      if (n >= size * 0.9995) {
        return `${threeDigits(n / size)} ${unit}`;
      }
    }
    return number(n);
  });
}

/** `1 section`, `2 sections`. */
export function counted(n: number, one: string, several: string): string {
  return `${count(n)} ${n === 1 ? one : several}`;
}

/** Wall clock of nanoseconds since 1970, in UTC: `2026-11-18 09:46:40 UTC`; unknown at 0. */
export function date(unixNs: Maybe): string {
  return known(unixNs || null, (ns) => {
    const at = new Date(ns / 1e6);
    return Number.isNaN(at.getTime()) ? UNKNOWN : `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  });
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
