// What a page carries: the model as gzip'd JSON, and columns of numbers as gzip'd bytes, both in base64.

import type { Model } from "../../model/page";

/** Of a page about a run, or about a trace: slices and points of its timeline are in the page's columns. */
export type RunModel = Extract<Model, { kind: "run" }>;

/** Reads the model that the page carries. */
export async function readModel(): Promise<Model> {
  const bytes = await embedded("marey-model");
  return JSON.parse(new TextDecoder().decode(bytes)) as Model;
}

/** The bytes of an element of the page; none when it carries none. */
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

/** In place of the page. */
export function showFailure(text: string): void {
  const note = document.createElement("p");
  note.className = "note bad";
  note.textContent = text;
  document.getElementById("page")?.replaceChildren(note);
}
