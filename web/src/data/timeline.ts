// The timeline that a page carries, decoded once.

import { Columns } from "./columns";
import { embedded } from "./embedded";
import type { RunModel } from "./page";
import { Slices } from "./slices";
import { readTracks } from "./tracks";
import type { Track } from "./track";

export type TimelineData = { slices: Slices; tracks: Track[] };

let decoded: Promise<TimelineData> | undefined;

export function timelineData(model: RunModel): Promise<TimelineData> {
  decoded ??= embedded("marey-columns").then((bytes) => {
    const columns = new Columns(bytes, model.timeline.widths);
    const slices = new Slices(model.timeline, columns);
    return { slices, tracks: readTracks(model.timeline, columns) };
  });
  return decoded;
}
