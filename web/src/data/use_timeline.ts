// The timeline that a page carries, for components: slices of threads, and readings over time.

import { useEffect, useState } from "preact/hooks";

import type { RunModel } from "./page";
import { type TimelineData, timelineData } from "./timeline";

let known: TimelineData | null = null;

/** The timeline; null until it is decoded, which the first view that asks for it begins. */
export function useTimeline(model: RunModel): TimelineData | null {
  const [data, update] = useState(known);
  useEffect(() => {
    let isWanted = true;
    timelineData(model).then((decoded) => {
      known = decoded;
      if (isWanted) {
        update(decoded);
      }
    });
    return () => {
      isWanted = false;
    };
  }, [model]);
  return data;
}
