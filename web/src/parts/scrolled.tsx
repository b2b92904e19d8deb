// What may be wider than the window: it scrolls by itself, and the page does not.

import type { ComponentChildren } from "preact";

export function Scrolled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
