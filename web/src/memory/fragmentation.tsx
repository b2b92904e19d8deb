// Fragmentation at labelled readings.

import { useMemo } from "preact/hooks";

import type { Memory } from "../../model/page";
import { percent } from "../data/quantity";
import { useAddress } from "../data/state";
import { Chart } from "../parts/chart";
import { cut } from "../parts/name";
import type { Line } from "../parts/plot";
import { useWindow } from "../parts/window";

export function Fragmentation({ wall, memory }: { wall: number; memory: Memory }) {
  const { window } = useWindow(wall);
  const { zero } = useAddress();
  const lines = useMemo(() => fragmentationLines(memory), [memory]);
  return lines.length > 0 ? (
    <Chart
      title="Fragmentation"
      summary={lines.map((line) => `${line.label}: ${line.at.length} readings`).join(", ")}
      lines={lines}
      show={percent}
      window={window}
      wall={wall}
      sync="time"
      isFromZero={zero !== "0"}
    />
  ) : null;
}

function fragmentationLines({ labelled, sources }: Memory): Line[] {
  return sources.flatMap(({ source }, at): Line[] => {
    const own = labelled.filter((reading) => reading.source === source && reading.fragmentation_ratio !== null);
    const places = { at: own.map((reading) => reading.at_ns), values: own.map((reading) => reading.fragmentation_ratio ?? NaN) };
    return own.length > 0
      ? [
          { label: cut(source, 30), colour: at, style: "points", ...places },
          { label: "", colour: at, ...places, isDashed: true },
        ]
      : [];
  });
}
