import { render } from "preact";

import { readModel } from "./data/page";

const model = await_model();

async function await_model(): Promise<void> {
  const { report } = await readModel();
  const page = document.getElementById("page");
  if (page) {
    page.textContent = "";
    render(<h1>{report.run.id}</h1>, page);
  }
}

void model;
