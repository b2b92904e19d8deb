// What a page carries: the model as gzip'd JSON, and columns of numbers as gzip'd bytes, both in base64.

import type { Model } from "../../model/page";
import { embedded } from "./embedded";

/** Of a page about a run, or about a trace: slices and points of its timeline are in the page's columns. */
export type RunModel = Extract<Model, { kind: "run" }>;

/** Of a page about many ranks. */
export type RanksModel = Extract<Model, { kind: "ranks" }>;

/** Reads the model that the page carries. */
export async function readModel(): Promise<Model> {
  const bytes = await embedded("marey-model");
  return JSON.parse(new TextDecoder().decode(bytes)) as Model;
}
