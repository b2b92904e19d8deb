// What the page is about, in a line.

import type { ComponentChildren } from "preact";

import { toggleTheme } from "../data/theme";
import { Name } from "../parts/name";

export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <header>
      <div class="headline">
        <span class="brand">Marey</span>
        <h1>
          <Name text={title} limit={80} />
        </h1>
        {children}
      </div>
      <button type="button" class="quiet theme" title="Light or dark (t)" onClick={toggleTheme}>
        Theme
      </button>
    </header>
  );
}
