import { render, type VNode } from "preact";

import type { Model } from "../model/page";
import { embedded } from "./data/embedded";
import { readModel, type RunModel } from "./data/page";
import { type DrawnJob, drawnJobs } from "./data/ranks";
import { cut, visible } from "./parts/name";
import { Shown } from "./parts/shown";
import { OfJob, RanksPage } from "./ranks/page";
import { DocumentPage, Page } from "./shell/page";

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

/** All ranks, of a run that is one of several. */
async function drawnRanks({ ranks }: RunModel): Promise<DrawnJob | undefined> {
  if (!ranks) {
    return undefined;
  }
  const bytes = await embedded("marey-columns");
  const [job] = drawnJobs({ jobs: [ranks.job], widths: ranks.widths }, bytes.subarray(ranks.first_byte));
  return job;
}

/** What draws the page, on paper or not. */
async function pageOf(model: Model): Promise<(isPrinted: boolean) => VNode> {
  switch (model.kind) {
    case "ranks": {
      const jobs = drawnJobs(model, await embedded("marey-columns"));
      return (isPrinted) => <RanksPage model={model} jobs={jobs} isPrinted={isPrinted} />;
    }
    case "document":
      return (isPrinted) => <DocumentPage contents={model.contents} snapshots={model.snapshots} isPrinted={isPrinted} />;
    case "run": {
      const drawn = await drawnRanks(model);
      const ranks = drawn && { id: "ranks", title: "Ranks", body: () => <Shown.Provider value={new Set(["ranks"])}><OfJob drawn={drawn} /></Shown.Provider> };
      return (isPrinted) => <Page model={model} ranks={ranks} isPrinted={isPrinted} />;
    }
  }
}

readModel()
  .then(start)
  .catch((error) => {
    const note = document.createElement("p");
    note.className = "note bad";
    note.textContent = `The report that this page carries could not be read: ${visible(String(error))}`;
    place.replaceChildren(note);
  });
