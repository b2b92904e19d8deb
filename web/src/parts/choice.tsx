// A choice of one of a few that is kept in the address.

import { setState } from "../data/state";

type ChoiceProps = {
  name: string;
  value: string;
  options: readonly (readonly [id: string, title: string, hint?: string])[];
  label?: string;
  /** What holds where the address has nothing; absent: the first. */
  usual?: string | undefined;
  /** What of the address has no meaning with another choice. */
  clears?: string;
};

export function Choice({ name, value, options, label, usual = options[0]?.[0], clears = name }: ChoiceProps) {
  return (
    <div class="choice" role="radiogroup" aria-label={label}>
      {options.map(([id, title, hint]) => (
        <button key={id} type="button" role="radio" aria-checked={id === value} title={hint} onClick={() => setState({ [clears]: null, [name]: id === usual ? null : id })}>
          {title}
        </button>
      ))}
    </div>
  );
}
