// A time axis, with round numbers.

import { duration } from "../data/quantity";

/** Round times from 0 on, about `about` of them, none beyond `wall`. */
export function roundTimes(wall: number, about: number): number[] {
  if (!(wall > 0)) {
    return [];
  }
  const rough = wall / about;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((factor) => factor * size >= rough) ?? 10);
  return Array.from({ length: Math.floor(wall / step) + 1 }, (_, at) => at * step);
}

/** Labels above what is drawn over the whole run. */
export function TimeAxis({ wall }: { wall: number }) {
  return (
    <span class="axis" aria-hidden="true">
      {roundTimes(wall, 8)
        .filter((at) => at < wall * 0.97)
        .map((at) => (
          <span key={at} style={{ left: `${(at / wall) * 100}%` }}>
            {at === 0 ? "0" : duration(at).replace(/\.?0+ s$/, " s")}
          </span>
        ))}
    </span>
  );
}
