// The commands of each type of page. A command is an action that a key or the command palette starts.

import { withBase } from "./net/base-path.ts";
import type { Command, KeyScope } from "./palette/commands.ts";
import { byId, input } from "./ui/dom.ts";
import type { PaletteLauncher } from "./palette/palette-launcher.ts";
import { singleKeysEnabled } from "./ui/single-key.ts";
import type { ListPage } from "./list/list.ts";
import type { RowCommand } from "./list/row-actions.ts";
import { density, setDensity, setTheme, togglePicker, toggleTheme } from "./ui/theme.ts";
import type { Panel } from "./object/panel.ts";
import type { Picker } from "./list/picker.ts";
import type { Popover } from "./ui/popover.ts";
import { showToast } from "./ui/toast.ts";
import type { TabDefinition } from "./object/tab.ts";
import { tabsFor } from "./object/tabs.ts";
import { hasLogs, plural, type Kind } from "./net/kinds.ts";
import type { Table } from "./list/table.ts";

const command = (
  group: string,
  keys: string,
  scope: KeyScope,
  label: string,
  run: (key: string) => void,
  options: Partial<Command> = {},
): Command => ({ group, keys: keys === "" ? [] : keys.split(" "), scope, label, run, ...options });
const inPalette = { inPalette: true };

/**
 * Returns the commands that every page has.
 * The parameter `share` opens the share dialog. It is null for guests (viewers of a share link).
 * The parameter `home` is the URL of the home page. It is null for guests whose link shares only one list.
 * The parameter `contexts` opens the chooser for kubeconfig contexts. It is null if the server offers only one.
 */
export function pageCommands(
  jump: PaletteLauncher,
  help: () => void,
  share: (() => void) | null,
  contexts: (() => void) | null,
  home: string | null,
): Command[] {
  return [
    command("Page", "Mod+k", "everywhere", "Search or jump to…", () => jump.open("")),
    command("Page", ":", "page", "Go to resource (:po shop)", () => jump.open(":")),
    ...(home === null ? [] : [command("Page", "h", "page", "Home", () => location.assign(home), inPalette)]),
    ...(contexts === null ? [] : [command("Page", "C", "page", "Switch context", contexts, inPalette)]),
    command("Page", "b", "page", "Collapse or expand the resource list", togglePicker, inPalette),
    command("Page", "t", "page", "Toggle theme", toggleTheme, inPalette),
    command("Page", "", "page", "Use system theme", () => setTheme(""), inPalette),
    ...(share === null
      ? []
      : [
          command("Page", "u", "page", "Copy link to this view", () => void copyLink(), inPalette),
          command("Page", "L", "page", "Share this view, manage links", share, inPalette),
          command("Page", "S", "page", "Go to watch status", () => location.assign(withBase("/status")), inPalette),
        ]),
    command("Page", "?", "page", "Keyboard shortcuts", help, inPalette),
    command("Page", "Escape", "text-field", "Leave the text field", () => leaveTextField()),
  ];
}

/** What the commands of rows need: the rows of a list, or the problems of the home page. */
interface RowsHost {
  /** The group of the commands in the help: "Rows" or "Problems". */
  readonly group: string;
  setFilter(q: string): void;
  /** Moves the focus from the filter to the rows. */
  focus(): void;
  move(by: Parameters<Table["move"]>[0]): void;
  open(): void;
  /** Starts an action of the current row. */
  act(action: "menu" | "copy"): void;
}

/** Returns the commands of rows, which are the same in lists and on the home page. */
export function rowCommands(rows: RowsHost): Command[] {
  const { group } = rows;
  const one = group.slice(0, -1).toLowerCase(); // "row" or "problem"
  const move = (keys: string, label: string, by: Parameters<RowsHost["move"]>[0]): Command =>
    command(group, keys, "rows", label, () => rows.move(by), { repeats: true });
  return [
    command(
      group,
      "/",
      "page",
      "Filter",
      () => {
        input("q")?.focus();
        input("q")?.select();
      },
      inPalette,
    ),
    command(group, "Enter ArrowDown", "filter", `Move to ${group.toLowerCase()}`, () => rows.focus()),
    command(group, "Escape", "filter", "Clear filter", () => rows.setFilter(""), {
      isEnabled: () => input("q")?.value !== "",
    }),
    move("j ArrowDown", `Next ${one}`, 1),
    move("k ArrowUp", `Previous ${one}`, -1),
    move("g Home", `First ${one}`, "first"),
    move("G End", `Last ${one}`, "last"),
    move("PageDown", "Page down", "page-down"),
    move("PageUp", "Page up", "page-up"),
    command(group, "Enter", "rows", "Open object", () => rows.open()),
    command(group, ".", "page", "Actions", () => rows.act("menu"), inPalette),
    command(group, "Y", "page", "Copy name", () => rows.act("copy"), inPalette),
  ];
}

export function listCommands(
  list: ListPage,
  picker: Picker,
  namespacePopover: Popover,
  columnPopover: Popover,
): Command[] {
  const focusRows = (): void => byId("table").focus({ preventScroll: true });
  const isOpen = (): boolean => list.view.open !== null;
  const selectColumn = (by: number): void => {
    const column = list.table.chooseColumn(by);
    if (column !== "") showToast(`Column ${column}${singleKeysEnabled() ? ": press s to sort" : ""}`);
  };
  const height = (to: string): void => list.table.changeRowHeight(() => setDensity(to));
  return [
    ...rowCommands({
      group: "Rows",
      setFilter: (q) => list.setFilter(q),
      focus: () => {
        focusRows();
        if (list.table.activeEntry === undefined) list.table.move("first");
      },
      move: (by) => {
        // If the focus is inside the panel, keep it there, and show the next or previous object in the panel.
        if (document.activeElement?.closest("#panel") == null) focusRows();
        else if (by === 1 || by === -1) return list.step(by);
        list.table.move(by);
      },
      open: () => {
        const at = list.table.activeEntry;
        if (at !== undefined) list.open(at.ns, at.name);
      },
      act: (action) => void rowCommand(list, action),
    }),
    command(
      "Rows",
      "ArrowLeft ArrowRight",
      "rows",
      "Select column",
      (key) => selectColumn(key === "ArrowLeft" ? -1 : 1),
      {
        repeats: true,
      },
    ),
    command("Rows", "s", "page", "Sort by selected column", () => list.sortBy(list.table.chooseColumn(0)), inPalette),
    command("Rows", "", "rows", "Mark row to compare", () => void rowCommand(list, "mark"), {
      ...inPalette,
      keys: [" "],
    }),
    command("Rows", "=", "page", "Compare marked rows", () => void rowCommand(list, "compare"), inPalette),
    ...tabCommands(tabsFor(list.openedKind), (key) => list.openTab(key)),
    ...logCommands(list.openedKind, () => list.togglePreviousLog()),
    command("Object", "] [", "page", "Next / previous object", (key) => list.step(key === "]" ? 1 : -1), {
      repeats: true,
      isEnabled: isOpen,
    }),
    command("Object", "Escape", "page", "Close panel", () => list.close(), { ...inPalette, isEnabled: isOpen }),
    command("View", "n", "page", "Select namespaces", () => namespacePopover.open(), {
      ...inPalette,
      isEnabled: () => byId("namespace-button").checkVisibility() && list.hasData,
    }),
    command(
      "View",
      "w",
      "page",
      "Toggle wide columns",
      () => list.change({ cols: list.view.cols.join() === "wide" ? [] : ["wide"] }),
      inPalette,
    ),
    command("View", "v", "page", "Show or hide columns", () => columnPopover.open(), {
      ...inPalette,
      isEnabled: () => list.hasData,
    }),
    command("View", "d", "page", "Change row density", () =>
      height({ compact: "", "": "roomy", roomy: "compact" }[density()] ?? ""),
    ),
    command("View", "", "page", "Density: compact", () => height("compact"), inPalette),
    command("View", "", "page", "Density: normal", () => height(""), inPalette),
    command("View", "", "page", "Density: comfortable", () => height("roomy"), inPalette),
    command(
      "View",
      "x",
      "page",
      "Export",
      () => {
        const menu = byId("export") as HTMLDetailsElement;
        menu.querySelector("summary")?.focus();
        menu.open = true;
      },
      { ...inPalette, isEnabled: () => byId("export").checkVisibility() },
    ),
    command("View", "m", "page", "Toggle charts", () => list.charts.toggle(), inPalette),
    command("View", "a", "page", "Toggle activity", () => list.activity.toggle(), inPalette),
    command("View", "p", "page", "Pin or unpin resource", () => picker.pin(), {
      ...inPalette,
      isEnabled: () => !byId("picker").hidden,
    }),
  ];
}

/**
 * Returns the commands of an object page. The parameter goToList opens the list of the object's resource. It is null
 * if the viewer is not permitted to see that list.
 */
export function objectCommands(kind: Kind, panel: Panel, goToList: (() => void) | null): Command[] {
  return [
    ...tabCommands(tabsFor(kind), (key) => panel.openByKey(key)),
    ...logCommands(kind, () => panel.togglePreviousLog()),
    ...(goToList === null ? [] : [command("Object", "Escape", "page", "Back to list", goToList, inPalette)]),
  ];
}

/** Returns the commands that open the tabs of an object. */
export function tabCommands(shown: readonly TabDefinition[], open: (key: string) => void): Command[] {
  return shown.flatMap((t) => (t.key === undefined ? [] : [command("Object", t.key, "page", t.label, open)]));
}

export const previousLogCommand = (run: () => void): Command =>
  command("Object", "P", "page", "Log of the previous container instance", run, inPalette);

// If the page shows no logs, the key "l" shows a message, so that it always has a visible effect.
function logCommands(kind: Kind, togglePrevious: () => void): Command[] {
  return tabsFor(kind).some((t) => t.key === "l")
    ? [previousLogCommand(togglePrevious)]
    : [
        command("Object", "l", "page", "Logs", () =>
          showToast(hasLogs(kind.ref) ? "The share link does not include logs." : `${plural(kind)} have no logs.`),
        ),
      ];
}

const rowCommand = async (list: ListPage, name: RowCommand): Promise<void> =>
  (await import("./list/row-actions.ts")).runRowCommand(list, name);

async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    showToast("Link copied");
  } catch {
    showToast("Could not copy the link. Copy it from the address bar.");
  }
}

function leaveTextField(): void {
  const table = document.getElementById("table");
  if (table === null) (document.activeElement as HTMLElement | null)?.blur();
  else table.focus({ preventScroll: true });
}
