// The activity line below a list. It shows the last change, which it receives from the list. When the user opens it, it
// becomes the activity feed: a scrolling list of the changes of this list, or of all watched resources. The code of the
// feed is loaded on demand, and has subscriptions of its own.

import { formatAges, clockTime } from "../text/age.ts";
import type { ActivityFeed } from "./activity-feed.ts";
import type { ActivityHost, ActivityPreferences, ListScope } from "./activity-types.ts";
import { h } from "../ui/dom.ts";
import { preferences } from "../ui/preferences.ts";
import type { LatestChange } from "../model/latest-change.ts";

const updateInterval = 200; // ms between two updates of the line, because people cannot read faster
const defaultHeight = 260; // the default height in pixels
const storageKey = "glasshouse-activity";

export class Activity {
  private readonly text = h("span", { class: "words" });
  private readonly button = h(
    "button",
    {
      type: "button",
      class: "activity-line",
      "aria-expanded": "false",
      "aria-controls": "activity-feed",
      title: "Activity (a)",
    },
    h("span", { class: "name" }, "Activity"),
    this.text,
  );
  private readonly container = h("div", { id: "activity-feed", class: "activity-feed", hidden: true });
  private scope: ListScope | null = null;
  private since: number | null = null; // ms, the time at which the list became live; null while it is not live
  private newest: LatestChange | null = null;
  private newestAt = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private feed: ActivityFeed | null = null;
  private isOpen = false;
  private preferences: ActivityPreferences;

  constructor(root: HTMLElement, private readonly host: ActivityHost) {
    root.replaceChildren(this.button, this.container);
    this.button.addEventListener("click", () => this.toggle());
    const stored = readPreferences();
    this.preferences = stored;
    if (stored.open) this.toggle();
  }

  /** Whether the feed is open. A reload of the page would lose the changes that an open feed has received. */
  get open(): boolean {
    return this.isOpen;
  }

  /** Shows the activity of another list. */
  showList(scope: ListScope): void {
    this.scope = scope;
    this.newest = this.since = null;
    this.drawIdle();
    this.feed?.showList(scope);
  }

  /** Reports that the set of watched resources may have changed. */
  watchedChanged(): void {
    this.feed?.updateSources();
  }

  /** Reports that the state of the connection has changed. */
  refresh(): void {
    this.feed?.refresh();
  }

  /**
   * Sets whether the list is live. Only a live list can report that nothing changes. Changes that no column shows are
   * not reported here.
   */
  setLive(isLive: boolean): void {
    if (isLive === (this.since !== null)) return;
    this.since = isLive ? this.host.now() : null;
    if (this.newest === null) this.drawIdle();
  }

  private drawIdle(): void {
    this.text.replaceChildren(
      this.since === null
        ? ""
        : `No changes in this list since ${
            clockTime(new Date(this.since).toISOString(), this.host.now())
          }`,
    );
  }

  /** Shows a change that has just arrived. */
  showChange(change: LatestChange): void {
    this.newest = change;
    this.newestAt = new Date(this.host.now()).toISOString();
    this.timer ??= setTimeout(() => this.draw(), updateInterval);
  }

  /** Discards the last change, because its row may no longer be visible to the viewer. */
  clearChange(): void {
    this.newest = null;
    this.drawIdle();
  }

  toggle(): void {
    this.isOpen = !this.isOpen;
    this.save();
    this.button.setAttribute("aria-expanded", String(this.isOpen));
    this.container.hidden = !this.isOpen;
    if (!this.isOpen) {
      this.feed?.close();
      this.feed = null;
      return;
    }
    this.container.replaceChildren(h("p", { class: "foot" }, "Loading history…"));
    void import("./activity-feed.ts").then(
      ({ ActivityFeed }) => {
        if (!this.isOpen || this.feed !== null) return;
        this.feed = new ActivityFeed(this.container, this.host, this.preferences, (preferences) => {
          this.preferences = preferences;
          this.save();
        });
        if (this.scope !== null) this.feed.showList(this.scope);
      },
      () =>
        this.container.replaceChildren(
          h("p", { class: "foot" }, "The activity could not be loaded. Reload the page to try again."),
        ),
    );
  }

  private draw(): void {
    this.timer = undefined;
    const change = this.newest;
    if (change === null) return;
    const now = this.host.now();
    const cells = change.cells.map((c) =>
      h(
        "span",
        { class: "cell" },
        `${c.column} `,
        h("del", {}, formatAges(c.before, now) || "(empty)"),
        " → ",
        h("ins", {}, formatAges(c.after, now) || "(empty)"),
      ),
    );
    const parts =
      change.op === "add"
        ? [h("span", { class: "cell" }, "created")]
        : change.op === "delete"
          ? [h("span", { class: "cell" }, "deleted")]
          : cells;
    this.text.replaceChildren(
      h("time", { datetime: this.newestAt }, clockTime(this.newestAt, now)),
      h("span", { class: "subject" }, change.ns === "" ? change.name : `${change.ns}/${change.name}`),
      ...parts,
      ...(change.by === null || change.by.manager === "" ? [] : [h("span", { class: "author" }, change.by.manager)]),
    );
  }

  private save(): void {
    preferences.set(storageKey, JSON.stringify({ ...this.preferences, open: this.isOpen }));
  }
}

function readPreferences(): ActivityPreferences & { open: boolean } {
  try {
    const stored = JSON.parse(preferences.get(storageKey) ?? "{}") as {
      open?: unknown;
      height?: unknown;
      all?: unknown;
    } | null;
    return {
      open: stored?.open === true,
      height: typeof stored?.height === "number" ? stored.height : defaultHeight,
      all: stored?.all === true,
    };
  } catch {
    return { open: false, height: defaultHeight, all: false };
  }
}
