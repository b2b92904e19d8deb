// The timeline that a page carries: slices of threads, and readings over time.

import { useEffect, useState } from "preact/hooks";

import { Columns } from "./columns";
import { embedded, type RunModel } from "./page";
import { Slices } from "./slices";
import { readTracks, type Track } from "./tracks";

export type TimelineData = { slices: Slices; tracks: Track[] };

let decoding: Promise<TimelineData> | undefined;
let known: TimelineData | null = null;

/** The timeline; null until it is decoded, which the first view that asks for it begins. */
export function useTimeline(model: RunModel): TimelineData | null {
  const [data, update] = useState(known);
  const [error, fail] = useState<unknown>(null);
  useEffect(() => {
    decoding ??= decoded(model);
    decoding.then(update, fail);
  }, [model]);
  if (error !== null) {
    throw error;
  }
  return data;
}

async function decoded({ timeline }: RunModel): Promise<TimelineData> {
  const columns = new Columns(await embedded("marey-columns"), timeline.widths);
  const slices = new Slices(timeline, columns);
  known = { slices, tracks: readTracks(timeline, columns) };
  return known;
}
