// The page: what it is about, the tabs, and the view. On paper the views follow one another, without the help.

import { Component, type ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import type { Contents, DrawnSnapshot } from "../../model/page";
import type { RunModel } from "../data/page";
import { useAddress } from "../data/state";
import { Blocks } from "../parts/blocks";
import { Snapshots } from "../memory/snapshots";
import { FirstScreen } from "../parts/first_screen";
import { visible } from "../parts/name";
import { Paper, Shown } from "../parts/shown";
import { PICTURES, TABS } from "../views";
import { Heading } from "./header";
import { listenToKeys } from "./keys";
import { Tabs } from "./tabs";

/** One tab of the page. */
export type Tab = { id: string; title: string; isOnPaper?: boolean; body: () => ComponentChildren };

/** The page of a run, or of a trace; of one of several ranks behind what all of them did. */
export function Page({ model, ranks, isPrinted }: { model: RunModel; ranks: Tab | undefined; isPrinted: boolean }) {
  const { contents } = model;
  const own = TABS.flatMap((id): Tab[] => {
    const read = contents.tabs.find((tab) => tab.id === id);
    const picture = PICTURES.find((picture) => picture.id === id && picture.isShown(model));
    if (!read && !picture) {
      return [];
    }
    const { title, isOnPaper = true } = picture ?? { title: read?.title ?? id };
    const body = () => (
      <>
        {id === TABS[0] && contents.screen && <FirstScreen screen={contents.screen} />}
        {picture && <picture.Body model={model} />}
        {read && <Blocks blocks={read.blocks} />}
      </>
    );
    return [{ id, title, isOnPaper, body }];
  });
  const tabs = ranks ? [ranks, ...own] : own;
  return <Tabbed header={<Heading title={contents.title} />} tabs={tabs} isPrinted={isPrinted} />;
}

type DocumentPageProps = { contents: Contents; snapshots: readonly DrawnSnapshot[]; isPrinted: boolean };

/** A page of tables, and what is drawn of memory snapshots. What is read first stands above all on the first tab. */
export function DocumentPage({ contents: { title, screen, tabs }, snapshots, isPrinted }: DocumentPageProps) {
  const all = tabs.map(({ id, title, blocks }, at): Tab => {
    const body = () => (
      <>
        {at === 0 && screen && <FirstScreen screen={screen} />}
        {at === 0 && <Snapshots snapshots={snapshots} wall={0} bands={[]} />}
        <Blocks blocks={blocks} />
      </>
    );
    return { id, title, body };
  });
  return <Tabbed header={<Heading title={title} />} tabs={all} isPrinted={isPrinted} />;
}

type TabbedProps = { header: ComponentChildren; tabs: readonly Tab[]; isPrinted: boolean };

export function Tabbed({ header, tabs, isPrinted }: TabbedProps) {
  const ids = tabs.map((tab) => tab.id);
  const { view: id } = useAddress();
  const current = tabs.find((tab) => tab.id === id) ?? tabs[0];
  useEffect(() => listenToKeys(ids), [ids.join()]);
  if (!current) {
    return null;
  }
  return (
    <Shown.Provider value={new Set(ids)}>
      <Paper.Provider value={isPrinted}>
        <a class="skip" href="#" onClick={skip}>
          Skip to the view
        </a>
        {header}
        {isPrinted ? (
          <main>
            {tabs.filter(({ isOnPaper = true }) => isOnPaper).map((tab) => (
              <section key={`print-${tab.id}`} class={`view view-${tab.id}`}>
                {tabs.length > 1 && <h2 class="print-title">{tab.title}</h2>}
                <Shield>
                  <Body tab={tab} />
                </Shield>
              </section>
            ))}
          </main>
        ) : (
          <>
            {tabs.length > 1 && <Tabs views={tabs} current={current} />}
            <main>
              <div id="view" {...(tabs.length > 1 ? { role: "tabpanel", "aria-labelledby": `tab-${current.id}` } : {})} tabIndex={-1} class={`view view-${current.id}`}>
                <Shield key={current.id}>
                  <Body tab={current} />
                </Shield>
              </div>
            </main>
          </>
        )}
      </Paper.Provider>
    </Shown.Provider>
  );
}

/** Drawn within the shield, so that what goes wrong there stays there. */
function Body({ tab }: { tab: Tab }) {
  return <>{tab.body()}</>;
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("view")?.focus();
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
