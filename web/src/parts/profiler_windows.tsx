// Windows of torch's profiler and the like: what they recorded and what came of them.

import { leftOut } from "../data/cuts";
import type { Model } from "../data/page";
import { bytes, duration } from "../data/quantity";
import type { WindowUse } from "../data/report";
import { Long, Name } from "./name";
import { Table } from "./table";

export function ProfilerWindows({ model }: { model: Model }) {
  const windows = model.report.activity.windows;
  return windows === null ? null : (
    <>
      <Table
        id="windows"
        caption="Profiler windows"
        rows={windows.each}
        leftOut={leftOut(model, "activity.windows.each")}
        columns={[
          { id: "window", title: "Window", value: ({ name }) => name, show: ({ name }) => <Name text={name} /> },
          { id: "opened_ns", title: "Opened", isNumber: true, value: ({ opened_ns }) => opened_ns, show: ({ opened_ns }) => `${(opened_ns / 1e9).toFixed(3)} s` },
          { id: "lasted_ns", title: "Lasted", isNumber: true, value: lasted, show: (window) => duration(lasted(window)) },
          {
            id: "steps",
            title: "Steps",
            hint: "Denoising steps of which something was recorded, and those before them whose events were thrown away",
            isNumber: true,
            value: ({ recorded_steps }) => recorded_steps,
            show: ({ recorded_steps, warm_up_steps }) => `${recorded_steps} + ${warm_up_steps} warm-up`,
          },
          { id: "recorded_mean_ns", title: "Mean step", isNumber: true, value: (w) => w.recorded_mean_ns, show: (w) => duration(w.recorded_mean_ns) },
          { id: "outside_mean_ns", title: "Outside", hint: "Mean of the steps outside all windows", isNumber: true, value: (w) => w.outside_mean_ns, show: (w) => duration(w.outside_mean_ns) },
          { id: "ended", title: "Ended by", value: endedBy, show: (window) => <Name text={endedBy(window)} /> },
          { id: "said", title: "Files and remarks", value: (window) => said(window).join("\n"), show: (window) => <Long text={said(window).join("\n")} limit={300} /> },
        ]}
      />
      {windows.own_ns !== null && <p class="muted">Starting and stopping windows held up the program for {duration(windows.own_ns)}.</p>}
    </>
  );
}

function lasted({ opened_ns, stopped_ns }: WindowUse): number | null {
  return stopped_ns === null ? null : stopped_ns - opened_ns;
}

function endedBy({ stop_reason, is_cut_off }: WindowUse): string {
  return stop_reason ?? (is_cut_off ? "the process's end" : "-");
}

function said({ files, failures, remarks }: WindowUse): string[] {
  return [
    ...files.map(({ path, bytes: size }) => `${path} (${bytes(size)})`),
    ...failures.map(({ during, error }) => `failed during ${during}: ${error}`),
    ...remarks,
  ];
}
