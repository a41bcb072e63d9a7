// The commands (actions that a key or the palette starts) of each type of page.

import { under } from "./base.ts";
import type { Command, Where } from "./commands.ts";
import { byId, input } from "./dom.ts";
import type { Jump } from "./jump.ts";
import { lettersAct } from "./letters.ts";
import type { ListPage } from "./list.ts";
import { density, setDensity, setTheme, turnTheme } from "./look.ts";
import type { Panel } from "./panel.ts";
import type { Picker } from "./picker.ts";
import type { Popover } from "./popover.ts";
import { say } from "./said.ts";
import { tabsOf } from "./tabs.ts";
import type { Kind } from "./kinds.ts";
import type { Table } from "./table.ts";

const command = (
  group: string,
  keys: string,
  where: Where,
  words: string,
  run: (key: string) => void,
  more: Partial<Command> = {},
): Command => ({ group, keys: keys === "" ? [] : keys.split(" "), where, words, run, ...more });
const offered = { offered: true };

/**
  * Returns the commands that every page has. share: opens the share dialog; null for guests. contexts: null if the
  * server offers only one cluster.
 */
export function pageCommands(
  jump: Jump,
  help: () => void,
  share: (() => void) | null,
  contexts: (() => void) | null,
): Command[] {
  return [
    command("Page", "Mod+k", "ever", "Search or jump to…", () => jump.open("")),
    command("Page", ":", "page", "Go to resource (:po shop)", () => jump.open(":")),
    ...(contexts === null
      ? []
      : [command("Page", "C", "page", "Switch context", contexts, offered)]),
    command("Page", "t", "page", "Toggle theme", turnTheme, offered),
    command("Page", "", "page", "Use system theme", () => setTheme(""), offered),
    ...(share === null ? [] : [
      command("Page", "u", "page", "Copy link to this view", () => void copyLink(), offered),
      command("Page", "L", "page", "Share this view, manage links", share, offered),
      command("Page", "S", "page", "Go to watch status", () => location.assign(under("/status")), offered),
    ]),
    command("Page", "?", "page", "Help", help, offered),
    command("Page", "Escape", "box", "Leave the text field", () => leave()),
  ];
}

/** Returns the commands of a list page. */
export function listCommands(list: ListPage, picker: Picker, spaces: Popover, columns: Popover): Command[] {
  const rows = (): void => byId("table").focus({ preventScroll: true });
  const move = (keys: string, words: string, by: Parameters<Table["move"]>[0]): Command =>
    command(
      "Rows",
      keys,
      "rows",
      words,
      () => {
        // If the focus is inside the panel, it stays there, and the panel shows the next or previous object.
        if (document.activeElement?.closest("#panel") == null) rows();
        else if (by === 1 || by === -1) return list.step(by);
        list.table.move(by);
      },
      { repeats: true },
    );
  const isOpen = (): boolean => list.view.open !== null;
  const choose = (by: number): void => {
    const column = list.table.chooseColumn(by);
    if (column !== "") say(`Column ${column}${lettersAct() ? ": press s to sort" : ""}`);
  };
  const height = (to: string): void => list.table.resize(() => setDensity(to));
  return [
    command("Rows", "/", "page", "Filter", () => {
      input("q")?.focus();
      input("q")?.select();
    }, offered),
    command("Rows", "Enter ArrowDown", "filter", "Move to rows", () => {
      rows();
      if (list.table.activeEntry === undefined) list.table.move("first");
    }),
    command("Rows", "Escape", "filter", "Clear filter", () => list.setFilter(""), {
      can: () => input("q")?.value !== "",
    }),
    move("j ArrowDown", "Down", 1),
    move("k ArrowUp", "Up", -1),
    move("g Home", "First row", "first"),
    move("G End", "Last row", "last"),
    move("PageDown", "Page down", "page-down"),
    move("PageUp", "Page up", "page-up"),
    command("Rows", "Enter", "rows", "Open", () => {
      const at = list.table.activeEntry;
      if (at !== undefined) list.open(at.ns, at.name);
    }),
    command("Rows", "ArrowLeft ArrowRight", "rows", "Select column", (key) => choose(key === "ArrowLeft" ? -1 : 1), {
      repeats: true,
    }),
    command("Rows", "s", "page", "Sort by selected column", () => list.sortBy(list.table.chooseColumn(0)), offered),
    ...tabCommands(list.kind, (key) => list.openTab(key)),
    command("Object", "] [", "page", "Next / previous object", (key) => list.step(key === "]" ? 1 : -1), {
      repeats: true,
      can: isOpen,
    }),
    command("Object", "Escape", "page", "Close panel", () => list.close(), { ...offered, can: isOpen }),
    command("View", "n", "page", "Select namespaces", () => spaces.open(), {
      ...offered,
      can: () => byId("spaces").checkVisibility() && list.began,
    }),
    command(
      "View",
      "w",
      "page",
      "Toggle wide columns",
      () => list.change({ cols: list.view.cols.join() === "wide" ? [] : ["wide"] }),
      offered,
    ),
    command("View", "v", "page", "Select columns", () => columns.open(), { ...offered, can: () => list.began }),
    command("View", "d", "page", "Change row density", () =>
      height({ compact: "", "": "roomy", roomy: "compact" }[density()] ?? ""),
    ),
    command("View", "", "page", "Density: compact", () => height("compact"), offered),
    command("View", "", "page", "Density: normal", () => height(""), offered),
    command("View", "", "page", "Density: comfortable", () => height("roomy"), offered),
    command("View", "x", "page", "Export", () => {
      const menu = byId("export") as HTMLDetailsElement;
      menu.querySelector("summary")?.focus();
      menu.open = true;
    }, { ...offered, can: () => byId("export").checkVisibility() }),
    command("View", "a", "page", "Toggle activity", () => list.activity.toggle(), offered),
    command("View", "p", "page", "Pin or unpin resource", () => picker.pin(), {
      ...offered,
      can: () => !byId("picker").hidden,
    }),
  ];
}

/** Returns the commands of an object page. leave: navigates to the list; null if the viewer may not see the list. */
export function objectCommands(kind: Kind, panel: Panel, leave: (() => void) | null): Command[] {
  return [
    ...tabCommands(kind, (key) => panel.press(key)),
    ...(leave === null ? [] : [command("Object", "Escape", "page", "Back to list", leave, offered)]),
  ];
}

function tabCommands(kind: Kind, open: (key: string) => void): Command[] {
  return tabsOf(kind).flatMap((t) => (t.key === undefined ? [] : [command("Object", t.key, "page", t.label, open)]));
}

async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    say("Link copied");
  } catch {
    say("Could not copy the link. Copy it from the address bar.");
  }
}

function leave(): void {
  const rows = document.getElementById("table");
  if (rows === null) (document.activeElement as HTMLElement | null)?.blur();
  else rows.focus({ preventScroll: true });
}
