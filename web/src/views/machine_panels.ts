// The panels of the machine view: which series stands where, and which figures of the report are its own.

import type { Figures, GpuUse, Growth, Telemetry } from "../../model/page";
import { bytes, decimals, number, percent } from "../data/quantity";
import { wordOf } from "../data/series";
import { visible } from "../parts/name";
import type { Colour } from "../parts/palette";

/** A line that a panel would have. */
export type Wanted = {
  /** Name of the series, see `docs/measurement.md`; empty where there are figures only. */
  series: string;
  subject?: string;
  label: string;
  colour: Colour;
  figures?: Figures | null | undefined;
  /** From the series to what is shown. */
  factor?: number;
  isDashed?: boolean;
};

export type Panel = {
  title: string;
  /** With as many decimals as the step of an axis needs. */
  show: (value: number, step?: number) => string;
  /** The axis ends here. */
  limit?: number;
  /** The axis is of bytes, or of bytes a second. */
  isSize?: boolean;
  wanted: Wanted[];
  /** The GPU whose held down clocks are marked. */
  throttledGpu?: string;
};

/** Three digits are enough: 102.4 MiB is 102 MiB. */
const perSecond = (value: number, step?: number) => `${bytes(value, step).replace(/^\d{3,}\.\d(?!\d)/, (digits) => Number(digits).toFixed())}/s`;
const hertz = (value: number, step?: number) =>
  value === 0 || value >= 1e9 ? `${(value / 1e9).toFixed(decimals(2, step, 1e9))} GHz` : `${(value / 1e6).toFixed(decimals(0, step, 1e6))} MHz`;
const tenths = (value: number) => (value < 10 ? 1 : 0);
const watts = (value: number, step?: number) => `${value.toFixed(decimals(tenths(value), step))} W`;
const celsius = (value: number, step?: number) => `${value.toFixed(decimals(tenths(value), step))} °C`;
const cores = (value: number, step?: number) => value.toFixed(decimals(2, step));
const share = (value: number, step?: number) => (value === 0 ? "0 %" : value === 1 ? "100 %" : percent(value, step));
const rate = (growth: Growth | null | undefined) => growth?.per_second;

const named = (series: string) => ({ series, label: wordOf(series) });

export function gpuPanels(gpu: GpuUse): Panel[] {
  const of = (series: string, colour: Colour, figures: Figures | null | undefined, isDashed = false): Wanted => ({
    series,
    subject: gpu.uuid,
    label: wordOf(series),
    colour,
    figures,
    isDashed,
  });
  const other = (name: string) => gpu.others.find((metric) => metric.name === name)?.figures;
  return [
    {
      title: "Utilisation",
      show: share,
      limit: 1,
      wanted: [
        of("gpu.utilization", 0, gpu.utilization),
        of("gpu.sm.active", 2, other("gpu.sm.active")),
        of("gpu.tensor.active", 1, other("gpu.tensor.active")),
        of("gpu.dram.active", 3, other("gpu.dram.active")),
        of("gpu.memory_controller.utilization", 4, gpu.memory_controller),
      ],
    },
    {
      title: "Memory",
      show: bytes,
          isSize: true,
      wanted: [
        of("gpu.memory.used", 0, gpu.memory_used),
        of("gpu.memory.process", 2, gpu.memory_process),
        of("gpu.memory.total", "muted", gpu.memory_total, true),
      ],
    },
    {
      title: "Power",
      show: watts,
      wanted: [of("gpu.power", 1, gpu.power), of("gpu.power.limit", "muted", gpu.power_limit, true)],
    },
    {
      title: "Clocks",
      show: hertz,
      throttledGpu: gpu.uuid,
      wanted: [of("gpu.clock.sm", 6, gpu.clock_sm), of("gpu.clock.memory", 4, gpu.clock_memory)],
    },
    { title: "Temperature", show: celsius, wanted: [of("gpu.temperature", 5, gpu.temperature)] },
    {
      title: "PCIe",
      show: perSecond,
          isSize: true,
      wanted: [of("gpu.pcie.received", 0, gpu.pcie_received), of("gpu.pcie.sent", 1, gpu.pcie_sent)],
    },
  ];
}

export function hostPanels({ cpu, memory, disk, pressure, network }: Telemetry): { title: string; panels: Panel[] }[] {
  const ofAll = cpu?.n_cores ? 1 / cpu.n_cores : 1;
  return [
    {
      title: "Processor",
      panels: [
        {
          title: cpu?.n_cores ? `All ${cpu.n_cores} cores` : "Cores in use",
          show: cpu?.n_cores ? share : cores,
          ...(cpu?.n_cores ? { limit: 1 } : {}),
          wanted: [
            { ...named("host.cpu.busy"), colour: 0, figures: cpu?.busy_ratio, factor: ofAll },
            { ...named("host.cpu.iowait"), colour: 1, figures: cpu?.iowait_ratio, factor: ofAll },
            { ...named("host.cpu.steal"), colour: 5, figures: cpu?.steal_ratio, factor: ofAll },
          ],
        },
        {
          title: "This process, cores",
          show: cores,
          wanted: [
            { series: "", label: "together", colour: "muted", figures: cpu?.process?.cores },
            { ...named("process.cpu.user"), colour: 0 },
            { ...named("process.cpu.system"), colour: 5 },
            { ...named("children.cpu.time"), colour: 2, figures: cpu?.children_cores },
          ],
        },
        {
          title: "Load average",
          show: number,
          wanted: (cpu?.load ?? []).map(({ minutes, load }, at) => ({
            series: "host.load",
            subject: minutes,
            label: `${visible(minutes)} min`,
            colour: at,
            figures: load,
          })),
        },
      ],
    },
    {
      title: "Memory",
      panels: [
        {
          title: "Machine and process",
          show: bytes,
          isSize: true,
          wanted: [
            { ...named("host.memory.used"), colour: 0, figures: memory?.used },
            { ...named("process.memory.resident"), colour: 2, figures: memory?.process_resident },
            { ...named("children.memory.resident"), colour: 1, figures: memory?.children_resident },
            { ...named("cgroup.memory.used"), colour: 3, figures: memory?.cgroup_used },
            { ...named("cgroup.memory.limit"), colour: "muted", figures: memory?.cgroup_limit, isDashed: true },
          ],
        },
        {
          title: "Swap",
          show: bytes,
          isSize: true,
          wanted: [
            { ...named("host.swap.used"), colour: 3, figures: memory?.swap_used },
            { ...named("process.memory.swapped"), colour: 5, figures: memory?.process_swapped },
          ],
        },
        {
          title: "Swapping",
          show: perSecond,
          isSize: true,
          wanted: [
            { ...named("host.swap.in"), colour: 0, figures: rate(memory?.swapped_in) },
            { ...named("host.swap.out"), colour: 1, figures: rate(memory?.swapped_out) },
          ],
        },
      ],
    },
    {
      title: "Disks",
      panels: [
        {
          title: "This process",
          show: perSecond,
          isSize: true,
          wanted: [
            { ...named("process.disk.read"), colour: 0, figures: rate(disk?.process_read) },
            { ...named("process.disk.written"), colour: 1, figures: rate(disk?.process_written) },
            { ...named("process.io.read"), colour: 4, figures: rate(disk?.calls_read), isDashed: true },
          ],
        },
        ...(disk?.devices ?? []).flatMap(({ device, read, written, busy_ratio }): Panel[] => [
          {
            title: device,
            show: perSecond,
          isSize: true,
            wanted: [
              { ...named("disk.read"), subject: device, colour: 0, figures: rate(read) },
              { ...named("disk.written"), subject: device, colour: 1, figures: rate(written) },
            ],
          },
          {
            title: `${device} busy`,
            show: share,
            limit: 1,
            wanted: [{ ...named("disk.busy"), subject: device, colour: 6, figures: busy_ratio }],
          },
        ]),
      ],
    },
    {
      title: "Network",
      panels: network.map(({ interface: name, received, sent }) => ({
        title: name,
        show: perSecond,
          isSize: true,
        wanted: [
          { ...named("host.network.received"), subject: name, colour: 0, figures: rate(received) },
          { ...named("host.network.sent"), subject: name, colour: 1, figures: rate(sent) },
        ],
      })),
    },
    {
      title: "Waiting for the machine",
      panels: [
        {
          title: "Some task waited",
          show: share,
          limit: 1,
          wanted: [
            { ...named("pressure.cpu.some"), colour: 0, figures: pressure?.cpu_some },
            { ...named("pressure.io.some"), colour: 1, figures: pressure?.io_some },
            { ...named("pressure.memory.some"), colour: 3, figures: pressure?.memory_some },
          ],
        },
        {
          title: "All tasks waited",
          show: share,
          limit: 1,
          wanted: [
            { ...named("pressure.io.full"), colour: 1, figures: pressure?.io_full },
            { ...named("pressure.memory.full"), colour: 3, figures: pressure?.memory_full },
          ],
        },
      ],
    },
  ];
}
