// What a page carries: the model as gzip'd JSON, and columns of numbers as gzip'd bytes, both in base64.

import type { Contents } from "./document";
import { embedded } from "./embedded";
import type { RanksModel } from "./ranks";
import type { Pictures } from "./pictures";
import type { TimelineModel } from "./slices";

/** A page about a run, or about a trace. */
export type Model = {
  kind: "run";
  contents: Contents;
  pictures: Pictures;
  /** Slices and points of it are in the page's columns. */
  timeline: TimelineModel;
};

/** A page without pictures of its own. */
export type DocumentModel = { kind: "document"; contents: Contents };

export type AnyModel = Model | DocumentModel | RanksModel;

/** Reads the model that the page carries. */
export async function readModel(): Promise<AnyModel> {
  const bytes = await embedded("marey-model");
  return JSON.parse(new TextDecoder().decode(bytes)) as AnyModel;
}
