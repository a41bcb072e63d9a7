// The layout of diffs: inline or side by side. The browser stores the user's choice.

import { h } from "../ui/dom.ts";
import type { DiffLayout } from "./diff-view.ts";
import { preferences } from "../ui/preferences.ts";

const storageKey = "glasshouse-diff";

export function storedLayout(fallback: DiffLayout): DiffLayout {
  const stored = preferences.get(storageKey);
  return stored === "split" || stored === "inline" ? stored : fallback;
}

/** Returns the buttons "Inline" and "Side by side". The button of the current layout is pressed. */
export function layoutSwitch(now: DiffLayout, onChange: (layout: DiffLayout) => void): HTMLElement {
  const button = (layout: DiffLayout, label: string): HTMLElement => {
    const b = h("button", { type: "button", "data-layout": layout, "aria-pressed": String(layout === now) }, label);
    b.addEventListener("click", () => {
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === b));
      preferences.set(storageKey, layout);
      onChange(layout);
    });
    return b;
  };
  const group = h(
    "div",
    { class: "switch", role: "group", "aria-label": "Diff layout" },
    button("inline", "Inline"),
    button("split", "Side by side"),
  );
  return group;
}
