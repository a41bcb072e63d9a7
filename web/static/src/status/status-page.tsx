// The status page. Every 2 s, it reads what the server watches, and how current the data is.

import "../shared-code.ts";
import { formatAges, clockTime } from "../text/age.ts";
import { withBase } from "../net/base-path.ts";
import { byId, setText } from "../ui/dom.ts";
import { sharedParts } from "../model/guest.ts";
import { readWatchStatus, type WatchStatus, type WatchScope } from "./watch-status.ts";
import { updateAges } from "../ui/ages.ts";
import { Age, mount, ViewState } from "../ui/view.tsx";

const pollInterval = 2000;

export class StatusPage {
  private readonly body = byId("scopes");
  private readonly state: ViewState;
  private isDrawn = false; // whether this script has replaced the server-rendered rows
  private failingSince: number | null = null; // time in ms of the first failed request; null while requests succeed
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly now: () => number,
    private readonly onDate: (header: string | null) => void,
  ) {
    this.state = new ViewState(now);
    setInterval(() => {
      if (this.isDrawn) this.state.tick();
      else updateAges(this.body, now());
    }, 1000);
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
    clearTimeout(this.timer); // another poll can have started a timer during this request
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
    if (watchStatus === null) throw new Error(`the response with status ${response.status} has no valid watch status`);
    return watchStatus;
  }

  private draw(watchStatus: WatchStatus): void {
    // Guests (viewers of a share link) do not see the memory use.
    if (sharedParts() === null) setText(byId("memory-use"), watchStatus.memoryText);
    byId("note").hidden = watchStatus.scopes.length > 0;
    this.isDrawn = true;
    mount(
      this.body,
      // A row with the same key keeps its HTML element, and so the keyboard focus.
      watchStatus.scopes.map((s) => <ScopeRow key={s.key} scope={s} />),
      this.state,
    );
  }

  // Updates the status text. The text stays the same while requests succeed, because screen readers would announce a
  // change.
  private updateStatus(): void {
    const status = byId("status");
    const since = this.failingSince === null ? "" : clockTime(new Date(this.failingSince).toISOString(), this.now());
    status.dataset["state"] = since === "" ? "live" : "bad";
    setText(status, since === "" ? "Updated every 2 s" : `No updates since ${since}, retrying…`);
    byId("asof").hidden = true;
    byId("banner").hidden = since === "";
    setText(
      byId("banner"),
      since === "" ? "" : `Updates have failed since ${since}. Data may be out of date. Retrying automatically.`,
    );
  }
}

/** Renders the same row as scopeRow in web/templates/status.templ. */
export const ScopeRow = ({ scope: s }: { scope: WatchScope }) => (
  <tr data-state={s.state}>
    <th scope="row">
      <a href={withBase(s.href)}>{s.resource}</a>
      <span class="group">{s.group}</span>
    </th>
    <td>{s.scope}</td>
    <td class="state">
      <span class="words" data-wire={s.status}>
        <Age wire={s.status} format={formatAges} />
      </span>
      <span class="reason">{s.reason}</span>
    </td>
    {s.cells.map((wire) => (
      <td data-wire={wire}>
        <Age wire={wire} format={formatAges} />
      </td>
    ))}
  </tr>
);
