// A choice of one of a few that is kept in the address; the first is what holds where the address has nothing.

import { setState } from "../data/state";

type ChoiceProps = { name: string; value: string; options: readonly (readonly [id: string, title: string])[]; label?: string };

export function Choice({ name, value, options, label }: ChoiceProps) {
  return (
    <div class="choice" role="radiogroup" aria-label={label}>
      {options.map(([id, title], at) => (
        <button key={id} type="button" role="radio" aria-checked={id === value} onClick={() => setState({ [name]: at === 0 ? null : id })}>
          {title}
        </button>
      ))}
    </div>
  );
}
