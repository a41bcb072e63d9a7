import { withBase } from "../net/base-path.ts";
import { h } from "./dom.ts";

let styleLoaded: Promise<void> | undefined;

/** Loads tabs.css on demand, because most pages do not need it at once. */
export function loadTabStyle(): Promise<void> {
  return (styleLoaded ??= new Promise((resolve, reject) => {
    const link = h("link", { rel: "stylesheet", href: withBase("/static/tabs.css") });
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      styleLoaded = undefined;
      link.remove();
      reject(new Error("the style sheet of the tabs could not be loaded"));
    });
    document.head.append(link);
  }));
}
