// Connects the parts of the page. The server's HTML is the first render; from then on, this script keeps it current.

import { kept, nextLoad, waited } from "./awaited.ts";
import { inKiosk, under } from "./base.ts";
import { Build, firstOf, sayBuild, servedAs } from "./build.ts";
import { Clock } from "./clock.ts";
import type { Command } from "./commands.ts";
import { byId, h, input, setAttr, setText } from "./dom.ts";
import { endShare, shared, tellUntil } from "./guest.ts";
import { Jump } from "./jump.ts";
import { Contexts } from "./contexts.ts";
import { listCommands, objectCommands, pageCommands } from "./keymap.ts";
import { listenToKeys } from "./keys.ts";
import { ListPage } from "./list.ts";
import { Latency, latencyWords } from "./latency.ts";
import { plural } from "./kinds.ts";
import type { Tended } from "./kiosk.ts";
import { Live } from "./live.ts";
import { askWho, logIn } from "./login.ts";
import { turnTheme } from "./look.ts";
import { Panel } from "./panel.ts";
import { Picker } from "./picker.ts";
import { Place, placeOf } from "./place.ts";
import { splits } from "./split.ts";
import { Popover } from "./popover.ts";
import { say } from "./said.ts";
import { remember, stored } from "./stored.ts";
import type { Seen, ShareDialog } from "./share.ts";
import {
  formatView,
  objectHref,
  pageHref,
  parseLog,
  parseView,
  plain,
  titleOf,
  type ObjectName,
  type View,
} from "./view.ts";

// Wait until the browser has painted the server-rendered rows, so that this script does not delay them. A hidden page
// paints no frames, so it does not wait.
await new Promise<unknown>((then) => {
  if (document.hidden) return then(null);
  requestAnimationFrame(() => setTimeout(then));
  setTimeout(then, 500);
});

const guest = shared() !== null;
const clock = new Clock();
const now = (): number => clock.now();

const cluster = document.documentElement.dataset["cluster"] ?? "";
const socket = new URL(
  under(`/api/v1/live?${new URLSearchParams({ cluster, parts: "true" }).toString()}`),
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
    ended: (again) => (guest ? endShare() : void askWho(again, logIn)),
    switched,
  },
  () => {
    latency.reconnected();
    picker.stale(live.connection === "lost");
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
    const { text, title } = latencyWords(latency.ms, latency.at, now());
    setText(e, text);
    e.title = title;
  },
);

// Whether the page has no state outside the view that a reload would lose: no text in the picker's filter, no open
// dialog and no selected text.
const idle = (): boolean =>
  (byId("picker-filter") as HTMLInputElement).value === "" &&
  document.querySelector("dialog[open], :popover-open") === null &&
  String(getSelection()) === "";

const build = new Build(new URL(import.meta.url).searchParams.get("v") ?? "", {
  hidden: () => document.hidden || inKiosk(), // A kiosk counts as hidden, because no user is at it.
  spare: () => inKiosk() || (shown?.spare === true && idle()),
  served: servedAs,
  after: (ms, run) => setTimeout(run, ms),
  cancel: (timer) => clearTimeout(timer as number | undefined),
  random: () => Math.random(),
  first: firstOf,
  reload: () => location.reload(),
  told: (other) => sayBuild(other, () => location.reload()),
});
document.addEventListener("visibilitychange", () => build.looked());

let listed = (): void => {};
const picker = new Picker(
  byId("picker-filter") as HTMLInputElement,
  byId("picker-groups"),
  (date) => clock.learn(date),
  (other) => build.heard(other),
  () => listed(),
  guest ? endShare : logIn,
);
const page = document.querySelector<HTMLElement>("[data-page]");

// The state and functions that depend on the type of page. List pages and object pages set them below.
let shown: ListPage | null = null;
let tended: Tended | null = null; // the list or object whose refused requests are repeated in kiosk mode
let seen = (): Seen | null => null;
let special = (): readonly Command[] => [];
let go = (view: View): void => location.assign(formatView(view));
// If the server offers several clusters, the name of the active one is a link, and opens the chooser.
const named = document.querySelector<HTMLAnchorElement>("a#cluster");
const contexts = named === null ? null : new Contexts(switched);
const chooser =
  named === null || contexts === null || page?.dataset["page"] === "problem" ? null : contextPopover(named, contexts);
const jump = new Jump(byId("jump"), {
  live,
  known: () => ({
    kinds: picker.all(),
    pins: picker.pins(),
    recent: stored("kinds"),
    commands: commands().filter((c) => c.offered === true),
    contexts: contexts?.all.map((c) => ({ ...c, choose: () => void chooseContext(c.name) })) ?? null,
    view: shown?.view ?? null, rows: shown?.held ?? null, kept: shown?.kept ?? null, seen: () => shown?.seen() ?? [],
  }),
  go: (view) => go(preferred(view)),
  open: openObject,
  opened: (then) => void contexts?.read().then(then),
});
const common = pageCommands(
  jump,
  help,
  guest ? null : share,
  named === null ? null : () => (chooser === null ? named.click() : chooser.open()),
);
const commands = (): readonly Command[] => [...special(), ...common];

if (page?.dataset["page"] !== "problem" && waited(history.state)) history.replaceState(null, "");
if (page?.dataset["page"] === "list") startList(page);
else if (page?.dataset["page"] === "object") startObject(page);
else if (page?.dataset["page"] === "compare") void startCompare();
else if (page?.dataset["page"] === "problem") awaitKind(page.dataset["ref"] ?? "");
else if (page?.dataset["page"] === "status")
  void import("./statuspage.ts").then(({ StatusPage }) => new StatusPage(now, (date) => clock.learn(date)));
picker.start(live);
if (guest) tellUntil(now);
if (inKiosk()) void import("./kiosk.ts").then(({ tend }) => tend(() => tended));
byId("theme").addEventListener("click", turnTheme);
// The picker has a second set of these buttons for small screens.
for (const button of document.querySelectorAll("#help, .picker-foot button:not(.sharer)"))
  button.addEventListener("click", help);
for (const button of document.querySelectorAll("button.sharer")) button.addEventListener("click", share);
listenToKeys(commands);

// CSS then hides the parts of the page that are needed only without script.
document.documentElement.dataset["begun"] = "";

if (page?.dataset["page"] !== "problem" || page.dataset["ref"] !== "") {
  live.connect();
  addEventListener("online", () => live.hurry());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) live.hurry();
  });
}

function startList(section: HTMLElement): void {
  const first = {
    ref: section.dataset["ref"] ?? "",
    kind: section.dataset["kind"] ?? "",
    resource: section.dataset["resource"] ?? "",
    namespaced: section.dataset["namespaced"] !== undefined,
  };
  picker.add(first);
  const read = (): View => parseView(location.pathname, location.search, first.ref);
  const turn = (view: View, how: "push" | "replace" = "push"): void => {
    const href = list.began ? formatView(view) : pageHref(view);
    const kind = picker.get(view.ref);
    if (kind === undefined || !list.began) return location.assign(href);
    if (href !== location.pathname + location.search) {
      if (how === "push") place.keep();
      history[how === "push" ? "pushState" : "replaceState"](how === "push" ? null : history.state, "", href);
    }
    remember("kinds", view.ref);
    list.show(view, kind);
    place.later();
  };
  const list = shown = new ListPage(
    live,
    picker,
    now,
    turn,
    first,
    read(),
    Number(section.dataset["limit"] ?? Infinity),
    placeOf(history.state),
  );
  const place = new Place(byId("rows"), () => list.place);
  go = turn;
  tended = list;
  seen = () => ({ kind: list.kind, view: list.view, object: list.view.open, tab: list.view.tab });
  refresh = () => list.refresh();
  remember("kinds", first.ref);
  const spaces = new Popover(
    byId("spaces") as HTMLButtonElement,
    "Namespaces",
    async (close) => new (await import("./spacechooser.ts")).SpaceChooser(live, list, close),
  );
  const columns = new Popover(
    byId("columns") as HTMLButtonElement,
    "Columns",
    async () => new (await import("./columnchooser.ts")).ColumnChooser(list),
  );
  const menu = byId("export");
  menu.addEventListener("toggle", () => void import("./menu.ts").then(({ tendMenu }) => tendMenu(menu)), {
    once: true,
  });
  special = () => listCommands(list, picker, spaces, columns);

  const served = location.pathname + location.search;
  addEventListener("popstate", () => {
    const view = read();
    const kind = picker.get(view.ref);
    if (kind === undefined) location.reload();
    else if (!list.began) {
      // Do not reload if only the anchor of the URL has changed.
      if (location.pathname + location.search !== served) location.reload();
    } else {
      place.forget();
      list.show(view, kind, placeOf(history.state) ?? 0);
    }
  });

  // Handles plain clicks only. Clicks with a modifier key keep the browser's behavior for links.
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
    if (!list.began && e.target.closest("a") !== null) return;
    const ref = e.target.closest<HTMLElement>("a[data-ref]")?.dataset["ref"];
    if (ref !== undefined) {
      e.preventDefault();
      const view = list.view;
      // The chosen namespaces stay when the user switches to another namespaced resource.
      const ns = ref !== view.ref && picker.get(ref)?.namespaced === true ? view.ns : [];
      turn(preferred({ ...plain(ref), ns }));
      document.getElementById("picker")?.hidePopover();
      return;
    }
    const address = e.target.closest<HTMLAnchorElement>("a[data-address]");
    if (address !== null) {
      e.preventDefault();
      return turn(parseView(address.pathname, address.search, list.view.ref));
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
    if (!list.began) return;
    e.preventDefault();
    list.applyForm("push");
  });
  for (const [id, type, how] of [
    ["q", "input", "replace"],
    ["labels", "change", "push"],
  ] as const)
    input(id)?.addEventListener(type, () => list.began && list.applyForm(how));
  // Set the tooltip of a truncated cell to its full text when the pointer enters it.
  byId("tbody").addEventListener("mouseover", (e) => {
    const cell = e.target instanceof Element ? e.target.closest("td, th") : null;
    if (cell !== null && cell.scrollWidth > cell.clientWidth && !cell.hasAttribute("title"))
      setAttr(cell, "title", cell.textContent ?? "");
  });
  byId("held").addEventListener("click", () => list.table.letIn());
  byId("table").tabIndex = 0;
  setInterval(() => list.tick(), 1000);
  splits(byId("split"), byId("panel"));
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
  const turn = (id: string): void => {
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
      nameLog: (other) => {
        log = other;
        turn("logs");
      },
    },
    tab(),
    { tab: turn, close: null },
  );
  tended = { get refused() { return panel.refused; }, again: () => location.reload() };
  seen = () => ({ kind, view: null, object: name, tab: tab() });
  addEventListener("popstate", () => {
    log = parseLog(query());
    panel.show(tab());
  });
  refresh = () => {
    if (live.connection === "open") byId("asof").hidden = true;
    panel.refresh();
  };
  // The command that leads to the list is left out for guests whose link does not share the list.
  special = () =>
    objectCommands(
      kind,
      panel,
      shared()?.some((p) => p.resource === ref && p.name !== "") === true
        ? null
        : () => location.assign(formatView({ ...plain(ref), ns: name.ns === "" ? [] : [name.ns] })),
    );
}

// Returns the view with the columns that the user last chose for its resource, unless it names columns. It is applied
// only to navigation within the page. The URL that the page was opened with stays, because someone chose that view.
function preferred(view: View): View {
  return view.cols.length > 0 || view.ref === shown?.view.ref ? view : { ...view, cols: stored(`columns.${view.ref}`) };
}

function openObject(ref: string, object: ObjectName): void {
  if (shown === null) location.assign(objectHref(ref, object));
  else if (shown.view.ref === ref) shown.change({ open: object });
  else go(preferred({ ...plain(ref), ns: object.ns === "" ? [] : [object.ns], open: object }));
}

// Loads the start page after the active cluster was switched, because no data of the previous one may stay on screen.
function switched(): void {
  location.assign(under("/"));
}

// Replaces the link with the cluster's name by a button that opens a popover. The error page keeps the link, because
// that page reloads itself.
function contextPopover(link: HTMLAnchorElement, of: Contexts): Popover {
  const button = h(
    "button",
    { id: "cluster", class: "cluster chooser", type: "button", "aria-haspopup": "dialog", title: link.title },
    ...link.childNodes,
  );
  link.replaceWith(button);
  return new Popover(button, "Contexts", async () => new (await import("./contextchooser.ts")).ContextChooser(of));
}

async function chooseContext(name: string): Promise<void> {
  say(`Switching to ${name}…`);
  if (contexts === null || (await contexts.choose(name))) return;
  if (chooser === null) say(contexts.trouble);
  else chooser.open();
}

let sharing: Promise<ShareDialog> | null = null;

function share(): void {
  sharing ??= import("./share.ts").then(
    ({ ShareDialog }) => new ShareDialog({ live, now, seen: () => seen(), kinds: () => picker.all() }),
  );
  sharing.then(
    (dialog) => dialog.open(),
    () => {
      sharing = null;
      unloaded();
    },
  );
}

function help(): void {
  import("./help.ts").then(({ openHelp }) => openHelp(commands()), unloaded);
}

const unloaded = (): void => say("The dialog could not be loaded. Reload the page to try again.");

// Reloads the error page of an unserved resource once the cluster serves it, in this version or in another one. It does
// not reload while the user types, has a dialog open or has selected text.
function awaitKind(ref: string): void {
  if (ref === "") return;
  const [group, , resource] = ref.split("/");
  const served = (): boolean => picker.all().some((k) => k.group === group && k.resource === resource);
  let before = true;
  let waits = false;
  const load = (apart: number): void => {
    waits = served();
    if (!waits) return;
    if (!idle()) return void setTimeout(() => load(apart), 1000);
    history.replaceState(kept({ at: Date.now(), apart }), "");
    location.reload();
  };
  listed = () => {
    const now = served();
    if (!waits && (picker.all().some((k) => k.ref === ref) || (now && !before))) {
      waits = true;
      const { wait, apart } = nextLoad(history.state, Date.now());
      setTimeout(() => load(apart), wait);
    }
    before = now;
  };
}

async function startCompare(): Promise<void> {
  const { ComparePage } = await import("./compare.ts");
  const compare = new ComparePage(live, now);
  refresh = () => compare.refresh();
}
