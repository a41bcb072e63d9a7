// The parts that all types of pages share: the connection, the clock, the latency, the build monitor and the resource
// picker.

import { isKiosk, withBase } from "./net/base-path.ts";
import { openStartPage } from "./net/contexts.ts";
import { Latency } from "./net/latency.ts";
import { Live } from "./net/live.ts";
import { checkLogin, reloadToLogIn } from "./net/login.ts";
import { endShare, sharedParts } from "./model/guest.ts";
import { formatView, objectHref, type ObjectName, type View } from "./model/view.ts";
import { BuildMonitor, recordReloadFor, showUpdateNotice, isBuildServed } from "./ui/build-monitor.ts";
import { Clock } from "./ui/clock.ts";
import { byId } from "./ui/dom.ts";
import type { Retryable } from "./ui/kiosk.ts";
import { Popover } from "./ui/popover.ts";
import { withPreferredColumns } from "./ui/preferences.ts";
import { loadTabStyle } from "./ui/tab-style.ts";
import type { ListPage } from "./list/list.ts";
import { Picker } from "./list/picker.ts";
import type { Command } from "./palette/commands.ts";
import type { PageContent } from "./share/share-host.ts";

/** The parts of a page that depend on its type. */
export interface PageController {
  /** The list of the page. null on pages without a list. */
  readonly list: ListPage | null;
  /** The list or object page. Kiosk mode retries its refused requests. null if the page has no such requests. */
  readonly retryable: Retryable | null;
  /** What the share dialog offers to share. null for nothing. */
  content(): PageContent | null;
  /** The commands that only this type of page has. */
  commands(): readonly Command[];
  /** Is called when the connection is lost or restored. */
  refresh(): void;
  /** Is called after the server's list of resources has arrived. */
  kindsListed(): void;
  /** Shows the list of a view, with the columns that the user prefers. */
  go(view: View): void;
  open(ref: string, object: ObjectName): void;
}

/** The controller of a page that opens every list and object with a page load. */
export const defaultController: PageController = {
  list: null,
  retryable: null,
  content: () => null,
  commands: () => [],
  refresh: () => {},
  kindsListed: () => {},
  go: (view) => location.assign(formatView(withPreferredColumns(view))),
  open: (ref, object) => location.assign(objectHref(ref, object)),
};

const timers = {
  after: (ms: number, run: () => void): unknown => setTimeout(run, ms),
  cancel: (timer: unknown): void => clearTimeout(timer as number | undefined),
};

export class PageServices {
  readonly isGuest = sharedParts() !== null;
  readonly clock = new Clock();
  readonly live: Live;
  readonly picker: Picker;
  /** The controller of this type of page. The default is used until the page has started. */
  page = defaultController;
  /** Opens the palette with a text, such as ":ns ". app.ts sets it before the page starts. */
  openPalette: (text: string) => void = () => {};

  /** The parameter pageBuild is the build of the page's scripts; empty if unknown. */
  constructor(pageBuild: string) {
    const { clock, now } = this;
    const live = new Live(
      socketUrl(),
      {
        ...timers,
        open: (url, protocol) => new WebSocket(url, protocol),
        now: () => Date.now(),
        random: () => Math.random(),
        report: (what) => console.warn(`glasshouse: ${what}`),
        accessEnded: (again) => (this.isGuest ? endShare() : void checkLogin(again, reloadToLogIn)),
        clusterSwitched: openStartPage,
      },
      () => {
        latency.reconnected();
        this.picker.setStale(live.connection === "lost");
        this.page.refresh();
      },
    );
    this.live = live;
    const latency = new Latency(live, {
      ...timers,
      clock: () => performance.now(),
      now,
      hidden: () => document.hidden,
    });
    new Popover(byId("connection") as HTMLButtonElement, "Connection", async () => {
      const [{ connectionDetails }] = await Promise.all([import("./status/connection.tsx"), loadTabStyle()]);
      return connectionDetails(latency, now, () => this.page.list);
    });
    const build = new BuildMonitor(pageBuild, {
      ...timers,
      hidden: () => document.hidden || isKiosk(), // a kiosk (a wall display) has no user, so it counts as hidden
      canReload: () => isKiosk() || (this.page.list?.canReload === true && this.isIdle()),
      isServed: isBuildServed,
      random: () => Math.random(),
      recordReload: recordReloadFor,
      reload: () => location.reload(),
      updateChanged: (other) => showUpdateNotice(other, () => location.reload()),
    });
    document.addEventListener("visibilitychange", () => build.visibilityChanged());
    this.picker = new Picker(
      byId("picker-filter") as HTMLInputElement,
      byId("picker-groups"),
      (date) => clock.sync(date),
      (other) => build.setServerBuild(other),
      () => this.page.kindsListed(),
      this.isGuest ? endShare : reloadToLogIn,
    );
  }

  readonly now = (): number => this.clock.now();

  /**
   * Reports whether a reload of the page would lose nothing: the filter of the resource picker is empty, no dialog is
   * open, and no text is selected.
   */
  readonly isIdle = (): boolean =>
    (byId("picker-filter") as HTMLInputElement).value === "" &&
    document.querySelector("dialog[open], :popover-open") === null &&
    String(getSelection()) === "";

  connect(): void {
    const { live } = this;
    live.connect();
    addEventListener("online", () => live.retryNow());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) live.retryNow();
    });
  }
}

function socketUrl(): string {
  const cluster = document.documentElement.dataset["cluster"] ?? "";
  const url = new URL(
    withBase(`/api/v1/live?${new URLSearchParams({ cluster, parts: "true" }).toString()}`),
    location.href,
  );
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
