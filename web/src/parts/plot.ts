// What a chart draws: lines, bands behind them, marks on the x axis.

import type { Colour } from "./palette";
import type { Window } from "./window";

/** One line. */
export type Line = {
  /** Empty for a line that another one stands for. */
  label: string;
  colour: Colour;
  /** Ascending. */
  at: ArrayLike<number>;
  /** NaN where nothing is known. */
  values: ArrayLike<number>;
  /** Lowest and highest of what a point stands for. */
  range?: { low: ArrayLike<number>; high: ArrayLike<number> } | undefined;
  /** A step holds until the next point. */
  style?: "line" | "steps" | "points" | "bars" | undefined;
  isDashed?: boolean | undefined;
  isFilled?: boolean | undefined;
  /** Each point is marked. */
  hasDots?: boolean | undefined;
  /** Shown beside the chart; the model made them. */
  figures?: { min: number | null; mean: number | null; max: number } | null | undefined;
  /** When the highest figure was: a part of the timeline. */
  peak?: Window | undefined;
};

/** A part of the x axis with a colour behind the lines. */
export type Band = { from: number; to: number; colour: Colour; isStrong?: boolean };

/** A point of the x axis. */
export type Mark = { at: number; label: string; colour: Colour };

/** What a chart draws. */
export type Plot = {
  lines: readonly Line[];
  /** A value; on the axis, whose figures are a step apart, with as many decimals as tell them apart. */
  show: (value: number, step?: number) => string;
  window: Window;
  /** End of the run; null when the x axis is not its time. */
  wall: number | null;
  /** The x axis is of time; absent: of that of the run, where there is one. */
  isTime?: boolean;
  /** What the cursor and the ticks of an x axis say that is no time. */
  showX?: (value: number) => string;
  bands?: readonly Band[];
  marks?: readonly Mark[];
  /** The y axis ends here, whatever the values are. */
  limit?: number | undefined;
  isFromZero?: boolean;
  /** The y axis is of bytes. */
  isSize?: boolean;
  /** Ticks of the x axis have their figures. */
  hasX?: boolean;
};
