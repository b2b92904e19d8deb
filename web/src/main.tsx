import { render } from "preact";

import { readModel } from "./data/page";
import type { Model } from "./data/page";
import { useAddress } from "./data/state";
import { VIEWS } from "./views";

function Page({ model }: { model: Model }) {
  const shown = VIEWS.filter((view) => view.isShown(model));
  const { view: id } = useAddress();
  const view = shown.find((candidate) => candidate.id === id) ?? shown[0];
  return view ? <view.Body model={model} /> : null;
}

readModel().then((model) => {
  const page = document.getElementById("page");
  if (page) {
    page.textContent = "";
    render(<Page model={model} />, page);
  }
});
