// The selection: a mark in front of each name that can be selected, and a bar that says what is.

import { clearSelection, sectionNamed, select, useRange, useSection } from "../data/selection";
import { setState } from "../data/state";
import { windowText } from "./controls";
import { Name, visible } from "./name";
import { colourOfName, cssColour } from "./palette";

/** The colour of a name; where it is a section, a button that selects it. */
export function Swatch({ name }: { name: string }) {
  const section = sectionNamed(name);
  const style = { background: cssColour(colourOfName(section ?? name)) };
  const isSelected = useSection() === section;
  return section === undefined ? (
    <i class="swatch" style={style} />
  ) : (
    <button type="button" class="pick" aria-label={`Select ${visible(section)}`} aria-pressed={isSelected} onClick={() => select(section)}>
      <i class="swatch" style={style} />
    </button>
  );
}

/** Views that show where the selected section is. */
const PLACES = ["timeline", "flame", "sections"];

/** Nothing while nothing is selected. */
export function SelectionBar({ views }: { views: readonly { id: string; title: string }[] }) {
  const section = useSection();
  const range = useRange();
  if (section === undefined && range === null) {
    return null;
  }
  return (
    <aside class="selected" aria-label="Selection">
      {section !== undefined && (
        <span>
          <Swatch name={section} /> <Name text={section} />
        </span>
      )}
      {range && <span>{windowText(range)} <span class="muted">(timeline, charts and flame graphs; other figures are of the whole run)</span></span>}
      {views.filter(({ id }) => PLACES.includes(id)).map(({ id, title }) => (
        <button key={id} type="button" onClick={() => showIn(id)}>
          {title}
        </button>
      ))}
      <button type="button" title="Escape" onClick={clearSelection}>
        Clear
      </button>
    </aside>
  );
}

/** Goes to all of a view, and there to the first row of a table that is of the selected section. */
function showIn(view: string): void {
  setState({ view, from: null, to: null, focus: null });
  requestAnimationFrame(() => document.querySelector("#view tr.is-chosen")?.scrollIntoView({ block: "center" }));
}
