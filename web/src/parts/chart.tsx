// A chart of lines over time (or over a number), with the figures of each line beside it. Charts of one `sync` share
// their cursor; dragging zooms all that are over time, because their window is in the address.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { moment, UNKNOWN } from "../data/quantity";
import { cleared, pointIn, useWidth } from "./canvas";
import { drawChart, PLOT_LEFT, PLOT_RIGHT, valueAt } from "./chart_drawing";
import { TimeLink } from "./link";
import { cssColour, usePalette } from "./palette";
import type { Line, Plot } from "./plot";
import { zoomByKey, zoomOut, zoomTo } from "./window";

type ChartProps = Plot & {
  title: string;
  /** What the chart says, for those who do not see it. */
  summary: string;
  sync: string;
  height?: number;
  children?: ComponentChildren;
};

export function Chart(props: ChartProps) {
  const { title, lines, show, window, wall, height = 104, showX = moment } = props;
  const [from, to] = window;
  const [host, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const palette = usePalette();
  const [cursor, setCursor] = useCursor(props.sync);
  const [dragged, setDragged] = useState<{ begin: number; end: number } | null>(null);
  const room = width - PLOT_LEFT - PLOT_RIGHT;
  useLayoutEffect(() => {
    if (canvas.current && room > 0) {
      drawChart(cleared(canvas.current, width, height), props, palette, width, height);
    }
  });
  const valueOf = (x: number) => from + ((x - PLOT_LEFT) / room) * (to - from);
  const placeOf = (at: number) => PLOT_LEFT + ((at - from) / (to - from)) * room;
  const under = (event: MouseEvent) => Math.max(PLOT_LEFT, Math.min(PLOT_LEFT + room, pointIn(host.current as Element, event).x));
  const moved = (event: MouseEvent) => {
    const x = under(event);
    setCursor(valueOf(x));
    setDragged(dragged && event.buttons & 1 ? { ...dragged, end: x } : null);
  };
  const released = () => {
    if (dragged && wall !== null && Math.abs(dragged.end - dragged.begin) > 3) {
      const ends = [valueOf(dragged.begin), valueOf(dragged.end)].sort((a, b) => a - b) as [number, number];
      zoomTo(...ends, wall);
    }
    setDragged(null);
  };
  const keyed = (event: KeyboardEvent) => {
    if (wall !== null && !event.ctrlKey && !event.metaKey && !event.altKey && zoomByKey(event.key, window, wall)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const isShown = cursor !== null && cursor >= from && cursor <= to;
  return (
    <section class="chart" data-chart={title}>
      <div class="chart-plot">
        <h3>{title}</h3>
        <div
          ref={host}
          class="chart-host"
          onMouseMove={moved}
          onMouseLeave={() => (setCursor(null), setDragged(null))}
          onMouseDown={(event) => event.button === 0 && wall !== null && setDragged({ begin: under(event), end: under(event) })}
          onMouseUp={released}
          onDblClick={() => wall !== null && zoomOut()}
        >
          <canvas ref={canvas} role="img" tabIndex={0} aria-label={`${title}. ${props.summary}`} onKeyDown={keyed} />
          {isShown ? <i class="chart-cursor" style={{ left: `${placeOf(cursor)}px` }} /> : null}
          {dragged ? (
            <i
              class="chart-selection"
              style={{ left: `${Math.min(dragged.begin, dragged.end)}px`, width: `${Math.abs(dragged.end - dragged.begin)}px` }}
            />
          ) : null}
        </div>
      </div>
      <div class="chart-side">
        <Side lines={lines} show={show} cursor={isShown ? cursor : null} showX={showX} />
        {props.children}
      </div>
    </section>
  );
}

type SideProps = { lines: readonly Line[]; show: (value: number) => string; cursor: number | null; showX: (at: number) => string };

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
                <td>
                  {line.figures && line.peak ? (
                    <TimeLink from={line.peak[0]} to={line.peak[1]}>
                      {shown(line.figures.max)}
                    </TimeLink>
                  ) : (
                    shown(line.figures?.max)
                  )}
                </td>
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
