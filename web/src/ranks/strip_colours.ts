// Colours of stages in strips: communication has one of its own, the longest other stages one each.

import { cut } from "../parts/name";
import { type Colour, cssColour } from "../parts/palette";

const COMMUNICATION: Colour = 1;
const OTHERS: Colour = "muted";
const STAGES: readonly Colour[] = [0, 2, 3, 4, 5, 6, 7, 8, 9];

/** The colour of each name, and last that of all others. `communication` says which names are collectives'. */
export function coloursOf(names: readonly string[], communication: readonly number[]): Colour[] {
  let stage = 0;
  const colours = names.map((_, at): Colour => (communication.includes(at) ? COMMUNICATION : (STAGES[stage++] ?? OTHERS)));
  return [...colours, OTHERS];
}

/** Each colour with what it means. */
export function legendOf(names: readonly string[], colours: readonly Colour[]): [name: string, colour: string][] {
  const legend: [string, string][] = [];
  const others = names.filter((_, at) => colours[at] === OTHERS).length;
  const communication = names.filter((_, at) => colours[at] === COMMUNICATION);
  for (const [at, name] of names.entries()) {
    const colour = colours[at] as Colour;
    if (colour !== OTHERS && colour !== COMMUNICATION) {
      legend.push([cut(name, 30), cssColour(colour)]);
    }
  }
  if (communication.length > 0) {
    const names = communication.slice(0, 3).map((name) => cut(name, 30)).join(", ");
    legend.push([`communication and waiting (${names}${communication.length > 3 ? ", …" : ""})`, cssColour(COMMUNICATION)]);
  }
  if (others > 0) {
    legend.push([`${others} other stages`, cssColour(OTHERS)]);
  }
  return legend;
}
