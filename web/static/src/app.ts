// The entry point of the page's script. It connects the parts of the page. The server renders the page first as HTML;
// afterwards, this script keeps it current.

import { historyState, nextReload, hasReloadState } from "./list/pending-kind.ts";
import { isKiosk, withBase } from "./net/base-path.ts";
import { BuildMonitor, recordReloadFor, showUpdateNotice, isBuildServed } from "./ui/build-monitor.ts";
import { Clock } from "./ui/clock.ts";
import type { Command } from "./palette/commands.ts";
import { byId, h, input, setAttr, setText } from "./ui/dom.ts";
import { endShare, sharedParts } from "./model/guest.ts";
import { showExpiry } from "./ui/share-expiry.ts";
import { PaletteLauncher } from "./palette/palette-launcher.ts";
import { Contexts } from "./net/contexts.ts";
import { listCommands, objectCommands, pageCommands } from "./keymap.ts";
import { listenToKeys } from "./palette/keys.ts";
import { ListPage } from "./list/list.ts";
import { Latency, latencyText } from "./net/latency.ts";
import { plural } from "./net/kinds.ts";
import type { Retryable } from "./ui/kiosk.ts";
import { Live } from "./net/live.ts";
import { checkLogin, reloadToLogIn } from "./net/login.ts";
import { toggleTheme } from "./ui/theme.ts";
import { Panel } from "./object/panel.ts";
import { Picker } from "./list/picker.ts";
import { ScrollState, scrollPositionOf } from "./ui/scroll-state.ts";
import { makeWidthResizable } from "./ui/width-resizer.ts";
import { Popover } from "./ui/popover.ts";
import { showToast } from "./ui/toast.ts";
import { rememberRecent, storedList } from "./ui/preferences.ts";
import type { ShareDialog } from "./share/share.tsx";
import type { PageContent } from "./share/share-host.ts";
import {
  formatView,
  objectHref,
  pageHref,
  parseLog,
  parseView,
  defaultView,
  titleOf,
  type ObjectName,
  type View,
} from "./model/view.ts";

// Wait until the browser has painted the rows that the server rendered, so that this script does not delay them. A
// hidden page is not painted, so there is nothing to wait for.
await new Promise<unknown>((then) => {
  if (document.hidden) return then(null);
  requestAnimationFrame(() => setTimeout(then));
  setTimeout(then, 500);
});

const guest = sharedParts() !== null;
const clock = new Clock();
const now = (): number => clock.now();

const cluster = document.documentElement.dataset["cluster"] ?? "";
const socket = new URL(
  withBase(`/api/v1/live?${new URLSearchParams({ cluster, parts: "true" }).toString()}`),
  location.href,
);
socket.protocol = socket.protocol === "https:" ? "wss:" : "ws:";
let refresh = (): void => {};
const live = new Live(
  socket.href,
  {
    open: (url, protocol) => new WebSocket(url, protocol),
    now: () => Date.now(),
    random: () => Math.random(),
    after: (ms, run) => setTimeout(run, ms),
    cancel: (timer) => clearTimeout(timer as number | undefined),
    report: (what) => console.warn(`glasshouse: ${what}`),
    accessEnded: (again) => (guest ? endShare() : void checkLogin(again, reloadToLogIn)),
    clusterSwitched: openStartPage,
  },
  () => {
    latency.reconnected();
    picker.setStale(live.connection === "lost");
    refresh();
  },
);
const latency = new Latency(
  live,
  {
    clock: () => performance.now(),
    now,
    after: (ms, run) => setTimeout(run, ms),
    cancel: (timer) => clearTimeout(timer as number | undefined),
    hidden: () => document.hidden,
  },
  () => {
    const e = byId("latency");
    e.hidden = latency.ms === null;
    if (latency.ms === null) return;
    const { text, title } = latencyText(latency.ms, latency.at, now());
    setText(e, text);
    e.title = title;
  },
);

// isIdle reports whether a reload of the page would lose nothing: the filter of the resource picker is empty, no
// dialog is open, and no text is selected.
const isIdle = (): boolean =>
  (byId("picker-filter") as HTMLInputElement).value === "" &&
  document.querySelector("dialog[open], :popover-open") === null &&
  String(getSelection()) === "";

const build = new BuildMonitor(new URL(import.meta.url).searchParams.get("v") ?? "", {
  hidden: () => document.hidden || isKiosk(), // a kiosk (a wall display) has no user, so it counts as hidden
  canReload: () => isKiosk() || (listPage?.canReload === true && isIdle()),
  isServed: isBuildServed,
  after: (ms, run) => setTimeout(run, ms),
  cancel: (timer) => clearTimeout(timer as number | undefined),
  random: () => Math.random(),
  recordReload: recordReloadFor,
  reload: () => location.reload(),
  updateChanged: (other) => showUpdateNotice(other, () => location.reload()),
});
document.addEventListener("visibilitychange", () => build.visibilityChanged());

let onKindsListed = (): void => {};
const picker = new Picker(
  byId("picker-filter") as HTMLInputElement,
  byId("picker-groups"),
  (date) => clock.sync(date),
  (other) => build.setServerBuild(other),
  () => onKindsListed(),
  guest ? endShare : reloadToLogIn,
);
const page = document.querySelector<HTMLElement>("[data-page]");

// These variables depend on the type of the page. startList and startObject set them.
let listPage: ListPage | null = null;
let retryable: Retryable | null = null; // the list or object whose refused requests are retried in kiosk mode
let pageContent = (): PageContent | null => null;
let specificCommands = (): readonly Command[] => [];
let navigate = (view: View): void => location.assign(formatView(view));
// If the server offers several clusters, the name of the active cluster is a link that opens the cluster chooser.
const clusterLink = document.querySelector<HTMLAnchorElement>("a#cluster");
const contexts = clusterLink === null ? null : new Contexts(openStartPage);
const clusterPopover =
  clusterLink === null || contexts === null || page?.dataset["page"] === "problem"
    ? null
    : contextPopover(clusterLink, contexts);
const paletteLauncher = new PaletteLauncher(byId("jump"), {
  live,
  context: () => ({
    kinds: picker.listedKinds(),
    pins: picker.pins(),
    recent: storedList("kinds"),
    commands: commands().filter((c) => c.inPalette === true),
    contexts: contexts?.all.map((c) => ({ ...c, choose: () => void chooseContext(c.name) })) ?? null,
    view: listPage?.view ?? null,
    rows: listPage?.allRows ?? null,
    windowTotal: listPage?.windowTotal ?? null,
    rowNamespaces: () => listPage?.names() ?? [],
  }),
  go: (view) => navigate(withPreferredColumns(view)),
  open: openObject,
  opened: (then) => void contexts?.read().then(then),
});
const commonCommands = pageCommands(
  paletteLauncher,
  help,
  guest ? null : share,
  clusterLink === null ? null : () => (clusterPopover === null ? clusterLink.click() : clusterPopover.open()),
);
const commands = (): readonly Command[] => [...specificCommands(), ...commonCommands];

if (page?.dataset["page"] !== "problem" && hasReloadState(history.state)) history.replaceState(null, "");
if (page?.dataset["page"] === "list") startList(page);
else if (page?.dataset["page"] === "object") startObject(page);
else if (page?.dataset["page"] === "compare") void startCompare();
else if (page?.dataset["page"] === "problem") reloadWhenServed(page.dataset["ref"] ?? "");
else if (page?.dataset["page"] === "status")
  void import("./status/status-page.tsx").then(({ StatusPage }) => new StatusPage(now, (date) => clock.sync(date)));
picker.start(live);
if (guest) showExpiry(now);
if (isKiosk()) void import("./ui/kiosk.ts").then(({ startKiosk: tend }) => tend(() => retryable));
byId("theme").addEventListener("click", toggleTheme);
// On small screens, the resource picker contains a second help button and a second share button.
for (const button of document.querySelectorAll("#help, .picker-foot button:not(.share-button)"))
  button.addEventListener("click", help);
for (const button of document.querySelectorAll("button.share-button")) button.addEventListener("click", share);
listenToKeys(commands);

// This attribute makes CSS hide the parts of the page that are needed only without JavaScript.
document.documentElement.dataset["started"] = "";

if (page?.dataset["page"] !== "problem" || page.dataset["ref"] !== "") {
  live.connect();
  addEventListener("online", () => live.retryNow());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) live.retryNow();
  });
}

function startList(section: HTMLElement): void {
  const initialKind = {
    ref: section.dataset["ref"] ?? "",
    kind: section.dataset["kind"] ?? "",
    resource: section.dataset["resource"] ?? "",
    namespaced: section.dataset["namespaced"] !== undefined,
  };
  picker.add(initialKind);
  const currentView = (): View => parseView(location.pathname, location.search, initialKind.ref);
  const navigateTo = (view: View, mode: "push" | "replace" = "push"): void => {
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
  const list = (listPage = new ListPage(
    live,
    picker,
    now,
    navigateTo,
    initialKind,
    currentView(),
    Number(section.dataset["limit"] ?? Infinity),
    scrollPositionOf(history.state),
  ));
  const scrollState = new ScrollState(byId("rows"), () => list.scrollPosition);
  navigate = navigateTo;
  retryable = list;
  pageContent = () => ({ kind: list.kind, view: list.view, object: list.view.open, tab: list.view.tab });
  refresh = () => list.refresh();
  rememberRecent("kinds", initialKind.ref);
  const namespacePopover = new Popover(byId("namespace-button") as HTMLButtonElement, "Namespaces", async (close) =>
    (await import("./list/namespace-chooser.tsx")).namespaceChooser(live, list, close),
  );
  const columnPopover = new Popover(byId("columns") as HTMLButtonElement, "Columns", async () =>
    (await import("./list/column-chooser.tsx")).columnChooser(list),
  );
  const menu = byId("export");
  menu.addEventListener("toggle", () => void import("./ui/menu.ts").then(({ addMenuKeys }) => addMenuKeys(menu)), {
    once: true,
  });
  specificCommands = () => listCommands(list, picker, namespacePopover, columnPopover);

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

  // Handle plain clicks only. For clicks with a modifier key, the browser opens the link as usual.
  document.addEventListener("click", (e) => {
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
      navigateTo(withPreferredColumns({ ...defaultView(ref), ns }));
      document.getElementById("picker")?.hidePopover();
      return;
    }
    const address = e.target.closest<HTMLAnchorElement>("a[data-address]");
    if (address !== null) {
      e.preventDefault();
      return navigateTo(parseView(address.pathname, address.search, list.view.ref));
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
  // When the pointer enters a truncated cell, set the cell's tooltip to its full text.
  byId("tbody").addEventListener("mouseover", (e) => {
    const cell = e.target instanceof Element ? e.target.closest("td, th") : null;
    if (cell !== null && cell.scrollWidth > cell.clientWidth && !cell.hasAttribute("title"))
      setAttr(cell, "title", cell.textContent ?? "");
  });
  byId("pending-changes").addEventListener("click", () => list.table.applyPendingChanges());
  byId("table").tabIndex = 0;
  setInterval(() => list.tick(), 1000);
  makeWidthResizable(byId("split"), byId("panel"));
}

function startObject(section: HTMLElement): void {
  const { ref = "", resource = "", namespaced } = section.dataset;
  const kind = { ref, kind: section.dataset["kind"] ?? "", resource, namespaced: namespaced !== undefined };
  picker.add(kind);
  picker.select(ref);
  const name = { ns: section.dataset["ns"] ?? "", name: section.dataset["name"] ?? "" };
  document.title = titleOf(plural(kind), name);
  const query = (): URLSearchParams => new URLSearchParams(location.search);
  const tab = (): string => query().get("tab") ?? "";
  let log = parseLog(query());
  const showTab = (id: string): void => {
    history.pushState(null, "", objectHref(ref, name, id, log));
    panel.show(id);
  };
  const panel = new Panel(
    byId("object"),
    {
      live,
      now,
      kind,
      name,
      kindOf: (apiVersion, kind) => picker.kindOf(apiVersion, kind),
      kindOfRef: (ref) => picker.get(ref),
      log: () => log,
      selectLog: (other) => {
        log = other;
        showTab("logs");
      },
    },
    tab(),
    { tab: showTab, close: null },
  );
  retryable = {
    get isRefused() {
      return panel.isRefused;
    },
    retry: () => location.reload(),
  };
  pageContent = () => ({ kind, view: null, object: name, tab: tab() });
  addEventListener("popstate", () => {
    log = parseLog(query());
    panel.show(tab());
  });
  refresh = () => {
    if (live.connection === "open") byId("asof").hidden = true;
    panel.refresh();
  };
  // If a share link includes only one object of this resource, its guests get no command that opens the list.
  specificCommands = () =>
    objectCommands(
      kind,
      panel,
      sharedParts()?.some((p) => p.resource === ref && p.name !== "") === true
        ? null
        : () => location.assign(formatView({ ...defaultView(ref), ns: name.ns === "" ? [] : [name.ns] })),
    );
}

// Adds the columns that the user last chose for the resource of the view. A view that already names columns is
// returned unchanged. Do not pass the view of the opened URL, because someone chose its columns deliberately.
function withPreferredColumns(view: View): View {
  return view.cols.length > 0 || view.ref === listPage?.view.ref
    ? view
    : { ...view, cols: storedList(`columns.${view.ref}`) };
}

function openObject(ref: string, object: ObjectName): void {
  if (listPage === null) location.assign(objectHref(ref, object));
  else if (listPage.view.ref === ref) listPage.change({ open: object });
  else navigate(withPreferredColumns({ ...defaultView(ref), ns: object.ns === "" ? [] : [object.ns], open: object }));
}

// Loads the start page after the user has switched to another cluster, because no data of the previous cluster is
// allowed to stay on the screen.
function openStartPage(): void {
  location.assign(withBase("/"));
}

// Replaces the link with the cluster's name by a button that opens a popover. The error page keeps the link: it
// reloads itself, which would close the popover.
function contextPopover(link: HTMLAnchorElement, contextList: Contexts): Popover {
  const button = h(
    "button",
    { id: "cluster", class: "cluster chooser", type: "button", "aria-haspopup": "dialog", title: link.title },
    ...link.childNodes,
  );
  link.replaceWith(button);
  return new Popover(button, "Contexts", async () =>
    (await import("./list/context-chooser.tsx")).contextChooser(contextList),
  );
}

async function chooseContext(name: string): Promise<void> {
  showToast(`Switching to ${name}…`);
  if (contexts === null || (await contexts.choose(name))) return;
  if (clusterPopover === null) showToast(contexts.error);
  else clusterPopover.open();
}

let shareDialog: Promise<ShareDialog> | null = null;

function share(): void {
  shareDialog ??= import("./share/share.tsx").then(
    ({ ShareDialog }) =>
      new ShareDialog({ live, now, pageContent: () => pageContent(), kinds: () => picker.listedKinds() }),
  );
  shareDialog.then(
    (dialog) => dialog.open(),
    () => {
      shareDialog = null;
      reportLoadFailure();
    },
  );
}

function help(): void {
  import("./palette/help.tsx").then(({ openHelp }) => openHelp(commands()), reportLoadFailure);
}

const reportLoadFailure = (): void => showToast("The dialog could not be loaded. Reload the page to try again.");

// Reloads the error page for a resource that the cluster does not serve. The reload happens once the cluster serves
// the resource, in the requested API version or in another one. It waits while the user is typing, has a dialog open,
// or has selected text.
function reloadWhenServed(ref: string): void {
  if (ref === "") return;
  const [group, , resource] = ref.split("/");
  const isServed = (): boolean => picker.listedKinds().some((k) => k.group === group && k.resource === resource);
  let wasServed = true;
  let reloadScheduled = false;
  const reloadWhenIdle = (delay: number): void => {
    reloadScheduled = isServed();
    if (!reloadScheduled) return;
    if (!isIdle()) return void setTimeout(() => reloadWhenIdle(delay), 1000);
    history.replaceState(historyState({ at: Date.now(), delay }), "");
    location.reload();
  };
  onKindsListed = () => {
    const now = isServed();
    if (!reloadScheduled && (picker.listedKinds().some((k) => k.ref === ref) || (now && !wasServed))) {
      reloadScheduled = true;
      const { wait, delay } = nextReload(history.state, Date.now());
      setTimeout(() => reloadWhenIdle(delay), wait);
    }
    wasServed = now;
  };
}

async function startCompare(): Promise<void> {
  const { ComparePage } = await import("./compare/compare.tsx");
  const compare = new ComparePage(live, now);
  refresh = () => compare.refresh();
}
