// A share as a bar: the whole track is all of it. Shares are shown beside it in words, so the bar is not read aloud.

/** `inner` is the part of `ratio` that is drawn full, such as the time of a stage itself. */
export function Bar({ ratio, inner, colour = "--c0" }: { ratio: number | null; inner?: number | null; colour?: string }) {
  return (
    <span class="bar" aria-hidden="true" style={{ "--tone": `var(${colour})` }}>
      <span class="bar-all" style={{ width: width(ratio) }} />
      {inner !== undefined && <span class="bar-inner" style={{ width: width(inner) }} />}
    </span>
  );
}

function width(ratio: number | null | undefined): string {
  return `${Math.min(1, Math.max(0, ratio ?? 0)) * 100}%`;
}
