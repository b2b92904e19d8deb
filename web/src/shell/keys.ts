// Keys that work everywhere in the page. They are the browser's while something is typed or another key is held down.

import { setState } from "../data/state";
import { toggleTheme } from "../data/theme";

/** Acts on keys until the returned function is called. `views` are the tabs, in their order. */
export function listenToKeys(views: readonly string[]): () => void {
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
    } else if (event.key === "/" && focusSearch()) {
      event.preventDefault();
    }
  };
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}

function isTyped(event: KeyboardEvent): boolean {
  const target = event.target;
  const isField = target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
  if (isField && event.key === "Escape") {
    target.blur();
  }
  return isField;
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  field?.focus();
  field?.select();
  return field !== null;
}
