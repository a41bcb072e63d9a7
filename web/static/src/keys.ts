// The keyboard: / filters, j k and the arrows move, Enter opens, Esc closes, a
// opens and closes the activity; some tabs of an object have a letter.

import { byId, input } from "./dom.ts";
import type { ListPage } from "./list.ts";

export function listenToKeys(list: ListPage): void {
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return;
    const at = e.target instanceof HTMLElement ? e.target : document.body;
    const typing = at instanceof HTMLInputElement && at.type !== "checkbox";
    if (e.key === "Escape") {
      if (typing && at.id === "q" && at.value !== "") {
        at.value = "";
        list.applyForm("replace");
      } else if (typing) {
        byId("table").focus({ preventScroll: true });
      } else {
        list.close();
      }
      return;
    }
    if (typing) {
      // From the filter straight into the rows.
      if (at.id === "q" && (e.key === "Enter" || e.key === "ArrowDown")) {
        e.preventDefault();
        byId("table").focus({ preventScroll: true });
        if (list.table.activeEntry === undefined) list.table.move("first");
      }
      return;
    }
    if (e.key === "/") {
      e.preventDefault();
      const q = input("q");
      q?.focus();
      q?.select();
      return;
    }
    if (e.key === "a") return list.activity.toggle();
    if (e.key.length === 1 && list.openTab(e.key)) return e.preventDefault();
    const onRows = at === document.body || at.closest("#rows") !== null || at.id === "main";
    const letters = at.closest("#panel") !== null;
    const move = moves[e.key];
    if (move !== undefined && (onRows || (letters && e.key.length === 1))) {
      e.preventDefault();
      list.table.move(move);
      if (onRows) byId("table").focus({ preventScroll: true });
    } else if (e.key === "Enter" && onRows && at.closest("button") === null) {
      const entry = list.table.activeEntry;
      if (entry === undefined) return;
      e.preventDefault();
      list.open(entry.ns, entry.name);
    }
  });
}

const moves: Readonly<Record<string, Parameters<ListPage["table"]["move"]>[0]>> = {
  j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: "page-down", PageUp: "page-up", Home: "first", End: "last", g: "first", G: "last",
};
