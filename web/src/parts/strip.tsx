// Marks over the time of the run, drawn as one path a kind. Marks that fall on the same place are drawn once, so however many
// there are, the path stays short.

/** Places across and down; the drawing is stretched to the width that it has. */
const WIDE = 2000;
const HIGH = 200;

export type Kind = { id: string; colour: string; times: readonly number[] };

/** A tick for each moment, a lane a kind. */
export function Ticks({ kinds, wall }: { kinds: readonly Kind[]; wall: number }) {
  const lane = HIGH / kinds.length;
  return (
    <svg class="strip" viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true" style={{ height: `${kinds.length * 16}px` }}>
      {kinds.map(({ id, colour, times }, at) => (
        <path key={id} d={tickPath(times, wall, at * lane + lane * 0.12, lane * 0.76)} stroke={`var(${colour})`} vector-effect="non-scaling-stroke" />
      ))}
    </svg>
  );
}

export type Point = { at: number; value: number };

/** Points with a value each, and a line for a limit that may change. */
export function Scatter({ kinds, limit, top, wall }: { kinds: readonly { id: string; colour: string; points: readonly Point[] }[]; limit: readonly Point[]; top: number; wall: number }) {
  return (
    <svg class="strip" viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true" style={{ height: "110px" }}>
      <path d={stepPath(limit, top, wall)} class="limit" vector-effect="non-scaling-stroke" />
      {kinds.map(({ id, colour, points }) => (
        <path key={id} d={dotPath(points, top, wall)} class="dots" stroke={`var(${colour})`} vector-effect="non-scaling-stroke" />
      ))}
    </svg>
  );
}

/** A value that holds until the next one. */
export function Steps({ points, top, wall, colour }: { points: readonly Point[]; top: number; wall: number; colour: string }) {
  return (
    <svg class="strip" viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true" style={{ height: "56px" }}>
      <path d={stepPath(points, top, wall)} stroke={`var(${colour})`} vector-effect="non-scaling-stroke" />
    </svg>
  );
}

function across(at: number, wall: number): number {
  return wall > 0 ? Math.round((Math.min(at, wall) / wall) * WIDE) : 0;
}

function down(value: number, top: number): number {
  return top > 0 ? Math.round((1 - Math.min(1, Math.max(0, value / top))) * (HIGH - 8)) + 4 : HIGH - 4;
}

function tickPath(times: readonly number[], wall: number, y: number, height: number): string {
  const places = new Set(times.map((at) => across(at, wall)));
  return [...places].map((x) => `M${x} ${y}v${height}`).join("");
}

function dotPath(points: readonly Point[], top: number, wall: number): string {
  const places = new Set(points.map(({ at, value }) => `M${across(at, wall)} ${down(value, top)}h0`));
  return [...places].join("");
}

/** At one place across only the first, lowest, highest and last of the values are drawn. */
function stepPath(points: readonly Point[], top: number, wall: number): string {
  let path = "";
  let [x, first, low, high, last] = [-1, 0, 0, 0, 0];
  const flush = () => {
    if (x >= 0) {
      path += `${path === "" ? "M" : "H"}${path === "" ? `${x} ${first}` : `${x}V${first}`}`;
      path += `${low < first ? `V${low}` : ""}${high > first ? `V${high}` : ""}V${last}`;
    }
  };
  for (const { at, value } of points) {
    const [place, y] = [across(at, wall), down(value, top)];
    if (place !== x) {
      flush();
      [x, first, low, high] = [place, y, y, y];
    }
    [low, high, last] = [Math.min(low, y), Math.max(high, y), y];
  }
  flush();
  return path === "" ? "" : `${path}H${WIDE}`;
}
