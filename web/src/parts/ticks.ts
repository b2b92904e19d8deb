// Where an axis has its ticks, and what they say. Times are nanoseconds.

const SECOND = 1e9;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Steps beyond ten seconds that people read easily; below, and beyond a day, powers of ten count. */
const LONG_STEPS = [10 * SECOND, 15 * SECOND, 30 * SECOND, ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE), ...[1, 2, 6, 12, 24].map((n) => n * HOUR)];

/** The smallest of 1, 2, 5, 10, 20 … that is at least `wanted`. */
export function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * ([1, 2, 5].find((n) => n * power >= wanted) ?? 10);
}

/** The smallest step that leaves `least` pixels between two ticks of time. */
export function timeStep(span: number, pixels: number, least: number): number {
  const wanted = (span / Math.max(1, pixels)) * least;
  return (wanted > 5 * SECOND ? LONG_STEPS.find((step) => step >= wanted) : undefined) ?? Math.max(1, roundStep(wanted));
}

/** The same for sizes: a power of two. */
export function sizeStep(wanted: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, wanted)));
}

/** Multiples of the step from one end to the other. */
export function ticks(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.max(0, Math.floor(to / step + 1e-9) - first + 1);
  return Array.from({ length: Math.min(count, 1000) }, (_, n) => (first + n) * step);
}

/** What a tick of time says: as many digits as tell it from its neighbour. */
export function timeLabel(at: number, step: number): string {
  if (step >= SECOND && Math.abs(at) >= 2 * MINUTE) {
    const seconds = Math.round(at / SECOND);
    const pad = (n: number) => String(n).padStart(2, "0");
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds % 60)} h` : `${minutes}:${pad(seconds % 60)} min`;
  }
  const [size, unit] = at === 0 || Math.abs(at) >= SECOND || step >= SECOND / 10 ? [SECOND, "s"] : Math.abs(at) >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / step) - 1e-9)));
  return `${(at / size).toFixed(at === 0 ? 0 : digits)} ${unit}`;
}

/** A figure of an axis, without zeros at its end. */
export function tickLabel(text: string): string {
  return text.replace(/(\.\d*?)0+(?=[ /]|$)/, "$1").replace(/\.(?=[ /]|$)/, "");
}
