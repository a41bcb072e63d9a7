// The menu with the actions of one object, and the actions that lists and the home page share.

import "../core-code.ts";
import type { ObjectName } from "../model/view.ts";
import { objectWord, shellWord } from "../text/shell-word.ts";
import { copyText } from "../ui/clipboard.ts";
import { h } from "../ui/dom.ts";
import { singleKeysEnabled } from "../ui/single-key.ts";
import { loadTabStyle } from "../ui/tab-style.ts";
import { showToast } from "../ui/toast.ts";

/** An item of the menu, which is a link or runs a function. */
export interface MenuItem {
  readonly label: string;
  readonly key?: string | undefined;
  readonly run?: () => void;
  readonly href?: string;
}

/** Returns the name of an object in the form that the page uses everywhere, such as "shop/web-1". */
export const textOf = (o: ObjectName): string => (o.ns === "" ? o.name : `${o.ns}/${o.name}`);

export const copyName = (o: ObjectName): Promise<void> => copy(textOf(o));

async function copy(text: string): Promise<void> {
  showToast((await copyText(text)) ? `Copied ${text}` : "Could not copy: the browser denied access.");
}

/** Returns a command that prints the object with kubectl. */
export function kubectlCommand(ref: string, o: ObjectName): string {
  const [group = "", version = "", resource = ""] = ref.split("/");
  const type = group === "core" ? resource : `${resource}.${version}.${group}`;
  return `kubectl get ${objectWord(type, o.name)}${o.ns === "" ? "" : ` -n ${shellWord(o.ns)}`} -o yaml`;
}

export const copyItems = (ref: string, o: ObjectName): MenuItem[] => [
  { label: "Copy name", key: "Y", run: () => void copyName(o) },
  { label: "Copy kubectl command", run: () => void copy(kubectlCommand(ref, o)) },
];

/**
 * Opens a menu at the position `at`. Inserts the menu after the element `rows`. When the menu closes, the keyboard
 * focus moves to the element `focus`.
 */
export async function openRowMenu(
  title: string,
  items: readonly MenuItem[],
  at: DOMRect,
  rows: HTMLElement,
  focus: HTMLElement,
): Promise<void> {
  await loadTabStyle();
  document.querySelector(".row-menu")?.remove();
  const menu = h("div", { class: "row-menu", role: "menu", popover: "auto", "aria-label": `Actions of ${title}` });
  const elements = items.map((item) => elementOf(item, () => menu.hidePopover()));
  menu.append(h("p", { "aria-hidden": "true" }, title), ...elements);
  rows.after(menu);
  menu.addEventListener("keydown", (e) => {
    const step = e.key === "ArrowDown" || e.key === "j" ? 1 : e.key === "ArrowUp" || e.key === "k" ? -1 : 0;
    const byKey = elements.find((i) => i.dataset["key"] === e.key);
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (step !== 0)
      elements[
        (elements.indexOf(document.activeElement as HTMLElement) + step + elements.length) % elements.length
      ]?.focus();
    else if (byKey !== undefined) byKey.click();
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  menu.addEventListener("toggle", (e) => {
    if (e.newState === "open") return;
    if (menu.contains(document.activeElement) || document.activeElement === document.body)
      focus.focus({ preventScroll: true });
    menu.remove();
  });
  menu.showPopover();
  const size = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(at.bottom + 2, innerHeight - size.height - 8))}px`;
  elements[0]?.focus();
}

function elementOf({ label, key = "", run, href }: MenuItem, close: () => void): HTMLElement {
  if (href !== undefined) {
    const link = h("a", { role: "menuitem", tabindex: "-1", target: "_blank", href }, label);
    link.addEventListener("click", close);
    return link;
  }
  const e = h("button", { type: "button", role: "menuitem", tabindex: "-1", "data-key": key || null }, label);
  if (key !== "" && singleKeysEnabled()) e.append(h("kbd", {}, key === " " ? "Space" : key));
  e.addEventListener("click", () => {
    close();
    run?.();
  });
  return e;
}
