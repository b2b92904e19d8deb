// The colours of the page, for canvases: what the style sheet's variables are at this moment.

import { useEffect, useState } from "preact/hooks";

import { onThemeChange } from "../data/theme";

const NAMES = ["bg", "panel", "fg", "muted", "line", "accent", "good", "warn", "bad"] as const;

type Named = (typeof NAMES)[number];

/** Colours as canvases take them. */
export type Palette = Readonly<Record<Named, string>> & {
  /** Colours that tell things apart, and what is written on each. */
  readonly series: readonly string[];
  readonly inks: readonly string[];
};

/** Of so many names, those that took the most time, each has a colour of its own. */
const OWN = 8;
export const SESSION_COLOUR = 8;

/** The name of a colour: one of the palette's, or the number of a series. */
export type Colour = Named | number;

export function colourOf(palette: Palette, colour: Colour): string {
  return typeof colour === "number" ? (palette.series[colour % palette.series.length] ?? palette.fg) : palette[colour];
}

/** The same colour for elements. */
export function cssColour(colour: Colour): string {
  return typeof colour === "number" ? `var(--c${colour % 10})` : `var(--${colour})`;
}

/** A colour with some of it taken away. */
export function faded(colour: string, part: number): string {
  return `color-mix(in srgb, ${colour} ${Math.round(part * 100)}%, transparent)`;
}

const numbers = new Map<string, number>();

/** Gives names the colours that they have all over the page. */
export function giveColours(paths: readonly { name: string; inclusive_ns: number }[]): void {
  const times = new Map<string, number>();
  for (const { name, inclusive_ns } of paths) {
    times.set(name, (times.get(name) ?? 0) + inclusive_ns);
  }
  const ranked = [...times].sort((a, b) => b[1] - a[1]);
  ranked.forEach(([name], rank) => numbers.set(name, rank % OWN));
}

/** The number of the colour that a name has: one that was given to it, or one made of its letters. */
export function colourOfName(name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) {
    return known;
  }
  let hash = 2_166_136_261;
  for (let at = 0; at < name.length; at += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 16_777_619);
  }
  const number = (hash >>> 8) % 10;
  numbers.set(name, number);
  return number;
}

/** The colours, for a component that is drawn anew when the theme changes. */
export function usePalette(): Palette {
  const [palette, update] = useState(readPalette);
  useEffect(() => onThemeChange(() => update(readPalette())), []);
  return palette;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const named = Object.fromEntries(NAMES.map((name) => [name, colour(name)])) as Record<Named, string>;
  const series = Array.from({ length: 10 }, (_, n) => colour(`c${n}`));
  return { ...named, series, inks: series.map((fill) => colour(isBright(fill) ? "ink-dark" : "ink-light")) };
}

/** Whether black is easier to read than white on a colour written as `#rrggbb`. */
function isBright(fill: string): boolean {
  const [r = 0, g = 0, b = 0] = (/^#(..)(..)(..)$/.exec(fill) ?? []).slice(1).map((hex) => (Number.parseInt(hex, 16) / 255) ** 2.2);
  // Where the contrast (WCAG 2.1) against either is the same.
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179;
}
