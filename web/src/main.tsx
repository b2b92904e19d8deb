import { render } from "preact";

import { readModel, showFailure } from "./data/page";
import { cut, visible } from "./parts/name";
import { Page } from "./shell/page";
import { contentsOf } from "./views";

const place = document.getElementById("page") as HTMLElement;

async function start(): Promise<void> {
  const contents = await contentsOf(await readModel());
  document.title = `${cut(contents.title, 80)} – Marey`;
  place.textContent = "";
  const paper = matchMedia("print");
  const draw = (isPrinted: boolean) => render(<Page {...contents} isPrinted={isPrinted} />, place);
  addEventListener("beforeprint", () => draw(true));
  addEventListener("afterprint", () => draw(false));
  paper.addEventListener("change", () => draw(paper.matches));
  draw(paper.matches);
}

start().catch((error) => showFailure(`The report that this page carries could not be read: ${visible(String(error))}`));
