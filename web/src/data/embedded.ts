// Blocks that the page carries: gzip'd bytes in base64.

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
