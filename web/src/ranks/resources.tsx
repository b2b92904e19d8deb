// GPUs, and what each rank used of its machine.

import { bytes, number, percent } from "../data/quantity";
import type { Job, Machine, Range, RankGpu } from "../data/ranks";
import { Cards, known } from "../parts/facts";
import { type Column, Table } from "../parts/table";
import { Short, placesList, rankName } from "./words";

const SHOWN = 16;

export function ResourcesPart({ job }: { job: Job }) {
  const { gpus, ranks, gpu_memory_bytes: memory, gpu_utilization_ratio: busy, power_watts: power, energy_joules: energy } = job.resources;
  const used = ranks.filter(({ machine }) => MACHINE.some(({ value }) => value(machine) !== null));
  if (gpus.length === 0 && used.length === 0) {
    return (
      <section class="part">
        <h2>Resources</h2>
        <p class="muted">No rank recorded what its machine did.</p>
      </section>
    );
  }
  const facts = known([
    memory && { what: "GPU memory in use", value: span(memory, bytes), note: `mean ${bytes(memory.mean)}` },
    busy && { what: "GPU utilisation", value: span(busy, percent), note: `means of GPUs; mean ${percent(busy.mean)}` },
    power !== null && { what: "power of all GPUs", value: `${number(Math.round(power))} W` },
    energy !== null && { what: "energy of all GPUs", value: `${number(energy)} J` },
  ]);
  return (
    <section class="part" data-part="resources">
      {facts.length > 0 && (
        <>
          <h2>Resources</h2>
          <div class="after-table">
            <Cards facts={facts} />
          </div>
        </>
      )}
      {gpus.length > 0 && <Table id="gpus" caption="GPUs" columns={gpuColumns(job)} rows={gpus} first={SHOWN} />}
      {used.length > 0 && (
        <Table
          id="machine"
          caption="What ranks used"
          columns={[
            { id: "rank", title: "Rank", value: ({ place }) => job.members[place]?.rank ?? rankName(job, place), show: ({ place }) => rankName(job, place) },
            ...MACHINE.filter(({ value }) => used.some(({ machine }) => value(machine) !== null)).map(({ id, title, value, show }) => ({
              id,
              title,
              isNumber: true,
              value: ({ machine }: { machine: Machine }) => value(machine),
              show: ({ machine }: { machine: Machine }) => show(value(machine)),
            })),
          ]}
          rows={used}
          first={SHOWN}
        />
      )}
    </section>
  );
}

function span({ min, max }: Range, show: (value: number) => string): string {
  return `${show(min)} to ${show(max)}`;
}

type Figure = { id: string; title: string; value: (machine: Machine) => number | null; show: (value: number | null) => string };

const cores = (value: number | null) => value?.toFixed(2) ?? "-";

const MACHINE: readonly Figure[] = [
  { id: "cores_mean", title: "Cores, mean", value: (m) => m.process_cores?.mean ?? null, show: cores },
  { id: "cores_max", title: "Cores, max", value: (m) => m.process_cores?.max ?? null, show: cores },
  { id: "memory_peak_bytes", title: "Resident, peak", value: (m) => m.process_memory_peak_bytes, show: bytes },
  { id: "torch_allocated_peak_bytes", title: "torch allocated, peak", value: (m) => m.torch_allocated_peak_bytes, show: bytes },
  { id: "torch_reserved_peak_bytes", title: "torch reserved, peak", value: (m) => m.torch_reserved_peak_bytes, show: bytes },
  { id: "host_cpu_ratio", title: "Host CPU, mean", value: (m) => m.host_cpu_ratio?.mean ?? null, show: percent },
  { id: "host_memory_max_bytes", title: "Host memory, max", value: (m) => m.host_memory_bytes?.max ?? null, show: bytes },
];

function gpuColumns(job: Job): Column<RankGpu>[] {
  const figure = (id: string, title: string, value: (row: RankGpu) => number | null | undefined, show: (value: number | null | undefined) => string): Column<RankGpu> => ({
    id,
    title,
    isNumber: true,
    value: (row) => value(row) ?? null,
    show: (row) => show(value(row)),
  });
  const watts = (value: number | null | undefined) => (value == null ? "-" : `${value.toFixed(0)} W`);
  const celsius = (value: number | null | undefined) => (value == null ? "-" : `${value.toFixed(0)} °C`);
  return [
    { id: "ranks", title: "Of", value: ({ places }) => placesList(job, places) },
    { id: "name", title: "GPU", value: ({ gpu }) => gpu.name, show: ({ gpu }) => (gpu.name === null ? "-" : <Short text={gpu.name} />) },
    { id: "host", title: "Host", value: ({ host }) => host, show: ({ host }) => <Short text={host} /> },
    { id: "uuid", title: "UUID", value: ({ gpu }) => gpu.uuid, isExportOnly: true },
    figure("memory_mean_bytes", "Memory, mean", ({ gpu }) => gpu.memory_bytes?.mean, bytes),
    figure("memory_max_bytes", "max", ({ gpu }) => gpu.memory_bytes?.max, bytes),
    figure("memory_total_bytes", "of", ({ gpu }) => gpu.memory_total_bytes, bytes),
    figure("utilization_ratio", "Utilisation, mean", ({ gpu }) => gpu.utilization_ratio?.mean, percent),
    figure("power_mean_watts", "Power, mean", ({ gpu }) => gpu.power_watts?.mean, watts),
    figure("energy_joules", "Energy", ({ gpu }) => gpu.energy_joules, (value) => (value == null ? "-" : `${number(value)} J`)),
    figure("temperature_max_celsius", "Hottest", ({ gpu }) => gpu.temperature_celsius?.max, celsius),
    {
      id: "thermal_risk",
      title: "Heat",
      value: ({ gpu }) => gpu.is_at_thermal_risk,
      show: ({ gpu }) => (gpu.is_at_thermal_risk === null ? "-" : gpu.is_at_thermal_risk ? <span class="pill warn">at risk</span> : <span class="muted">fine</span>),
    },
  ];
}
