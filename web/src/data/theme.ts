// Light or dark: as the system says until the reader chooses. The choice is kept by the browser where it keeps anything
// for a file; it is no part of the address. What holds now is on the element `html`: two scripts of the page read it.

const KEY = "marey-theme";
const { dataset } = document.documentElement;

/** Takes up what was chosen before; else what the system says, now and later. */
export function startTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => show(dataset.chosen ?? (system.matches ? "dark" : "light"));
  try {
    const chosen = localStorage.getItem(KEY);
    if (chosen === "dark" || chosen === "light") {
      dataset.chosen = chosen;
    }
  } catch {
    // Browsers may refuse storage to a file: then the system decides.
  }
  system.addEventListener("change", follow);
  follow();
}

export function toggleTheme(): void {
  const theme = dataset.theme === "dark" ? "light" : "dark";
  dataset.chosen = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It holds until the page is closed.
  }
  show(theme);
}

/** Calls back whenever light becomes dark or dark light; returns how to end that. For what is drawn on a canvas. */
export function onThemeChange(changed: () => void): () => void {
  addEventListener("themechange", changed);
  return () => removeEventListener("themechange", changed);
}

function show(theme: string): void {
  dataset.theme = theme;
  dispatchEvent(new Event("themechange"));
}
