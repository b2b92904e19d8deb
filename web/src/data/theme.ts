// Light or dark: as the system says until the reader chooses. The choice is kept by the browser where it keeps anything
// for a file; it is no part of the address.

const KEY = "marey-theme";
const DARK = "(prefers-color-scheme: dark)";

/** Whether the page is dark now. On paper it is light. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return !matchMedia("print").matches && (chosen ? chosen === "dark" : matchMedia(DARK).matches);
}

/** Takes up what was chosen before. */
export function startTheme(): void {
  try {
    const chosen = localStorage.getItem(KEY);
    if (chosen === "dark" || chosen === "light") {
      document.documentElement.dataset.theme = chosen;
    }
  } catch {
    // Browsers may refuse storage to a file: then the system decides.
  }
  matchMedia(DARK).addEventListener("change", announce);
}

export function toggleTheme(): void {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It holds until the page is closed.
  }
  announce();
}

/** Calls back whenever light becomes dark or dark light; returns how to end that. For what is drawn on a canvas. */
export function onThemeChange(changed: () => void): () => void {
  addEventListener("themechange", changed);
  return () => removeEventListener("themechange", changed);
}

/** The value of a variable of the style: `colour("--c0")`. */
export function colour(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

function announce(): void {
  dispatchEvent(new Event("themechange"));
}
