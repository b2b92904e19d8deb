// The panels of the machine view: which series stands where, and which figures of the report are its own.

import { bytes, number, percent } from "../data/quantity";
import type { Figures, GpuUse, Growth, Telemetry } from "../data/report";
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
  show: (value: number) => string;
  /** The axis ends here. */
  limit?: number;
  /** The axis is of bytes, or of bytes a second. */
  isSize?: boolean;
  wanted: Wanted[];
  /** The GPU whose held down clocks are marked. */
  throttledGpu?: string;
};

/** Three digits are enough: 102.4 MiB is 102 MiB. */
const perSecond = (value: number) => `${bytes(value).replace(/^\d{3,}\.\d/, (digits) => Number(digits).toFixed())}/s`;
const hertz = (value: number) => (value === 0 || value >= 1e9 ? `${(value / 1e9).toFixed(2)} GHz` : `${(value / 1e6).toFixed(0)} MHz`);
const watts = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} W`;
const celsius = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} °C`;
const cores = (value: number) => value.toFixed(2);
const share = (value: number) => (value === 0 ? "0 %" : value === 1 ? "100 %" : percent(value));
const rate = (growth: Growth | null | undefined) => growth?.per_second;

export function gpuPanels(gpu: GpuUse): Panel[] {
  const of = (series: string, label: string, colour: Colour, figures: Figures | null | undefined, isDashed = false): Wanted => ({
    series,
    subject: gpu.uuid,
    label,
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
        of("gpu.utilization", "a kernel ran", 0, gpu.utilization),
        of("gpu.sm.active", "multiprocessors", 2, other("gpu.sm.active")),
        of("gpu.tensor.active", "tensor cores", 1, other("gpu.tensor.active")),
        of("gpu.dram.active", "memory bandwidth", 3, other("gpu.dram.active")),
        of("gpu.memory_controller.utilization", "memory in use", 4, gpu.memory_controller),
      ],
    },
    {
      title: "Memory",
      show: bytes,
          isSize: true,
      wanted: [
        of("gpu.memory.used", "used by all", 0, gpu.memory_used),
        of("gpu.memory.process", "this process", 2, gpu.memory_process),
        of("gpu.memory.total", "there is", "muted", gpu.memory_total, true),
      ],
    },
    {
      title: "Power",
      show: watts,
      wanted: [of("gpu.power", "taken", 1, gpu.power), of("gpu.power.limit", "limit", "muted", gpu.power_limit, true)],
    },
    {
      title: "Clocks",
      show: hertz,
      throttledGpu: gpu.uuid,
      wanted: [of("gpu.clock.sm", "processors", 6, gpu.clock_sm), of("gpu.clock.memory", "memory", 4, gpu.clock_memory)],
    },
    { title: "Temperature", show: celsius, wanted: [of("gpu.temperature", "chip", 5, gpu.temperature)] },
    {
      title: "PCIe",
      show: perSecond,
          isSize: true,
      wanted: [of("gpu.pcie.received", "from the host", 0, gpu.pcie_received), of("gpu.pcie.sent", "to the host", 1, gpu.pcie_sent)],
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
            { series: "host.cpu.busy", label: "busy", colour: 0, figures: cpu?.busy_ratio, factor: ofAll },
            { series: "host.cpu.iowait", label: "waits for disks", colour: 1, figures: cpu?.iowait_ratio, factor: ofAll },
            { series: "host.cpu.steal", label: "taken by others", colour: 5, figures: cpu?.steal_ratio, factor: ofAll },
          ],
        },
        {
          title: "This process, cores",
          show: cores,
          wanted: [
            { series: "", label: "together", colour: "muted", figures: cpu?.process?.cores },
            { series: "process.cpu.user", label: "program", colour: 0 },
            { series: "process.cpu.system", label: "kernel", colour: 5 },
            { series: "children.cpu.time", label: "children", colour: 2, figures: cpu?.children_cores },
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
            { series: "host.memory.used", label: "machine", colour: 0, figures: memory?.used },
            { series: "process.memory.resident", label: "process", colour: 2, figures: memory?.process_resident },
            { series: "children.memory.resident", label: "children", colour: 1, figures: memory?.children_resident },
            { series: "cgroup.memory.used", label: "control group", colour: 3, figures: memory?.cgroup_used },
            { series: "cgroup.memory.limit", label: "its limit", colour: "muted", figures: memory?.cgroup_limit, isDashed: true },
          ],
        },
        {
          title: "Swap",
          show: bytes,
          isSize: true,
          wanted: [
            { series: "host.swap.used", label: "in use", colour: 3, figures: memory?.swap_used },
            { series: "process.memory.swapped", label: "of the process", colour: 5, figures: memory?.process_swapped },
          ],
        },
        {
          title: "Swapping",
          show: perSecond,
          isSize: true,
          wanted: [
            { series: "host.swap.in", label: "read back", colour: 0, figures: rate(memory?.swapped_in) },
            { series: "host.swap.out", label: "written", colour: 1, figures: rate(memory?.swapped_out) },
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
            { series: "process.disk.read", label: "read", colour: 0, figures: rate(disk?.process_read) },
            { series: "process.disk.written", label: "written", colour: 1, figures: rate(disk?.process_written) },
            { series: "process.io.read", label: "read, cache too", colour: 4, figures: rate(disk?.calls_read), isDashed: true },
          ],
        },
        ...(disk?.devices ?? []).flatMap(({ device, read, written, busy_ratio }): Panel[] => [
          {
            title: device,
            show: perSecond,
          isSize: true,
            wanted: [
              { series: "disk.read", subject: device, label: "read", colour: 0, figures: rate(read) },
              { series: "disk.written", subject: device, label: "written", colour: 1, figures: rate(written) },
            ],
          },
          {
            title: `${device} busy`,
            show: share,
            limit: 1,
            wanted: [{ series: "disk.busy", subject: device, label: "had work", colour: 6, figures: busy_ratio }],
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
          { series: "host.network.received", subject: name, label: "received", colour: 0, figures: rate(received) },
          { series: "host.network.sent", subject: name, label: "sent", colour: 1, figures: rate(sent) },
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
            { series: "pressure.cpu.some", label: "for a processor", colour: 0, figures: pressure?.cpu_some },
            { series: "pressure.io.some", label: "for a disk", colour: 1, figures: pressure?.io_some },
            { series: "pressure.memory.some", label: "for memory", colour: 3, figures: pressure?.memory_some },
          ],
        },
        {
          title: "All tasks waited",
          show: share,
          limit: 1,
          wanted: [
            { series: "pressure.io.full", label: "for a disk", colour: 1, figures: pressure?.io_full },
            { series: "pressure.memory.full", label: "for memory", colour: 3, figures: pressure?.memory_full },
          ],
        },
      ],
    },
  ];
}
