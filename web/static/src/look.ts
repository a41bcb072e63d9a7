// How a person likes pages to look: the server reads the cookie, so that a page
// looks so from its first moment.

import { under } from "./base.ts";

const themes = ["", "light", "dark"];
const densities = ["", "compact", "roomy"];

const root = document.documentElement;

export const theme = (): string => root.dataset["theme"] ?? "";
export const density = (): string => root.dataset["density"] ?? "";

/** Sets light or dark; empty is the system's. */
export const setTheme = (to: string): void => keep("theme", themes.includes(to) ? to : "");

/** Sets how high rows are; empty is between compact and roomy. */
export const setDensity = (to: string): void => keep("density", densities.includes(to) ? to : "");

/** Light where it is dark now, and the other way round. */
export function turnTheme(): void {
  const dark = theme() === "" ? matchMedia("(prefers-color-scheme: dark)").matches : theme() === "dark";
  setTheme(dark ? "light" : "dark");
}

function keep(what: "theme" | "density", to: string): void {
  root.dataset[what] = to;
  const words = [theme(), density()].filter((w) => w !== "").join("-");
  document.cookie = `look=${words}; path=${under("/")}; max-age=31536000; samesite=strict`;
}
