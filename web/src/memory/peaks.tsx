// Who was there when memory was highest: the call path, what else was open, and the labelled readings around it.

import { bytes, moment, percent } from "../data/quantity";
import { placesOf } from "../data/places";
import type { LabelledReading, Report, SourceMemory } from "../data/report";
import { Facts } from "../diffusion/facts";
import type { Slices } from "../data/slices";
import { threadsOf } from "../flame/time_order";
import { TimeLink } from "../parts/link";
import { Name, Path } from "../parts/name";

export function Peaks({ report, slices }: { report: Report; slices: Slices | undefined }) {
  const { memory } = report;
  return (
    <div class="peaks">
      {memory?.sources.map((source) => (
        <Peak key={source.source} report={report} slices={slices} source={source} labelled={memory.labelled} />
      ))}
    </div>
  );
}

type PeakProps = { report: Report; slices: Slices | undefined; source: SourceMemory; labelled: readonly LabelledReading[] };

function Peak({ report, slices, source: { source, peak, counted_peak_bytes: counted, n_readings: readings }, labelled }: PeakProps) {
  const path = placesOf(report).path(peak.node);
  const wall = report.run.wall_ns;
  const own = labelled.filter((reading) => reading.source === source);
  const before = own.filter((reading) => reading.at_ns <= peak.at_ns).at(-1);
  const after = own.find((reading) => reading.at_ns > peak.at_ns);
  const others = slices ? openAt(slices, peak.at_ns, peak.node) : [];
  return (
    <article class="peak" data-peak={source}>
      <h3>
        <Name text={source} /> <span class="muted">{readings} readings</span>
      </h3>
      <Facts
        facts={[
          ["peak", counted === null ? null : bytes(counted)],
          ["highest reading", bytes(peak.allocated_bytes)],
          [
            "at",
            <TimeLink from={Math.max(0, peak.at_ns - wall / 100)} to={peak.at_ns + wall / 100}>
              {moment(peak.at_ns)}
            </TimeLink>,
          ],
          ["fragmented", peak.fragmentation_ratio === null ? null : percent(peak.fragmentation_ratio)],
        ]}
      />
      <dl class="pairs">
        <dt>During</dt>
        <dd>{path.length > 0 ? <Path names={path} /> : "no recorded section"}</dd>
        {others.map(({ thread, names }) => (
          <>
            <dt>
              Open in <Name text={thread} limit={24} />
            </dt>
            <dd>
              <Path names={names} />
            </dd>
          </>
        ))}
        {before ? <Around what="Labelled before" reading={before} /> : null}
        {after ? <Around what="Labelled after" reading={after} /> : null}
      </dl>
    </article>
  );
}

function Around({ what, reading }: { what: string; reading: LabelledReading }) {
  return (
    <>
      <dt>{what}</dt>
      <dd>
        <Name text={reading.label} limit={40} /> {bytes(reading.allocated_bytes)} at {moment(reading.at_ns)}
      </dd>
    </>
  );
}

/** Sections that are open at a moment, thread by thread, but for those of the call path that is known already. */
function openAt(slices: Slices, at: number, node: number | null): { thread: string; names: string[] }[] {
  return threadsOf(slices).flatMap(({ title, rows }) => {
    const open = rows.map((row) => ({ row, slice: slices.firstFrom(row, at) })).filter(({ row, slice }) => slice < row.last && (slices.start[slice] as number) <= at);
    // Paths of sections have the numbers of the run's nodes.
    const isKnown = open.some(({ slice }) => slices.path[slice] === node);
    return open.length > 0 && !isKnown ? [{ thread: title, names: open.map(({ slice }) => slices.name(slice)) }] : [];
  });
}
