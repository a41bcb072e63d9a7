// The theme, the row density and the width of the resource picker are stored in a cookie, so that the server can render
// the page with them.

import { withBase } from "../net/base-path.ts";

const themes = ["", "light", "dark"];
const densities = ["", "compact", "roomy"];

const documentRoot = document.documentElement;

const theme = (): string => documentRoot.dataset["theme"] ?? "";
export const density = (): string => documentRoot.dataset["density"] ?? "";

/** Sets the theme. An empty text selects the theme of the operating system. */
export const setTheme = (to: string): void => savePreference("theme", themes.includes(to) ? to : "");

export const setDensity = (to: string): void => savePreference("density", densities.includes(to) ? to : "");

export function toggleTheme(): void {
  const dark = theme() === "" ? matchMedia("(prefers-color-scheme: dark)").matches : theme() === "dark";
  setTheme(dark ? "light" : "dark");
}

/** Collapses the resource picker to its icons, or expands it. */
export const togglePicker = (): void => savePreference("picker", picker() === "" ? "icons" : "");

const picker = (): string => documentRoot.dataset["picker"] ?? "";

function savePreference(name: "theme" | "density" | "picker", to: string): void {
  documentRoot.dataset[name] = to;
  const cookieValue = [theme(), density(), picker()].filter((w) => w !== "").join("-");
  // biome-ignore lint/suspicious/noDocumentCookie: browsers have no Cookie Store API on pages served over HTTP
  document.cookie = `look=${cookieValue}; path=${withBase("/")}; max-age=31536000; samesite=strict`;
}
