// The status page. Every 2 s, it reads the watch status: what the server watches, and how current it is. A row keeps
// its HTML element as long as its watch exists, so that the keyboard focus is kept.

import { formatAges, clockTime } from "../text/age.ts";
import { withBase } from "../net/base-path.ts";
import { arrangeChildren, byId, h, setText } from "../ui/dom.ts";
import { sharedParts } from "../model/guest.ts";
import { readWatchStatus, type WatchStatus, type WatchScope } from "./watch-status.ts";
import { updateAges } from "../ui/ages.ts";

const pollInterval = 2000;

export class StatusPage {
  private readonly rows = new Map<string, HTMLTableRowElement>();
  private readonly body = byId("scopes");
  private failingSince: number | null = null; // time in ms of the first failed request; null while requests succeed
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly now: () => number,
    private readonly onDate: (header: string | null) => void,
  ) {
    setInterval(() => updateAges(this.body, now()), 1000);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.poll();
    });
    void this.poll();
  }

  private async poll(): Promise<void> {
    clearTimeout(this.timer);
    if (!document.hidden) {
      try {
        this.draw(await this.fetch());
        this.failingSince = null;
      } catch {
        this.failingSince ??= this.now();
      }
      this.updateStatus();
    }
    clearTimeout(this.timer); // another poll possibly started meanwhile
    this.timer = setTimeout(() => void this.poll(), pollInterval);
  }

  private async fetch(): Promise<WatchStatus> {
    const response = await fetch(withBase("/api/v1/status"), {
      cache: "no-store",
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(2 * pollInterval),
    });
    this.onDate(response.headers.get("date"));
    const watchStatus = response.ok ? readWatchStatus(await response.json()) : null;
    if (watchStatus === null) throw new Error(`invalid watch status in a response with status ${response.status}`);
    return watchStatus;
  }

  private draw(watchStatus: WatchStatus): void {
    // Guests (viewers of a share link) do not see the memory use.
    if (sharedParts() === null) setText(byId("memory-use"), watchStatus.memoryText);
    byId("note").hidden = watchStatus.scopes.length > 0;
    const rows = watchStatus.scopes.map((s) => {
      const tr = this.rows.get(s.key) ?? createScopeRow(s);
      this.rows.set(s.key, tr);
      fillScopeRow(tr, s, this.now());
      return tr;
    });
    for (const [key, tr] of this.rows) if (!rows.includes(tr)) this.rows.delete(key);
    arrangeChildren(this.body, rows);
  }

  // Updates the status text. The text stays the same while requests succeed, because screen readers would announce a
  // change.
  private updateStatus(): void {
    const status = byId("status");
    const since = this.failingSince === null ? "" : clockTime(new Date(this.failingSince).toISOString(), this.now());
    status.dataset["state"] = since === "" ? "live" : "bad";
    setText(status, since === "" ? "Updated every 2 s" : `Connection lost at ${since}, reconnecting…`);
    byId("asof").hidden = true;
    byId("banner").hidden = since === "";
    setText(
      byId("banner"),
      since === "" ? "" : `Connection lost at ${since}. Data may be out of date; only the ages are updated.`,
    );
  }
}

/** Creates the row of a watch, without its texts. */
export function createScopeRow(s: WatchScope): HTMLTableRowElement {
  const th = h("th", { scope: "row" }, h("a"), h("span", { class: "group" }));
  return h(
    "tr",
    {},
    th,
    h("td"),
    h("td", { class: "state" }, h("span", { class: "words" }), h("span", { class: "reason" })),
    ...s.cells.map(() => h("td")),
  );
}

export function fillScopeRow(tr: Element, s: WatchScope, now: number): void {
  const [th, where, state, ...cells] = [...tr.children] as [Element, Element, Element, ...Element[]];
  const [a, group] = [...th.children] as [Element, Element];
  const [words, reason] = [...state.children] as [Element, Element];
  tr.setAttribute("data-state", s.state);
  a.setAttribute("href", withBase(s.href));
  setText(a, s.resource);
  setText(group, s.group);
  setText(where, s.scope);
  setAgeText(words, s.status, now);
  setText(reason, s.reason);
  cells.forEach((td, i) => setAgeText(td, s.cells[i] ?? "", now));
}

function setAgeText(e: Element, wire: string, now: number): void {
  e.setAttribute("data-wire", wire);
  setText(e, formatAges(wire, now));
}
