// The entry point of the page's script. It connects the parts of the page. The server renders the page first as HTML;
// afterwards, this script keeps it current.

import "./core-code.ts";
import { hasReloadState, reloadWhenServed } from "./list/pending-kind.ts";
import { isKiosk } from "./net/base-path.ts";
import { byId } from "./ui/dom.ts";
import { showExpiry } from "./share/share-expiry.ts";
import { dialogLauncher } from "./ui/dialog-launcher.ts";
import { PaletteLauncher } from "./palette/palette-launcher.ts";
import { pageCommands } from "./keymap.ts";
import type { Command } from "./palette/commands.ts";
import { listenToKeys } from "./palette/keys.ts";
import { ClusterSwitcher } from "./list/cluster-switcher.ts";
import type { ComparePage } from "./compare/compare.tsx";
import { defaultController, PageServices, type PageController } from "./page-services.ts";
import { loadTabStyle } from "./ui/tab-style.ts";
import { togglePicker, toggleTheme } from "./ui/theme.ts";
import { storedList } from "./ui/preferences.ts";

// Wait until the browser has painted the rows that the server rendered, so that this script does not delay the
// painting. Do not wait in a hidden page, which is not painted.
await new Promise<unknown>((then) => {
  if (document.hidden) return then(null);
  requestAnimationFrame(() => setTimeout(then));
  setTimeout(then, 500);
});

const services = new PageServices(new URL(import.meta.url).searchParams.get("v") ?? "");
const { live, picker, now } = services;
const section = document.querySelector<HTMLElement>("[data-page]");
const pageType = section?.dataset["page"];

const clusterLink = document.querySelector<HTMLAnchorElement>("a#cluster");
const cluster = clusterLink === null ? null : new ClusterSwitcher(clusterLink, pageType !== "problem");
const paletteLauncher = new PaletteLauncher(byId("jump"), {
  live,
  context: () => {
    const { list } = services.page;
    return {
      kinds: picker.listedKinds(),
      versions: picker.versions,
      pins: picker.pins(),
      recent: storedList("kinds"),
      commands: commands().filter((c) => c.inPalette === true),
      contexts: cluster?.choices() ?? null,
      view: list?.view ?? null,
      rows: list?.allRows ?? null,
      windowTotal: list?.windowTotal ?? null,
      rowNamespaces: () => list?.names() ?? [],
    };
  },
  go: (view) => services.page.go(view),
  open: (ref, object) => services.page.open(ref, object),
  opened: (then) => void cluster?.read().then(then),
});
services.openPalette = (text) => paletteLauncher.open(text);
const share = dialogLauncher(async () => {
  const [{ ShareDialog }] = await Promise.all([import("./share/share.tsx"), loadTabStyle()]);
  return new ShareDialog({ live, now, pageContent: () => services.page.content(), kinds: () => picker.listedKinds() });
});
const help = dialogLauncher(async () => {
  const [{ openHelp }] = await Promise.all([import("./palette/help.tsx"), loadTabStyle()]);
  return { open: () => openHelp(commands()) };
});
const commonCommands = pageCommands(
  paletteLauncher,
  help,
  services.isGuest ? null : share,
  cluster === null ? null : () => cluster.open(),
  document.querySelector<HTMLAnchorElement>("a#home")?.href ?? null,
);
const commands = (): readonly Command[] => [...services.page.commands(), ...commonCommands];

if (pageType !== "problem" && hasReloadState(history.state)) history.replaceState(null, "");
if (section !== null) services.page = await startPage(section);
picker.start(live);
if (services.isGuest) showExpiry(now);
if (isKiosk()) void import("./ui/kiosk.ts").then(({ startKiosk }) => startKiosk(() => services.page.retryable));
byId("theme").addEventListener("click", toggleTheme);
byId("picker-width").addEventListener("click", togglePicker);
// On small screens, the resource picker contains a second help button and a second share button. Add listeners to all.
for (const button of document.querySelectorAll("#help, .picker-foot button:not(.share-button)"))
  button.addEventListener("click", help);
for (const button of document.querySelectorAll("button.share-button")) button.addEventListener("click", share);
listenToKeys(commands);

// This attribute makes CSS hide the parts of the page that are needed only without JavaScript.
document.documentElement.dataset["started"] = "";

if (pageType !== "problem" || section?.dataset["ref"] !== "") services.connect();

async function startPage(page: HTMLElement): Promise<PageController> {
  switch (pageType) {
    case "list":
      return (await import("./list/pages.ts")).startList(page, services);
    case "object":
      return (await import("./object/start-object.ts")).startObject(page, services);
    case "home":
      return (await import("./home/home.tsx")).startHome(page, services);
    case "compare":
      return startCompare();
    case "problem":
      return {
        ...defaultController,
        kindsListed: reloadWhenServed(page.dataset["ref"] ?? "", () => picker.listedKinds(), services.isIdle),
      };
    case "status":
      void import("./status/status-page.tsx").then(
        ({ StatusPage }) => new StatusPage(now, (date) => services.clock.sync(date)),
      );
  }
  return defaultController;
}

function startCompare(): PageController {
  let compare: ComparePage | null = null;
  void Promise.all([import("./compare/compare.tsx"), loadTabStyle()]).then(([{ ComparePage }]) => {
    compare = new ComparePage(live, now);
  });
  return { ...defaultController, refresh: () => compare?.refresh() };
}
