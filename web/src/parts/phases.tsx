// What ran when, at the top of charts over time: the outermost sections of each thread, over a time axis.

import { useMemo } from "preact/hooks";

import { indexAt } from "../data/columns";
import type { RunModel } from "../data/page";
import { duration } from "../data/quantity";
import { setState, useAddress, useWindow, zoomOut, zoomTo } from "../data/state";
import { useTimeline } from "../data/timeline";
import { threadsOf } from "../flame/time_order";
import { Canvas, drawPiece, fitted, PLOT_LEFT, plotOf, pointIn, type Span, spanOf, ticksOf, useView } from "./canvas";
import type { Band } from "./chart_drawing";
import { TimeLink, WholeButton, windowText } from "./controls";
import { visible } from "./name";
import { colourOfName, faded, type Palette } from "./palette";

/** Neighbouring outermost sections of one name. */
type Phase = { name: string; from: number; to: number; count: number };

type ThreadPhases = { title: string; phases: Phase[] };

/** What ran when: by thread, and that of the first thread as bands behind charts. */
export type Phases = { threads: ThreadPhases[]; bands: Band[] };

/** Neighbours of one name are one phase when less than this share of the run lies between them. */
const NEAR = 0.004;
const MOST_PHASES = 400;
const MOST_THREADS = 4;
const ROW = 17;
const AXIS = 18;

/** Phases of the threads that have any; those that began first come first. */
export function usePhases(model: RunModel): Phases {
  const slices = useTimeline(model)?.slices;
  const wall = model.pictures.wall_ns;
  return useMemo(() => {
    if (!slices) {
      return { threads: [], bands: [] };
    }
    const all = threadsOf(slices).slice(0, MOST_THREADS).map(({ title, rows: [row] }) => {
      const phases: Phase[] = [];
      for (let slice = row?.first ?? 0; slice < (row?.last ?? 0) && phases.length < MOST_PHASES; slice += 1) {
        const [name, from, to] = [slices.name(slice), slices.start[slice] as number, slices.end[slice] as number];
        const last = phases.at(-1);
        if (last && last.name === name && from - last.to < NEAR * wall) {
          last.to = to;
          last.count += 1;
        } else {
          phases.push({ name, from, to, count: 1 });
        }
      }
      return { title, phases };
    });
    const threads = all.filter(({ phases }) => phases.length > 0);
    return { threads, bands: (threads[0]?.phases ?? []).map(({ name, from, to }) => ({ from, to, colour: colourOfName(name) })) };
  }, [slices, wall]);
}

/** The strip above charts, with the window that they show. */
export function PhaseStrip({ wall, threads }: { wall: number; threads: readonly ThreadPhases[] }) {
  const { window, isZoomed } = useWindow(wall);
  const [from, to] = window;
  const { zero } = useAddress();
  const view = useView();
  const span = spanOf(window, view.width);
  const phaseAt = (event: MouseEvent) => {
    const { x, y } = pointIn(event);
    const thread = threads[Math.floor((y - AXIS) / ROW)];
    const at = span.at(x);
    const phase = thread?.phases[indexAt(thread.phases.map((p) => p.from), at)];
    return phase && at <= phase.to ? phase : null;
  };
  const summary = threads.flatMap(({ phases }) => phases).slice(0, 20).map((phase) => `${visible(phase.name)} ${duration(phase.to - phase.from)}`);
  return (
    <div class="chart phases">
      <Canvas
        view={view}
        class="chart-plot"
        label={`Phases: ${summary.join(", ")}`}
        tabIndex={-1}
        plotted={plotOf(wall, view.width)}
        height={AXIS + Math.max(1, threads.length) * ROW}
        draw={(ctx, palette) => draw(ctx, palette, threads, span, view.width)}
        onMouseMove={(event) => {
          const phase = phaseAt(event);
          event.currentTarget.title = phase ? `${visible(phase.name)}${phase.count > 1 ? ` (${phase.count})` : ""}: ${duration(phase.to - phase.from)}` : "";
        }}
        onClick={(event) => {
          const phase = phaseAt(event);
          if (phase) {
            zoomTo(phase.from, phase.to, wall);
          }
        }}
        onDblClick={zoomOut}
      />
      <div class="chart-side phases-side">
        <span class="muted">{isZoomed ? windowText(window) : `whole run, ${duration(wall)}`}</span>
        <span>
          <WholeButton isZoomed={isZoomed} />{" "}
          <button type="button" aria-pressed={zero !== "0"} title="Vertical axes begin at zero" onClick={() => setState({ zero: zero === "0" ? null : "0" })}>
            From zero
          </button>{" "}
          <TimeLink from={from} to={to}>
            Timeline
          </TimeLink>
        </span>
      </div>
    </div>
  );
}

function draw(ctx: CanvasRenderingContext2D, palette: Palette, threads: readonly ThreadPhases[], span: Span, width: number) {
  ctx.fillStyle = palette.muted;
  ctx.textAlign = "center";
  for (const { at, label } of ticksOf(span)) {
    ctx.fillText(label, Math.max(PLOT_LEFT + 8, Math.min(span.x(at), width - 24)), AXIS / 2);
  }
  for (const [n, { title, phases }] of threads.entries()) {
    const y = AXIS + n * ROW;
    if (threads.length > 1) {
      ctx.textAlign = "right";
      ctx.fillStyle = palette.muted;
      ctx.fillText(fitted(ctx, title, PLOT_LEFT - 10), PLOT_LEFT - 6, y + ROW / 2);
    }
    for (const { name, from, to, count } of phases) {
      const fill = faded(palette.series[colourOfName(name)] ?? palette.fg, 0.42);
      drawPiece(ctx, palette, span, { from, to, name: count > 1 ? `${name} × ${count}` : name, fill, least: 30 }, y, ROW - 2);
    }
  }
}
