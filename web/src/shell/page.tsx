// The page: which run it is about, the tabs, and the view. On paper the views follow one another, without the help.

import { Component, type ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import type { Model } from "../data/page";
import { useAddress } from "../data/state";
import { visible } from "../parts/name";
import { Shown } from "../parts/shown";
import { VIEWS } from "../views";
import type { View } from "../views/view";
import { Header } from "./header";
import { listenToKeys } from "./keys";
import { Tabs } from "./tabs";

export function Page({ model, isPrinted }: { model: Model; isPrinted: boolean }) {
  const views = VIEWS.filter((view) => view.isShown(model));
  const ids = views.map((view) => view.id);
  const { view: id } = useAddress();
  const current = views.find((view) => view.id === id) ?? views[0];
  useEffect(() => listenToKeys(ids), [ids.join()]);
  if (!current) {
    return null;
  }
  return (
    <Shown.Provider value={new Set(ids)}>
      <a class="skip" href="#" onClick={skip}>
        Skip to the view
      </a>
      <Header model={model} />
      {isPrinted ? (
        <main>
          {views.filter(({ isOnPaper = true }) => isOnPaper).map((view) => (
            <section key={`print-${view.id}`} class={`view view-${view.id}`}>
              <h2 class="print-title">{view.title}</h2>
              <Shielded view={view} model={model} />
            </section>
          ))}
        </main>
      ) : (
        <>
          <Tabs views={views} current={current} />
          <main>
            <div id="view" role="tabpanel" tabIndex={-1} aria-labelledby={`tab-${current.id}`} class={`view view-${current.id}`}>
              <Shielded key={current.id} view={current} model={model} />
            </div>
          </main>
        </>
      )}
    </Shown.Provider>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("view")?.focus();
}

function Shielded({ view, model }: { view: View; model: Model }) {
  return (
    <Shield>
      <view.Body model={model} />
    </Shield>
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
