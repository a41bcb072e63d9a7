// The parts of an object's title that load on demand: the link to the namespace, the copy button and the menu.

import "../core-code.ts";
import { copyName, textOf } from "../list/copy-items.ts";
import { sharedParts } from "../model/guest.ts";
import { formatHome } from "../model/home-view.ts";
import type { JsonObject } from "../net/wire.ts";
import { h, textNodes } from "../ui/dom.ts";
import type { TabHost } from "./tab.ts";

/**
 * Adds the copy button after the heading, and the menu before the element `next`. A namespace in the heading becomes a
 * link. `object` returns the shown version of the object, or null if it is not loaded.
 */
export function addTitleTools(
  heading: HTMLElement,
  next: HTMLElement,
  host: TabHost,
  object: () => JsonObject | null,
): void {
  const { ns, name } = host.name;
  const text = textOf(host.name);
  // A share link does not always include the home page of the namespace, so guests get no link.
  if (ns !== "" && heading.textContent === text && sharedParts() === null)
    heading.replaceChildren(
      h("a", { class: "namespace", href: formatHome({ ns: [ns], q: "" }), title: `Problems in ${ns}` }, ns),
      ...textNodes(`/${name}`),
    );
  const copy = h("button", {
    type: "button",
    class: "icon copy-name",
    "aria-label": "Copy name",
    title: `Copy ${text}`,
  });
  copy.addEventListener("click", () => void copyName(host.name));
  heading.after(copy);
  const menu = h("button", { type: "button", class: "icon", "aria-label": "Actions" }, "⋯");
  menu.addEventListener(
    "click",
    () => void import("./object-menu.ts").then((m) => m.openObjectMenu(host, object, menu)),
  );
  next.before(menu);
}
