// Wires the page together. The server's HTML is the first render; from here on
// it is kept true.

import { Clock } from "./clock.ts";
import { byId, input } from "./dom.ts";
import { listenToKeys } from "./keys.ts";
import { ListPage } from "./list.ts";
import { Live } from "./live.ts";
import { turnTheme } from "./look.ts";
import { Panel } from "./panel.ts";
import { Picker } from "./picker.ts";
import { splits } from "./split.ts";
import { StatusPage } from "./statuspage.ts";
import { formatView, parseView, plain, type View } from "./view.ts";

const clock = new Clock();
const now = (): number => clock.now();

const socket = new URL("/api/v1/live", location.href);
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
  },
  () => refresh(),
);

const picker = new Picker(byId("picker-filter") as HTMLInputElement, byId("picker-groups"), (date) => clock.learn(date));
const page = document.querySelector<HTMLElement>("[data-page]");

if (page?.dataset["page"] === "list") startList(page);
else if (page?.dataset["page"] === "object") startObject(page);
else if (page?.dataset["page"] === "compare") void startCompare();
else if (page?.dataset["page"] === "status") new StatusPage(now, (date) => clock.learn(date));
picker.start(live);
byId("theme").addEventListener("click", turnTheme);

if (page?.dataset["page"] !== "problem") {
  live.connect();
  addEventListener("online", () => live.hurry());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) live.hurry();
  });
}

function startList(section: HTMLElement): void {
  const first = { ref: section.dataset["ref"] ?? "", kind: section.dataset["kind"] ?? "", resource: section.dataset["resource"] ?? "", namespaced: section.dataset["namespaced"] !== undefined };
  picker.add(first);
  const read = (): View => parseView(location.pathname, location.search, first.ref);
  const go = (view: View, how: "push" | "replace"): void => {
    const href = formatView(view);
    const kind = picker.get(view.ref);
    if (kind === undefined) return location.assign(href);
    if (href !== location.pathname + location.search) history[how === "push" ? "pushState" : "replaceState"](null, "", href);
    list.show(view, kind);
  };
  const list = new ListPage(live, picker, now, go, first, read(), Number(section.dataset["limit"] ?? Infinity));
  refresh = () => list.refresh();

  addEventListener("popstate", () => {
    const view = read();
    const kind = picker.get(view.ref);
    if (kind === undefined) location.reload();
    else list.show(view, kind);
  });

  // Links stay links: only a plain click is taken over.
  document.addEventListener("click", (e) => {
    if (e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || !(e.target instanceof Element)) return;
    const ref = e.target.closest<HTMLElement>("a[data-ref]")?.dataset["ref"];
    if (ref !== undefined) {
      e.preventDefault();
      const view = list.view;
      // The namespaces chosen stay when another namespaced kind is looked at.
      const ns = ref !== view.ref && picker.get(ref)?.namespaced === true ? view.ns : [];
      go({ ...plain(ref), ns }, "push");
      document.getElementById("picker")?.hidePopover();
      return;
    }
    const address = e.target.closest<HTMLAnchorElement>("a[data-view]");
    if (address !== null) {
      e.preventDefault();
      return go(parseView(address.pathname, address.search, list.view.ref), "push");
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
    e.preventDefault();
    list.applyForm("push");
  });
  input("q")?.addEventListener("input", () => list.applyForm("replace"));
  for (const id of ["ns", "labels", "wide"]) input(id)?.addEventListener("change", () => list.applyForm("push"));
  // A cell that is cut off says all of itself to the pointer.
  byId("tbody").addEventListener("mouseover", (e) => {
    const cell = e.target instanceof Element ? e.target.closest("td, th") : null;
    if (cell !== null && cell.scrollWidth > cell.clientWidth && !cell.hasAttribute("title")) cell.setAttribute("title", cell.textContent ?? "");
  });
  byId("held").addEventListener("click", () => list.table.hold(false));
  byId("table").tabIndex = 0;
  listenToKeys(list);
  setInterval(() => list.tick(), 1000);
  splits(byId("split"), byId("panel"), localStorage);
}

function startObject(section: HTMLElement): void {
  const { ref = "", resource = "", namespaced } = section.dataset;
  const kind = { ref, kind: section.dataset["kind"] ?? "", resource, namespaced: namespaced !== undefined };
  picker.add(kind);
  picker.select(ref);
  const tab = (): string => new URLSearchParams(location.search).get("tab") ?? "";
  const panel = new Panel(
    byId("object"),
    { live, now, kind, name: { ns: section.dataset["ns"] ?? "", name: section.dataset["name"] ?? "" }, kindOf: (apiVersion, kind) => picker.kindOf(apiVersion, kind), kindOfRef: (ref) => picker.get(ref) },
    tab(),
    {
      tab: (id) => {
        history.pushState(null, "", id === "" ? location.pathname : `?tab=${id}`);
        panel.show(id);
      },
      close: null,
    },
  );
  addEventListener("popstate", () => panel.show(tab()));
  byId("asof").hidden = true;
  refresh = () => panel.refresh();
}

async function startCompare(): Promise<void> {
  const { ComparePage } = await import("./compare.ts");
  const compare = new ComparePage(live, now);
  refresh = () => compare.refresh();
}
