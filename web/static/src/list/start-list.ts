// Starts the list page: connects the list with the URL, the browser's history, clicks and the form above the rows.

import { listCommands } from "../keymap.ts";
import { isKiosk } from "../net/base-path.ts";
import { defaultView, formatView, pageHref, parseView, withObject, type View } from "../model/view.ts";
import type { Kind } from "../net/kinds.ts";
import { removeUnknownTab } from "../object/tabs.ts";
import { defaultController, type PageController, type PageServices } from "../page-services.ts";
import { byId, input, setAttr } from "../ui/dom.ts";
import { Popover } from "../ui/popover.ts";
import { rememberRecent, withPreferredColumns } from "../ui/preferences.ts";
import { ScrollState, scrollPositionOf } from "../ui/scroll-state.ts";
import { makeWidthResizable } from "../ui/width-resizer.ts";
import { ListPage } from "./list.ts";
import type { Picker } from "./picker.ts";

type Navigate = (view: View, mode?: "push" | "replace") => void;

export function startList(section: HTMLElement, services: PageServices): PageController {
  const { live, picker, now } = services;
  const initialKind = {
    ref: section.dataset["ref"] ?? "",
    kind: section.dataset["kind"] ?? "",
    resource: section.dataset["resource"] ?? "",
    namespaced: section.dataset["namespaced"] !== undefined,
  };
  picker.add(initialKind);
  const currentView = (): View => parseView(location.pathname, location.search, initialKind.ref);
  const { open, ref } = currentView();
  if (open !== null) removeUnknownTab(kindOfObject(initialKind, open.ref ?? ref));
  const navigate: Navigate = (wanted, mode = "push") => {
    const view = { activity: list.view.activity ?? "", ...wanted };
    const href = list.hasData ? formatView(view) : pageHref(view);
    const kind = picker.get(view.ref);
    if (kind === undefined || !list.hasData) return location.assign(href);
    if (href !== location.pathname + location.search) {
      if (mode === "push") scrollState.save();
      history[mode === "push" ? "pushState" : "replaceState"](mode === "push" ? null : history.state, "", href);
    }
    rememberRecent("kinds", view.ref);
    list.show(view, kind);
    scrollState.scheduleSave();
  };
  const list = new ListPage(
    live,
    picker,
    now,
    navigate,
    initialKind,
    currentView(),
    Number(section.dataset["limit"] ?? Infinity),
    scrollPositionOf(history.state),
  );
  const scrollState = new ScrollState(byId("rows"), () => list.scrollPosition);
  rememberRecent("kinds", initialKind.ref);
  const namespacePopover = new Popover(byId("namespace-button") as HTMLButtonElement, "Namespaces", async (close) =>
    (await import("./namespace-chooser.tsx")).namespaceChooser(live, list, close),
  );
  const columnPopover = new Popover(byId("columns") as HTMLButtonElement, "Columns", async () =>
    (await import("./column-chooser.tsx")).columnChooser(list),
  );
  const menu = byId("export");
  menu.addEventListener("toggle", () => void import("../ui/menu.ts").then(({ addMenuKeys }) => addMenuKeys(menu)), {
    once: true,
  });

  const servedUrl = location.pathname + location.search;
  addEventListener("popstate", () => {
    const view = currentView();
    const kind = picker.get(view.ref);
    if (kind === undefined) location.reload();
    else if (!list.hasData) {
      // Do not reload if only the fragment (the part after "#") of the URL has changed.
      if (location.pathname + location.search !== servedUrl) location.reload();
    } else {
      scrollState.cancelSave();
      list.show(view, kind, scrollPositionOf(history.state) ?? 0);
    }
  });
  listenToClicks(list, picker, navigate);
  listenToForm(list);
  // When the pointer enters a truncated cell, set the cell's tooltip to its full text.
  byId("tbody").addEventListener("mouseover", (e) => {
    const cell = e.target instanceof Element ? e.target.closest("td, th") : null;
    if (cell !== null && cell.scrollWidth > cell.clientWidth && !cell.hasAttribute("title"))
      setAttr(cell, "title", cell.textContent ?? "");
  });
  byId("rows").addEventListener(
    "pointerover",
    () => void import("./row-actions.ts").then(({ startRowMenu }) => startRowMenu(list)),
    { once: true, passive: true },
  );
  byId("pending-changes").addEventListener("click", () => list.table.applyPendingChanges());
  byId("table").tabIndex = 0;
  setInterval(() => list.tick(), 1000);
  if (isKiosk()) void import("./kiosk-totals.tsx").then(({ showTotals }) => showTotals(list, now));
  makeWidthResizable(byId("split"), byId("panel"));

  const go = (view: View): void => navigate(withPreferredColumns(view, list.view.ref));
  return {
    ...defaultController,
    list,
    retryable: list,
    // If the panel shows an object of another resource, offer only the list: its share link cannot include that object.
    content: () => {
      const { view, listedObject: object } = list;
      const isListed = view.open === null || object !== null;
      return { kind: list.kind, view: isListed ? view : { ...view, open: null, tab: "" }, object, tab: view.tab };
    },
    commands: () => listCommands(list, picker, namespacePopover, columnPopover),
    refresh: () => list.refresh(),
    go,
    open: (ref, object) => {
      if (list.view.ref === ref) list.change({ open: object });
      else go({ ...defaultView(ref), ns: object.ns === "" ? [] : [object.ns], open: object });
    },
  };
}

// Returns the resource of the object in the panel. It can differ from the resource of the list.
const kindOfObject = (listed: Kind, ref: string): Kind =>
  ref === listed.ref ? listed : { ...listed, ref, resource: ref.split("/")[2] ?? "" };

function listenToClicks(list: ListPage, picker: Picker, navigate: Navigate): void {
  document.addEventListener("click", (e) => {
    // Handle plain clicks only. For clicks with a modifier key, the browser opens the link as usual.
    if (
      e.defaultPrevented ||
      e.button !== 0 ||
      e.ctrlKey ||
      e.metaKey ||
      e.shiftKey ||
      e.altKey ||
      !(e.target instanceof Element)
    )
      return;
    if (!list.hasData && e.target.closest("a") !== null) return;
    const ref = e.target.closest<HTMLElement>("a[data-ref]")?.dataset["ref"];
    if (ref !== undefined) {
      e.preventDefault();
      const view = list.view;
      // When the user switches to another namespaced resource, the selected namespaces are kept.
      const ns = ref !== view.ref && picker.get(ref)?.namespaced === true ? view.ns : [];
      navigate(withPreferredColumns({ ...defaultView(ref), ns }, view.ref));
      document.getElementById("picker")?.hidePopover();
      return;
    }
    const address = e.target.closest<HTMLAnchorElement>("a[data-address]");
    if (address !== null) {
      e.preventDefault();
      const { ref, open, tab, ...rest } = parseView(address.pathname, address.search, list.view.ref);
      // A link in the panel to another object changes only the panel. The list stays the same.
      const keepsList = address.closest("#panel") !== null;
      return navigate(
        keepsList && open !== null && list.view.open !== null
          ? withObject(list.view, ref, open, tab)
          : { ...rest, ref, open, tab },
      );
    }
    const sort = e.target.closest<HTMLElement>("[data-sort]")?.dataset["sort"];
    if (sort !== undefined) {
      e.preventDefault();
      return list.sortBy(sort);
    }
    const tr = e.target.closest<HTMLElement>("#tbody tr[data-name]");
    if (tr === null || String(getSelection()) !== "") return;
    e.preventDefault();
    list.table.activateRow(tr);
    list.open(tr.dataset["ns"] ?? "", tr.dataset["name"] ?? "");
  });
}

function listenToForm(list: ListPage): void {
  byId("filters").addEventListener("submit", (e) => {
    if (!list.hasData) return;
    e.preventDefault();
    list.applyForm("push");
  });
  for (const [id, type, mode] of [
    ["q", "input", "replace"],
    ["labels", "change", "push"],
  ] as const)
    input(id)?.addEventListener(type, () => list.hasData && list.applyForm(mode));
  input("labels")?.addEventListener(
    "input",
    () => void import("./filter-help.ts").then(({ startLabelTyping }) => startLabelTyping(list)),
    { once: true },
  );
}
