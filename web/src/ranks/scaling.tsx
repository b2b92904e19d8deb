// World sizes against each other: what more ranks bring.

import { count, counted, duration, number, percent } from "../data/quantity";
import type { Scaling, ScalingRow } from "../data/ranks";
import { visible } from "../parts/name";
import { Chart } from "../parts/chart";
import type { Line } from "../parts/plot";
import { type Column, Table } from "../parts/table";

export function ScalingPart({ scaling }: { scaling: Scaling | null }) {
  if (!scaling || scaling.rows.length < 2) {
    return null;
  }
  const { rows, measure } = scaling;
  const sizes = rows.map(({ world_size }) => world_size);
  const [first, last] = [sizes[0] as number, sizes.at(-1) as number];
  const lines: Line[] = [
    { label: "measured", colour: 0, at: sizes, values: rows.map(({ speedup }) => speedup), hasDots: true },
    { label: "perfect", colour: "muted", isDashed: true, at: sizes, values: sizes.map((size) => size / first) },
  ];
  return (
    <section class="part" data-part="scaling">
      <h2>
        Scaling <span class="muted">{visible(measure)}</span>
      </h2>
      <Chart
        title="Speed-up by number of ranks"
        summary={rows.map(({ world_size, speedup }) => `${world_size} ranks ${speedup.toFixed(2)} ×`).join(", ")}
        lines={lines}
        show={(value) => `${number(Math.round(value * 100) / 100)} ×`}
        window={[first, last]}
        wall={null}
        showX={(size) => counted(Math.round(size), "rank", "ranks")}
        sync="scaling"
        height={170}
        hasX
      />
      <Table id="scaling" caption="World sizes" columns={COLUMNS} rows={rows} />
    </section>
  );
}

const COLUMNS: readonly Column<ScalingRow>[] = [
  { id: "world_size", title: "Ranks", isNumber: true, value: (row) => row.world_size, show: (row) => count(row.world_size) },
  { id: "n_jobs", title: "Jobs", isNumber: true, value: (row) => row.n_jobs, show: (row) => count(row.n_jobs) },
  { id: "duration_ns", title: "Takes", isNumber: true, value: (row) => row.duration_ns, show: (row) => duration(row.duration_ns) },
  { id: "speedup", title: "Speed-up", isNumber: true, value: (row) => row.speedup, show: (row) => `${row.speedup.toFixed(2)} ×` },
  { id: "shared_efficiency", title: "Efficiency, shared work", hint: "Where ranks share each generation: speed-up over the growth of the world", isNumber: true, value: (row) => row.shared_efficiency, show: (row) => percent(row.shared_efficiency) },
  { id: "own_efficiency", title: "Efficiency, own work", hint: "Where each rank makes its own", isNumber: true, value: (row) => row.own_efficiency, show: (row) => percent(row.own_efficiency) },
  { id: "communication_ratio", title: "Communication", hint: "Share of the steps' time", isNumber: true, value: (row) => row.communication_ratio, show: (row) => percent(row.communication_ratio) },
  { id: "waiting_ratio", title: "Of it waiting", isNumber: true, value: (row) => row.waiting_ratio, show: (row) => percent(row.waiting_ratio) },
];
