// The user's theme and density. The server reads the cookie, so that the first paint has them.

import { under } from "./base.ts";

const themes = ["", "light", "dark"];
const densities = ["", "compact", "roomy"];

const root = document.documentElement;

export const theme = (): string => root.dataset["theme"] ?? "";
export const density = (): string => root.dataset["density"] ?? "";

/** Sets the theme: light or dark; empty for the system's. */
export const setTheme = (to: string): void => keep("theme", themes.includes(to) ? to : "");

/** Sets the row density; empty is between compact and roomy. */
export const setDensity = (to: string): void => keep("density", densities.includes(to) ? to : "");

/** Switches between light and dark. */
export function turnTheme(): void {
  const dark = theme() === "" ? matchMedia("(prefers-color-scheme: dark)").matches : theme() === "dark";
  setTheme(dark ? "light" : "dark");
}

function keep(what: "theme" | "density", to: string): void {
  root.dataset[what] = to;
  const words = [theme(), density()].filter((w) => w !== "").join("-");
  document.cookie = `look=${words}; path=${under("/")}; max-age=31536000; samesite=strict`;
}
