// Names and figures beside each other. What is not known is left out.

import type { ComponentChildren } from "preact";

export type Fact = {
  what: string;
  value: ComponentChildren;
  /** What it means, or where it is from. */
  note?: string;
};

export function known(facts: readonly (Fact | null | false | undefined)[]): Fact[] {
  return facts.filter((fact): fact is Fact => Boolean(fact) && (fact as Fact).value !== "-");
}

export function Cards({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="cards">
      {facts.map(({ what, value, note }) => (
        <div key={what} class="card">
          <dt>{what}</dt>
          <dd class="card-value">{value}</dd>
          {note && <dd class="card-note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

export function FactList({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="fact-list">
      {facts.map(({ what, value, note }, at) => (
        <div key={at}>
          <dt>{what}</dt>
          <dd>
            {value} {note && <span class="muted">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
