// The layout of differences, inline or side by side: a preference that the browser stores.

import { h } from "./dom.ts";
import type { Layout } from "./diffview.ts";
import { habits } from "./stored.ts";

const key = "glasshouse-diff";

export function keptLayout(usual: Layout): Layout {
  const kept = habits.get(key);
  return kept === "split" || kept === "inline" ? kept : usual;
}

/** Returns two buttons, one of which is pressed. */
export function layoutSwitch(now: Layout, turn: (to: Layout) => void): HTMLElement {
  const button = (to: Layout, words: string): HTMLElement => {
    const b = h("button", { type: "button", "data-layout": to, "aria-pressed": String(to === now) }, words);
    b.addEventListener("click", () => {
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === b));
      habits.set(key, to);
      turn(to);
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
