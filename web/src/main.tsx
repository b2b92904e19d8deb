import { render } from "preact";

import { ComparisonPage } from "./comparison/page";
import { embedded } from "./data/embedded";
import { readModel } from "./data/page";
import type { ComparisonModel, Model } from "./data/page";
import { drawnJobs } from "./data/ranks";
import type { RanksModel } from "./data/ranks";
import { cut, visible } from "./parts/name";
import { RanksPage } from "./ranks/page";
import { runName } from "./shell/header";
import { Page } from "./shell/page";

const place = document.getElementById("page") as HTMLElement;

async function start(model: Model | ComparisonModel | RanksModel): Promise<void> {
  if (model.kind === "ranks") {
    const jobs = drawnJobs(model, await embedded("marey-columns"));
    document.title = "Ranks – Marey";
    place.textContent = "";
    render(<RanksPage model={model} jobs={jobs} />, place);
    return;
  }
  if (model.kind === "comparison") {
    document.title = "Comparison – Marey";
    place.textContent = "";
    render(<ComparisonPage model={model} />, place);
    return;
  }
  document.title = `${cut(runName(model), 80)} – Marey`;
  place.textContent = "";
  const paper = matchMedia("print");
  const draw = (isPrinted: boolean) => render(<Page model={model} isPrinted={isPrinted} />, place);
  addEventListener("beforeprint", () => draw(true));
  addEventListener("afterprint", () => draw(false));
  paper.addEventListener("change", () => draw(paper.matches));
  draw(paper.matches);
}

readModel()
  .then(start)
  .catch((error) => {
    const note = document.createElement("p");
    note.className = "note bad";
    note.textContent = `The report that this page carries could not be read: ${visible(String(error))}`;
    place.replaceChildren(note);
  });
