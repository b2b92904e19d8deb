// A figure and what was waited beside it, as one bar; the whole track is the most of all rows. The figures stand beside it in words.

export type Piece = { ns: number; colour: string };

export function Stacked({ pieces, most }: { pieces: readonly Piece[]; most: number }) {
  return (
    <span class="stacked" aria-hidden="true">
      {pieces.map(({ ns, colour }, at) => (
        <span key={at} style={{ width: `${most > 0 ? Math.min(100, (ns / most) * 100) : 0}%`, background: `var(${colour})` }} />
      ))}
    </span>
  );
}

export function Key({ names }: { names: readonly (readonly [name: string, colour: string])[] }) {
  return (
    <p class="rank-legend">
      {names.map(([name, colour]) => (
        <span key={name}>
          <i style={{ background: `var(${colour})` }} /> {name}
        </span>
      ))}
    </p>
  );
}
