// Names and figures beside each other.

import type { ComponentChildren } from "preact";

export type Fact = { what: ComponentChildren; value: ComponentChildren };

/** What is not known is left out. */
export function FactList({ facts }: { facts: readonly (Fact | false | null | undefined)[] }) {
  return (
    <dl class="fact-list">
      {facts.map(
        (fact, at) =>
          fact && (
            <div key={at}>
              <dt>{fact.what}</dt>
              <dd>{fact.value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
