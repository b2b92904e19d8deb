// A few figures in a row; what is not known is left out.

import type { ComponentChildren } from "preact";

export type Fact = readonly [what: string, figure: ComponentChildren | null];

export function Facts({ facts }: { facts: readonly Fact[] }) {
  const known = facts.filter(([, figure]) => figure !== null && figure !== "-");
  return known.length > 0 ? (
    <dl class="key-figures">
      {known.map(([what, figure]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{figure}</dd>
        </div>
      ))}
    </dl>
  ) : null;
}
