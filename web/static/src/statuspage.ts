// The status page. It polls the watch status (what the server watches) every 2 s. The elements of a row are reused as
// long as its watched scope exists, so that the focus stays.

import { ages, clockTime } from "./age.ts";
import { under } from "./base.ts";
import { arrange, byId, h, setText } from "./dom.ts";
import { shared } from "./guest.ts";
import { readLedger, type Ledger, type Scope } from "./ledger.ts";
import { tick } from "./row.ts";

const every = 2000;

export class StatusPage {
  private readonly rows = new Map<string, HTMLTableRowElement>();
  private readonly body = byId("scopes");
  private lost: number | null = null; // time of the first failed request; null while requests succeed
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly now: () => number,
    private readonly onDate: (header: string | null) => void,
  ) {
    setInterval(() => tick(this.body, now()), 1000);
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
        this.lost = null;
      } catch {
        this.lost ??= this.now();
      }
      this.tell();
    }
    clearTimeout(this.timer); // Another poll may have started in the meantime.
    this.timer = setTimeout(() => void this.poll(), every);
  }

  private async fetch(): Promise<Ledger> {
    const answer = await fetch(under("/api/v1/status"), {
      cache: "no-store",
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(2 * every),
    });
    this.onDate(answer.headers.get("date"));
    const ledger = answer.ok ? readLedger(await answer.json()) : null;
    if (ledger === null) throw new Error(`invalid watch status in a response with status ${answer.status}`);
    return ledger;
  }

  private draw(ledger: Ledger): void {
    if (shared() === null) setText(byId("held"), ledger.held); // Guests do not see the memory use.
    byId("note").hidden = ledger.scopes.length > 0;
    const rows = ledger.scopes.map((s) => {
      const tr = this.rows.get(s.key) ?? emptyScope(s);
      this.rows.set(s.key, tr);
      fillScope(tr, s, this.now());
      return tr;
    });
    for (const [key, tr] of this.rows) if (!rows.includes(tr)) this.rows.delete(key);
    arrange(this.body, rows);
  }

  // Updates the status text. While requests succeed, it does not change, because screen readers would announce it
  // again.
  private tell(): void {
    const status = byId("status");
    const since = this.lost === null ? "" : clockTime(new Date(this.lost).toISOString(), this.now());
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

/** Creates the row of a scope, without its texts. */
export function emptyScope(s: Scope): HTMLTableRowElement {
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

/** Fills the row of a scope. */
export function fillScope(tr: Element, s: Scope, now: number): void {
  const [th, where, state, ...cells] = [...tr.children] as [Element, Element, Element, ...Element[]];
  const [a, group] = [...th.children] as [Element, Element];
  const [words, reason] = [...state.children] as [Element, Element];
  tr.setAttribute("data-state", s.state);
  a.setAttribute("href", under(s.href));
  setText(a, s.resource);
  setText(group, s.group);
  setText(where, s.scope);
  pass(words, s.status, now);
  setText(reason, s.reason);
  cells.forEach((td, i) => pass(td, s.cells[i] ?? "", now));
}

function pass(e: Element, wire: string, now: number): void {
  e.setAttribute("data-wire", wire);
  setText(e, ages(wire, now));
}
