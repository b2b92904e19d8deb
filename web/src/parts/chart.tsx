// A chart of lines over time (or over a number), with the figures of each line beside it. Charts of one `sync` share
// their cursor; dragging zooms all that are over time, because their window is in the address.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { moment, type Show, UNKNOWN } from "../data/quantity";
import { useRange } from "../data/selection";
import { useAddress, useWindow, type Window, zoomByKey, zoomOut, zoomTo } from "../data/state";
import { Canvas, PLOT_LEFT, PLOT_RIGHT, plotOf, spanOf, useView } from "./canvas";
import { drawChart, type Line, type Plot, valueAt } from "./chart_drawing";
import { TimeLink } from "./controls";
import { cssColour } from "./palette";

type ChartProps = Omit<Plot, "window" | "isFromZero"> & {
  title: string;
  /** What the chart says, for those who do not see it; absent: how high its lines are. */
  summary?: string;
  /** What is shown where the x axis is not time of the run. */
  window?: Window;
  /** Of the charts with which it shares its cursor, where they are not all that are over the time of the run. */
  sync?: string;
  height?: number;
  children?: ComponentChildren;
};

export function Chart(props: ChartProps) {
  const { title, lines, show, wall, height = 104, showX = moment, sync = "time", children } = props;
  const { summary = lines.map(({ label, figures }) => (figures ? `${label}: at most ${show(figures.max)}` : label)).join(". ") } = props;
  const { zero } = useAddress();
  const range = useRange();
  const ranged = range && wall !== null ? [{ from: range[0], to: range[1], colour: "accent" as const, isStrong: true }] : [];
  const run = useWindow(wall ?? 0).window;
  const window = (wall === null && props.window) || run;
  const [from, to] = window;
  const view = useView();
  const [cursor, setCursor] = useCursor(sync);
  const span = spanOf(window, view.width);
  const valueOf = (x: number) => span.at(Math.max(PLOT_LEFT, Math.min(view.width - PLOT_RIGHT, x)));
  const isShown = cursor !== null && cursor >= from && cursor <= to;
  return (
    <section class="chart" data-chart={title}>
      <div class="chart-plot">
        <h3>{title}</h3>
        <Canvas
          view={view}
          class="chart-host"
          label={`${title}. ${summary}`}
          height={height}
          draw={(ctx, palette) => drawChart(ctx, { ...props, window, bands: [...(props.bands ?? []), ...ranged], isFromZero: zero !== "0" }, palette, view.width, height)}
          onPoint={(point) => setCursor(point && valueOf(point.x))}
          plotted={wall !== null && plotOf(wall, view.width)}
          onSpan={wall === null ? undefined : (left, right) => zoomTo(valueOf(left), valueOf(right), wall)}
          onDblClick={() => wall !== null && zoomOut()}
          onKey={(key) => wall !== null && zoomByKey(key, window, wall)}
        >
          {isShown && <i class="chart-cursor" style={{ left: `${span.x(cursor)}px` }} />}
        </Canvas>
      </div>
      <div class="chart-side">
        <Side lines={lines} show={show} cursor={isShown ? cursor : null} showX={showX} />
        {children}
      </div>
    </section>
  );
}

type SideProps = { lines: readonly Line[]; show: Show; cursor: number | null; showX: (at: number) => string };

/** The figures of each line, and its value under the cursor. */
function Side({ lines, show, cursor, showX }: SideProps) {
  const hasFigures = lines.some((line) => line.figures);
  const shown = (value: number | null | undefined) => (value !== undefined && value !== null && Number.isFinite(value) ? show(value) : UNKNOWN);
  return (
    <table class="chart-figures">
      <thead>
        <tr>
          <th scope="col" />
          {hasFigures ? ["min", "mean", "max"].map((name) => <th scope="col">{name}</th>) : null}
          <th scope="col" class="chart-at">
            {cursor === null ? "" : showX(cursor)}
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.filter(({ label }) => label !== "").map((line) => (
          <tr>
            <th scope="row" title={line.label}>
              <span class={`line-mark${line.isDashed ? " dashed" : ""}`} style={{ color: cssColour(line.colour) }} />
              <bdi>{line.label}</bdi>
            </th>
            {hasFigures ? (
              <>
                <td>{shown(line.figures?.min)}</td>
                <td>{shown(line.figures?.mean)}</td>
                <td>{line.peak ? <TimeLink from={line.peak[0]} to={line.peak[1]}>{shown(line.figures?.max)}</TimeLink> : shown(line.figures?.max)}</td>
              </>
            ) : null}
            <td class="chart-at">{cursor === null || line.at.length === 0 ? "" : shown(valueAt(line, cursor))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Listener = (at: number | null) => void;

const cursors = new Map<string, Set<Listener>>();

/** Where the pointer is in any of the charts of one name. */
function useCursor(sync: string): [number | null, Listener] {
  const [at, setAt] = useState<number | null>(null);
  useEffect(() => {
    const listeners = cursors.get(sync) ?? new Set();
    cursors.set(sync, listeners.add(setAt));
    return () => {
      listeners.delete(setAt);
    };
  }, [sync]);
  return [at, (value) => cursors.get(sync)?.forEach((listener) => listener(value))];
}
