// Colours of stages in strips: communication has one of its own, the longest other stages one each.

import { cut } from "../parts/name";
import { type Colour, cssColour } from "../parts/palette";

/** What collectives are called, and waits for them: as `marey.distributed` names them. */
const COLLECTIVES = new Set(
  (
    "all_reduce all_gather all_gather_into_tensor all_gather_object reduce_scatter reduce_scatter_tensor reduce broadcast broadcast_object_list " +
    "scatter gather all_to_all all_to_all_single barrier monitored_barrier send recv isend irecv batch_isend_irecv init_process_group wait"
  ).split(" "),
);

const COMMUNICATION: Colour = 1;
const OTHERS: Colour = "muted";
const STAGES: readonly Colour[] = [0, 2, 3, 4, 5, 6, 7, 8, 9];

/** The colour of each name, and last that of all others. */
export function coloursOf(names: readonly string[]): Colour[] {
  let stage = 0;
  const colours = names.map((name): Colour => (COLLECTIVES.has(name) ? COMMUNICATION : (STAGES[stage++] ?? OTHERS)));
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
    const names = communication.slice(0, 3).join(", ");
    legend.push([`communication and waiting (${names}${communication.length > 3 ? ", …" : ""})`, cssColour(COMMUNICATION)]);
  }
  if (others > 0) {
    legend.push([`${others} other stages`, cssColour(OTHERS)]);
  }
  return legend;
}
