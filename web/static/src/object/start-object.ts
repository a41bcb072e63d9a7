// Starts the page of one object: connects the panel with the URL and the browser's history.

import "../shared-code.ts";
import { objectCommands } from "../keymap.ts";
import { sharedParts } from "../model/guest.ts";
import { defaultView, findIn, formatView, objectHref, parseFind, parseLog, titleOf } from "../model/view.ts";
import { plural } from "../net/kinds.ts";
import { defaultController, type PageController, type PageServices } from "../page-services.ts";
import { byId } from "../ui/dom.ts";
import { Panel } from "./panel.ts";
import { removeUnknownTab } from "./tabs.ts";

export function startObject(section: HTMLElement, { live, picker, now }: PageServices): PageController {
  const { ref = "", resource = "", namespaced } = section.dataset;
  const kind = { ref, kind: section.dataset["kind"] ?? "", resource, namespaced: namespaced !== undefined };
  picker.add(kind);
  picker.select(ref);
  const name = { ns: section.dataset["ns"] ?? "", name: section.dataset["name"] ?? "" };
  document.title = titleOf(section.dataset["plural"] || plural(kind), name);
  removeUnknownTab(kind);
  const query = (): URLSearchParams => new URLSearchParams(location.search);
  const tab = (): string => query().get("tab") ?? "";
  let log = parseLog(query());
  let find = parseFind(query());
  const showTab = (id: string): void => {
    history.pushState(null, "", objectHref(ref, name, id, log, find));
    panel.show(id);
  };
  const replaceAddress = (): void => history.replaceState(history.state, "", objectHref(ref, name, tab(), log, find));
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
      selectLog: (other, how) => {
        log = other;
        if (how === "replace") replaceAddress();
        else showTab("logs");
      },
      find: (tab) => findIn(find, tab),
      setFind: (id, text) => {
        find = { tab: id, text };
        replaceAddress();
      },
    },
    tab(),
    { tab: showTab, close: null },
  );
  addEventListener("popstate", () => {
    log = parseLog(query());
    find = parseFind(query());
    panel.show(tab());
  });
  return {
    ...defaultController,
    retryable: {
      get isRefused() {
        return panel.isRefused;
      },
      retry: () => location.reload(),
    },
    content: () => ({ kind, view: null, object: name, tab: tab() }),
    // A guest whose share link includes only one object of this resource gets no command that opens the list.
    commands: () =>
      objectCommands(
        kind,
        panel,
        sharedParts()?.some((p) => p.resource === ref && p.name !== "") === true
          ? null
          : () => location.assign(formatView({ ...defaultView(ref), ns: name.ns === "" ? [] : [name.ns] })),
      ),
    refresh: () => {
      if (live.connection === "open") byId("asof").hidden = true;
      panel.refresh();
    },
  };
}
