// The tabs: one view is shown at a time. Arrow keys go from one to the next.

import { useRef } from "preact/hooks";

import { setState } from "../data/state";
import type { Tab } from "./page";

export function Tabs({ views, current }: { views: readonly Tab[]; current: Tab }) {
  const list = useRef<HTMLDivElement>(null);
  const turned = (event: KeyboardEvent) => {
    const at = views.indexOf(current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: views.length - 1 }[event.key];
    const view = to === undefined ? undefined : views[(to + views.length) % views.length];
    if (view) {
      event.preventDefault();
      setState({ view: view.id });
      list.current?.querySelector<HTMLElement>(`#tab-${view.id}`)?.focus();
    }
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" ref={list} onKeyDown={turned}>
      {views.map((view, at) => (
        <button
          key={view.id}
          id={`tab-${view.id}`}
          type="button"
          role="tab"
          aria-selected={view === current}
          aria-controls="view"
          tabIndex={view === current ? 0 : -1}
          title={at < 9 ? `Key ${at + 1}` : undefined}
          onClick={() => setState({ view: view.id })}
        >
          {view.title}
        </button>
      ))}
    </div>
  );
}
