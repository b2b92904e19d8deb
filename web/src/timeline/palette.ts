// The colours of the page, for what is drawn on a canvas; read anew at each draw, because the theme may change.

/** How many colours tell names apart. */
export const COLOURS = 8;

export type Palette = {
  bg: string;
  panel: string;
  fg: string;
  muted: string;
  line: string;
  accent: string;
  bad: string;
  warn: string;
  /** Of sessions. */
  session: string;
  /** Of names; and what is written on each. */
  fills: string[];
  inks: string[];
};

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
  const fills = Array.from({ length: COLOURS }, (_, n) => read(`--c${n}`, "#3b78b5"));
  return {
    bg: read("--bg", "#ffffff"),
    panel: read("--panel", "#f6f7f8"),
    fg: read("--fg", "#1b2128"),
    muted: read("--muted", "#5c6873"),
    line: read("--line", "#dde1e5"),
    accent: read("--accent", "#1f5fa8"),
    bad: read("--bad", "#b3362b"),
    warn: read("--warn", "#9a6200"),
    session: read("--c8", "#68747f"),
    fills,
    inks: fills.map(ink),
  };
}

/** Black or white, whichever is easier to read on a colour written as `#rrggbb`. */
export function ink(fill: string): string {
  const parts = /^#(..)(..)(..)$/.exec(fill);
  if (!parts) {
    return "#ffffff";
  }
  const [r = 0, g = 0, b = 0] = parts.slice(1).map((hex) => (Number.parseInt(hex, 16) / 255) ** 2.2);
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  // Where the contrast (WCAG 2.1) against either is the same.
  return luminance > 0.179 ? "#0c1116" : "#ffffff";
}
