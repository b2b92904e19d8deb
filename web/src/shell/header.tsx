// Which run the page is about.

import { date, duration } from "../data/quantity";
import type { Model } from "../data/page";
import { statusText, statusTone } from "../data/status";
import { toggleTheme } from "../data/theme";
import { Name, cut } from "../parts/name";

export function runName({ title, report }: Model): string {
  return title ?? report.session?.name ?? report.run.job_id ?? report.run.id;
}

export function Header({ model }: { model: Model }) {
  const { report, title } = model;
  const { run, status, session } = report;
  const facts: [string, string | null][] = [
    ["started", report.activity.start_unix_ns > 0 ? date(report.activity.start_unix_ns) : null],
    ["took", duration(run.wall_ns)],
    ["host", run.host],
    ["process", run.pid ? String(run.pid) : null],
    ["rank", run.rank === null ? null : `${run.rank} of ${run.world_size ?? "?"}`],
  ];
  return (
    <header>
      <div class="headline">
        <span class="brand">Marey</span>
        <h1>
          {session && <span class="muted">session </span>}
          <Name text={runName(model)} limit={80} />
        </h1>
        {/* A trace does not say how its program ended. */}
        {title === null && <span class={`pill ${statusTone(status)}`}>{cut(statusText(status), 120)}</span>}
      </div>
      <dl class="facts">
        {facts.map(
          ([what, value]) =>
            value !== null &&
            value !== "-" && (
              <div key={what}>
                <dt>{what}</dt>
                <dd>
                  <Name text={value} limit={40} />
                </dd>
              </div>
            ),
        )}
      </dl>
      <button type="button" class="quiet theme" title="Light or dark (t)" onClick={toggleTheme}>
        Theme
      </button>
    </header>
  );
}
