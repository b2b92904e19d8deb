// What is read first: how it ended and in what time, where the time went as a picture that adds up, what is the matter, and what to try.

import type { BarRow, Bars, DrawnScreen, Mood } from "../../model/page";
import { FactList } from "./facts";
import { Long, Name, visible } from "./name";
import { colourOfName } from "./palette";
import { Swatch } from "./selected";

const TONES: Record<Mood, string> = { good: "good", plain: "", bad: "bad" };

export function FirstScreen({ screen }: { screen: DrawnScreen }) {
  const { subject, outcome, mood, after, bars, lines, findings, closing, data } = screen;
  const facts = lines.map(([what, said]) => ({ what, value: visible(said) }));
  return (
    <section class="first-screen" aria-label="What matters most">
      <p class="verdict">
        {visible(subject)} {outcome !== "" && <span class={`mood ${TONES[mood]}`}>{visible(outcome)}</span>}
        {visible(after)}
      </p>
      {bars.map((each, at) => (
        <Picture key={at} bars={each} />
      ))}
      <FactList facts={facts} />
      {findings.map(({ title, evidence, tries }, at) => (
        <article key={at} class="matter">
          <h3>{visible(title)}</h3>
          {evidence !== "" && (
            <p>
              <Long text={evidence} limit={400} />
            </p>
          )}
          {tries !== "" && (
            <p>
              <span class="muted">Try</span> {visible(tries)}
            </p>
          )}
        </article>
      ))}
      {closing.map(([mood, text]) => (
        <p key={text} class={`note ${TONES[mood]}`}>
          {visible(text)}
        </p>
      ))}
      {data !== null && <p class="note warn">{visible(data)}</p>}
    </section>
  );
}

/** All of it as one bar, then a row a part; of two sides a row a part with a bar of each. */
function Picture({ bars: { head, columns, rows } }: { bars: Bars }) {
  const isOfOne = columns.length === 0;
  return (
    <div class="picture">
      {head !== null && <p class="muted">{visible(head)}</p>}
      {isOfOne && (
        <div class="all-of-it" aria-hidden="true">
          {rows.map((row, at) => (
            <i key={at} title={`${visible(row.name)}: ${row.figures.join(", ")}`} style={{ flexGrow: String(row.ratios[0] ?? 0), background: colourOfRow(row) }} />
          ))}
        </div>
      )}
      <table class="bars">
        {!isOfOne && (
          <thead>
            <tr>
              <th />
              <th class="wide" />
              {columns.map((column) => (
                <th key={column} scope="col" class="number">
                  {visible(column)}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, at) => (
            <tr key={at} class={row.ratios.length === 0 ? "total" : undefined}>
              <th scope="row">
                {isOfOne && (row.part === "work" ? <Swatch name={row.name} /> : <i class="swatch" style={{ background: colourOfRow(row) }} />)}
                <Name text={row.name} limit={40} />
                {row.note !== null && <span class="row-note">{visible(row.note)}</span>}
              </th>
              <td class="wide">
                {row.ratios.map((ratio, side) => (
                  <span key={side} class="bar" aria-hidden="true">
                    <span style={{ width: `${Math.min(1, ratio) * 100}%`, background: isOfOne ? colourOfRow(row) : `var(--c${side === 0 ? 8 : 0})` }} />
                  </span>
                ))}
              </td>
              {row.figures.map((figure, at) => (
                <td key={at} class="number">
                  {figure}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** As in the timeline, but for what waits and what has no name. */
function colourOfRow({ name, part }: BarRow): string {
  return part === "work" ? `var(--c${colourOfName(name)})` : part === "waiting" ? "var(--waiting)" : "var(--line)";
}
