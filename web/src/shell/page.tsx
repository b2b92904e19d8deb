// The page: what it is about, the tabs, and the view. On paper the views follow one another, without the help.

import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { clearSelection } from "../data/selection";
import { setState, useAddress } from "../data/state";
import { toggleTheme } from "../data/theme";
import { Shown } from "../parts/controls";
import { Name, visible } from "../parts/name";
import { SelectionBar } from "../parts/selected";
import { Paper } from "../parts/table";

/** One tab of the page. */
export type Tab = { id: string; title: string; isOnPaper?: boolean; Body: ComponentType };

export type PageContents = {
  title: string;
  /** Beside the title. */
  choice?: ComponentChildren;
  tabs: readonly Tab[];
};

/** On paper or not. */
export function Page({ title, choice, tabs, isPrinted }: PageContents & { isPrinted: boolean }) {
  const ids = tabs.map((tab) => tab.id);
  const { view: id } = useAddress();
  const current = tabs.find((tab) => tab.id === id) ?? tabs[0];
  useEffect(() => listenToKeys(ids), [ids.join()]);
  if (!current) {
    return null;
  }
  const hasTabs = tabs.length > 1;
  return (
    <Shown.Provider value={new Set(ids)}>
      <Paper.Provider value={isPrinted}>
        <a class="skip" href="#" onClick={skip}>
          Skip to the view
        </a>
        <header>
          <div class="headline">
            <span class="brand">Marey</span>
            <h1>
              <Name text={title} limit={80} />
            </h1>
            {choice}
          </div>
          <button type="button" class="quiet theme" title="Light or dark (t)" onClick={toggleTheme}>
            Theme
          </button>
        </header>
        {!isPrinted && hasTabs && <Tabs views={tabs} current={current} />}
        <main>
          {isPrinted ? (
            tabs.filter(({ isOnPaper = true }) => isOnPaper).map(({ id, title, Body }) => (
              <section key={`print-${id}`} class={`view view-${id}`}>
                {hasTabs && <h2 class="print-title">{title}</h2>}
                <Shield>
                  <Body />
                </Shield>
              </section>
            ))
          ) : (
            <div id="view" {...(hasTabs ? { role: "tabpanel", "aria-labelledby": `tab-${current.id}` } : {})} tabIndex={-1} class={`view view-${current.id}`}>
              <Shield key={current.id}>
                <current.Body />
              </Shield>
            </div>
          )}
        </main>
        {!isPrinted && <SelectionBar views={tabs} />}
      </Paper.Provider>
    </Shown.Provider>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("view")?.focus();
}

/** One view is shown at a time; arrow keys go from one to the next. */
function Tabs({ views, current }: { views: readonly Tab[]; current: Tab }) {
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

/** Keeps a mistake in one view from emptying the page. */
class Shield extends Component<{ children: ComponentChildren }, { error: string | null }> {
  override state = { error: null };

  static override getDerivedStateFromError(error: unknown): { error: string } {
    // Seen by whoever develops or tests the page.
    setTimeout(() => reportError(error));
    return { error: String(error) };
  }

  override render() {
    const { error } = this.state;
    return error === null ? this.props.children : <p class="note bad">This view could not be drawn: {visible(error)}</p>;
  }
}

/**
 * Acts on keys that work everywhere, until the returned function is called; `views` are the tabs. They are the browser's while something is
 * typed or another key is held down.
 */
function listenToKeys(views: readonly string[]): () => void {
  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyped(event)) {
      return;
    }
    const number = Number(event.key);
    const view = Number.isInteger(number) && number > 0 ? views[number - 1] : undefined;
    if (view) {
      setState({ view });
    } else if (event.key === "?") {
      setState({ view: "help" });
    } else if (event.key === "t") {
      toggleTheme();
    } else if (event.key === "Escape") {
      clearSelection();
    } else if (event.key === "/" && focusSearch()) {
      event.preventDefault();
    }
  };
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}

function isTyped({ target, key }: KeyboardEvent): boolean {
  const field = target instanceof HTMLElement && target.closest<HTMLElement>("input, select, textarea");
  if (field && key === "Escape") {
    field.blur();
  }
  return Boolean(field);
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  field?.focus();
  field?.select();
  return field !== null;
}
