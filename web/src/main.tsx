import { render, type VNode } from "preact";

import type { Model } from "../model/page";
import { embedded, readModel, type RunModel } from "./data/page";
import { drawnJobs } from "./data/ranks";
import { Blocks } from "./parts/blocks";
import { FirstScreen } from "./parts/first_screen";
import { Shown } from "./parts/link";
import { cut, visible } from "./parts/name";
import { OfJob, RanksPage } from "./ranks/page";
import { Page, type Tab } from "./shell/page";
import { tabsOf } from "./views";
import { Snapshots } from "./views/snapshots";

const place = document.getElementById("page") as HTMLElement;

async function start(model: Model): Promise<void> {
  const page = await pageOf(model);
  document.title = `${cut(headingOf(model), 80)} – Marey`;
  place.textContent = "";
  const paper = matchMedia("print");
  const draw = (isPrinted: boolean) => render(page(isPrinted), place);
  addEventListener("beforeprint", () => draw(true));
  addEventListener("afterprint", () => draw(false));
  paper.addEventListener("change", () => draw(paper.matches));
  draw(paper.matches);
}

/** What it is called: of a single job as that. */
function headingOf(model: Model): string {
  const [job, ...others] = model.kind === "ranks" ? model.jobs : [];
  return job && others.length === 0 ? job.contents.title : model.contents.title;
}

/** What draws the page, on paper or not. */
async function pageOf(model: Model): Promise<(isPrinted: boolean) => VNode> {
  const { title, tabs: read } = model.contents;
  if (model.kind === "ranks") {
    const jobs = drawnJobs(model.jobs, model.widths, await embedded("marey-columns"));
    const blocks = read.flatMap(({ blocks }) => blocks);
    return (isPrinted) => <RanksPage jobs={jobs} blocks={blocks} isPrinted={isPrinted} />;
  }
  const tabs = model.kind === "run" ? [...(await ranksOf(model)), ...tabsOf(model)] : tabsOfDocument(model);
  return (isPrinted) => <Page title={title} tabs={tabs} isPrinted={isPrinted} />;
}

/** Tables, and what is drawn of memory snapshots. What is read first stands above all on the first tab. */
function tabsOfDocument({ contents: { screen, tabs }, snapshots }: Extract<Model, { kind: "document" }>): Tab[] {
  return tabs.map(({ id, title, blocks }, at) => {
    const Body = () => (
      <>
        {at === 0 && screen && <FirstScreen screen={screen} />}
        {at === 0 && <Snapshots snapshots={snapshots} wall={0} bands={[]} />}
        <Blocks blocks={blocks} />
      </>
    );
    return { id, title, Body };
  });
}

/** All ranks, of a run that is one of several. */
async function ranksOf({ ranks }: RunModel): Promise<Tab[]> {
  if (!ranks) {
    return [];
  }
  const [drawn] = drawnJobs([ranks.job], ranks.widths, (await embedded("marey-columns")).subarray(ranks.first_byte));
  const Body = () => <Shown.Provider value={new Set(["ranks"])}>{drawn && <OfJob drawn={drawn} />}</Shown.Provider>;
  return [{ id: "ranks", title: "Ranks", Body }];
}

readModel()
  .then(start)
  .catch((error) => {
    const note = document.createElement("p");
    note.className = "note bad";
    note.textContent = `The report that this page carries could not be read: ${visible(String(error))}`;
    place.replaceChildren(note);
  });
