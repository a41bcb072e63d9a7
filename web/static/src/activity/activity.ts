// The activity line below a list shows the newest change. It expands to the activity feed.

import { formatAges, clockTime } from "../text/age.ts";
import type { ActivityFeed } from "./activity-feed.tsx";
import type { ActivityHost, ActivityPreferences, ListScope } from "./activity-types.ts";
import { h } from "../ui/dom.ts";
import { preferences } from "../ui/preferences.ts";
import { loadTabStyle } from "../ui/tab-style.ts";
import type { LatestChange } from "../model/latest-change.ts";

const updateInterval = 200; // ms between two redraws; people cannot read faster updates
const defaultHeight = 260; // pixels; initial height of the feed
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
  private since: number | null = null; // ms; when the list became live, or null while it is not live
  private newest: LatestChange | null = null;
  private newestAt = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private feed: ActivityFeed | null = null;
  private isOpen = false;
  /** The activity to show if the URL specifies none, from the stored preferences. For its form, see View.activity. */
  readonly initial: string;
  private preferences: ActivityPreferences;

  constructor(
    root: HTMLElement,
    private readonly host: ActivityHost,
  ) {
    root.replaceChildren(this.button, this.container);
    this.button.addEventListener("click", () => this.toggle());
    const stored = readPreferences();
    this.preferences = stored;
    this.initial = stored.open ? textOf(stored) : "";
  }

  /** Whether the feed is open. Then do not reload the page: a reload would lose the changes in the feed. */
  get open(): boolean {
    return this.isOpen;
  }

  showList(scope: ListScope): void {
    this.scope = scope;
    this.newest = this.since = null;
    this.drawIdle();
    this.feed?.showList(scope);
  }

  watchedChanged(): void {
    this.feed?.updateSources();
  }

  refresh(): void {
    this.feed?.refresh();
  }

  /** Sets whether the list is live (has current data). The line shows "No changes" only for a live list. */
  setLive(isLive: boolean): void {
    if (isLive === (this.since !== null)) return;
    this.since = isLive ? this.host.now() : null;
    if (this.newest === null) this.drawIdle();
  }

  private drawIdle(): void {
    this.text.replaceChildren(
      this.since === null
        ? ""
        : `No changes in this list since ${clockTime(new Date(this.since).toISOString(), this.host.now())}`,
    );
  }

  showChange(change: LatestChange): void {
    this.newest = change;
    this.newestAt = new Date(this.host.now()).toISOString();
    this.timer ??= setTimeout(() => this.draw(), updateInterval);
  }

  /** Removes the shown change, because the viewer possibly lost permission to see the changed row. */
  clearChange(): void {
    this.newest = null;
    this.drawIdle();
  }

  toggle(): void {
    this.save(!this.isOpen);
    this.host.select(this.isOpen ? "" : textOf({ ...this.preferences, filter: "" }), "push");
  }

  /** Opens or closes the feed, and applies its filter. For the form of the text, see View.activity. */
  show(text: string): void {
    const isOpen = text !== "";
    if (isOpen) this.preferences = { ...this.preferences, ...parse(text) };
    this.feed?.show(this.preferences);
    if (isOpen === this.isOpen) return;
    this.isOpen = isOpen;
    this.button.setAttribute("aria-expanded", String(this.isOpen));
    this.container.hidden = !this.isOpen;
    if (!this.isOpen) {
      this.feed?.close();
      this.feed = null;
      return;
    }
    this.container.replaceChildren(h("p", { class: "foot" }, "Loading history…"));
    void Promise.all([import("./activity-feed.tsx"), loadTabStyle()]).then(
      ([{ ActivityFeed }]) => {
        if (!this.isOpen || this.feed !== null) return;
        this.feed = new ActivityFeed(this.container, this.host, this.preferences, (preferences) => {
          const before = this.preferences;
          this.preferences = preferences;
          this.save(true);
          const how = preferences.all === before.all ? "replace" : "push";
          if (textOf(preferences) !== textOf(before)) this.host.select(textOf(preferences), how);
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

  private save(open: boolean): void {
    const { height, all } = this.preferences;
    preferences.set(storageKey, JSON.stringify({ height, all, open }));
  }
}

const textOf = ({ all, filter }: ActivityPreferences): string =>
  (all ? "all" : "list") + (filter === "" ? "" : ` ${filter}`);

const parse = (text: string): Pick<ActivityPreferences, "all" | "filter"> => ({
  all: /^all\b/.test(text),
  filter: text.replace(/^\S+\s?/, ""),
});

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
      filter: "",
    };
  } catch {
    return { open: false, height: defaultHeight, all: false, filter: "" };
  }
}
