// Charts of series, of the machine or the program: each a curve of what was read, with the figures that the report has of it.

import type { ComponentChildren } from "preact";

import type { Growth } from "../../model/page";
import { reading } from "../data/quantity";
import { type PanelUnit, wordOf } from "../data/series";
import { useAddress } from "../data/state";
import type { Track } from "../data/timeline";
import { Chart } from "./chart";
import type { Band, Line, Mark } from "./chart_drawing";
import { visible } from "./name";
import type { Colour } from "./palette";

/** Around a moment, for a link to it. */
const AROUND_NS = 50e6;

export type Panel = {
  title: string;
  unit: PanelUnit;
  /** Those that were read. */
  lines: Line[];
  height?: number;
  marks?: Mark[];
  /** When something about it was not as it should be, and what. */
  held?: { bands: readonly Band[]; what: string };
};

type Peaked = NonNullable<Line["figures"]> & { peak: { start_ns: number; end_ns: number } };

/** `subject` of the series, empty for the only one; `factor` from it to what is shown. */
type More = Partial<Pick<Line, "label" | "isDashed" | "isFilled">> & { subject?: string; factor?: number };

/** Makes lines of series, called as these are; none where the run has no such series. An empty name stands for figures only. */
export function lineOf(tracks: readonly Track[], series: string, colour: Colour, said?: Peaked | Growth | null, more: More = {}): Line[] {
  const { subject = "", factor = 1, label = wordOf(series), isDashed, isFilled } = more;
  const figures = said && "per_second" in said ? said.per_second : said;
  const peak = figures && ([Math.max(0, figures.peak.start_ns - AROUND_NS), figures.peak.end_ns + AROUND_NS] as const);
  const look = { label, colour, figures, isDashed, isFilled, peak: peak ?? undefined };
  const track = trackOf(tracks, series, subject);
  return track ? [trackLine(track, look, factor)] : series === "" && figures ? [{ ...look, at: [], values: [] }] : [];
}

export function trackOf(tracks: readonly Track[], name: string, subject: string): Track | undefined {
  return tracks.find((track) => track.name === name && track.subject === subject);
}

type PanelsProps = { panels: readonly Panel[]; wall: number; bands: readonly Band[]; title?: string; children?: ComponentChildren };

/** Panels of which the run has at least one line, under a title where there is one; nothing where there are none. */
export function Panels({ panels, title, children, ...shared }: PanelsProps) {
  const charts = panels.filter(({ lines }) => lines.some(isSeen)).map((panel) => <PanelChart key={panel.title} panel={panel} {...shared} />);
  if (title === undefined || charts.length === 0) {
    return <>{charts}</>;
  }
  return (
    <section class="group">
      <h2>
        {title} {children}
      </h2>
      {charts}
    </section>
  );
}

/** Something was read, and it was not all the time nothing; limits are no readings. */
function isSeen({ values, isDashed }: Line): boolean {
  return !isDashed && Array.from(values).some((value) => value > 0);
}

function PanelChart({ panel: { title, unit, held, ...more }, wall, bands }: { panel: Panel; wall: number; bands: readonly Band[] }) {
  const { zero } = useAddress();
  return (
    <Chart
      {...more}
      title={visible(title)}
      show={reading(unit)}
      wall={wall}
      bands={held ? [...bands, ...held.bands] : bands}
      limit={unit === "ratio" && zero !== "0" ? 1 : undefined}
      isSize={unit === "bytes" || unit === "bytes_per_second"}
    >
      {held && held.bands.length > 0 && (
        <p class="chart-note">
          <span class="band-mark held-down" /> {held.what}
        </p>
      )}
    </Chart>
  );
}

/** A rate holds up to its end, a reading of memory until the next one; what samplers read is joined. */
function trackLine(track: Track, look: Omit<Line, "at" | "values">, factor: number): Line {
  const { n, kind, start, end, mean, min, max } = track;
  // Where a rate is not known before the next one begins, its line breaks.
  const at: number[] = [];
  const places: (number | null)[] = [];
  for (let point = 0; point < n; point += 1) {
    at.push(start[point] as number);
    places.push(point);
    const isBroken = kind === "rate" && (point + 1 === n || (end[point] as number) < (start[point + 1] as number));
    if (isBroken) {
      at.push(end[point] as number, end[point] as number);
      places.push(point, null);
    }
  }
  const last = n - 1;
  if (kind === "memory" && n > 0 && (end[last] as number) > (start[last] as number)) {
    at.push(end[last] as number);
    places.push(last);
  }
  const of = (values: Float32Array) => places.map((point) => (point === null ? NaN : (values[point] as number) * factor));
  return {
    ...look,
    at,
    values: of(mean),
    range: min === mean ? undefined : { low: of(min), high: of(max) },
    style: kind === "rate" || kind === "memory" ? "steps" : "line",
    hasDots: kind === "memory" && n <= 200,
  };
}
