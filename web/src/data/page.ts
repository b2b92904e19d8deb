// What a page carries: the model as gzip'd JSON, and columns of slices as gzip'd bytes, both in base64.

import type { Comparison } from "./comparison";
import type { Report } from "./report";
import type { TimelineModel } from "./slices";

/** A page about a run. */
export type Model = {
  kind: "run";
  /** As marey-report's model serializes it, long lists cut. */
  report: Report;
  /** Which lists of the report are not whole: `*` stands for entries of lists. Figures beside them are of all entries. */
  left_out: ShortList[];
  /** Slices and points of it are in the page's columns. */
  timeline: TimelineModel;
};

export type ShortList = { list: string; kept: number; left_out: number };

/** A page about two runs; `meanings` says what each kind of measure is. */
export type ComparisonModel = { kind: "comparison"; comparison: Comparison; meanings: Record<string, string> };

/** Reads the model that the page carries. */
export async function readModel(): Promise<Model | ComparisonModel> {
  const bytes = await embedded("marey-model");
  return JSON.parse(new TextDecoder().decode(bytes)) as Model | ComparisonModel;
}

/** Reads an embedded block; empty when the page carries none. */
export async function embedded(id: string): Promise<Uint8Array> {
  const text = document.getElementById(id)?.textContent?.trim() ?? "";
  if (text === "") {
    return new Uint8Array();
  }
  const stream = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  return native ? native(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
