// The colours of the page, for canvases: what the style sheet's variables are at this moment.

import { useEffect, useState } from "preact/hooks";

import { colour, onThemeChange } from "../data/theme";

const NAMES = ["bg", "panel", "fg", "muted", "line", "accent", "good", "warn", "bad"] as const;

type Named = (typeof NAMES)[number];

/** Colours as canvases take them. */
export type Palette = Readonly<Record<Named, string>> & {
  /** Colours that tell things apart. */
  readonly series: readonly string[];
};

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

/** The number of the colour that a name has in charts and flame graphs. */
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
  const [palette, update] = useState(read);
  useEffect(() => onThemeChange(() => update(read())), []);
  return palette;
}

function read(): Palette {
  const named = Object.fromEntries(NAMES.map((name) => [name, colour(`--${name}`)])) as Record<Named, string>;
  return { ...named, series: Array.from({ length: 10 }, (_, n) => colour(`--c${n}`)) };
}
