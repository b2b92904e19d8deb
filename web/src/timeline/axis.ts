// Marks on the time axis at round moments.

const UNITS = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
] as const;

/** The distance of marks, 1, 2 or 5 times a power of ten, of which at most `most` fit into a length. */
export function tickStep(length: number, most: number): number {
  const least = length / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((times) => times * power >= least * (1 - 1e-9)) ?? 10;
  return Math.max(1, step * power);
}

/** Moments of a window that are multiples of a step. */
export function ticks(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => (first + n) * step);
}

/** A moment with as many decimals as tell it from one that is a step away; in the unit that suits `largest`. */
export function momentText(t: number, step: number, largest: number): string {
  const [name, size] = UNITS.find(([, size]) => largest >= size) ?? UNITS[3];
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(t / size).toFixed(decimals)} ${name}`;
}
