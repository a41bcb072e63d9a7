// The activity line below a list. It shows the last change, which it receives from the list. When the user opens it, it
// becomes the activity feed: a scrolling list of the changes of this list, or of all watched resources. The code of the
// feed is loaded on demand, and has subscriptions of its own.

import { ages, clockTime } from "./age.ts";
import type { ActivityFeed } from "./activityfeed.ts";
import { h } from "./dom.ts";
import type { Kind } from "./kinds.ts";
import type { Live } from "./live.ts";
import { habits } from "./stored.ts";
import type { Told } from "./told.ts";
import type { ObjectName } from "./view.ts";

/** The part of the cluster that the page lists. */
export interface Scope {
  readonly kind: Kind;
  readonly ns: readonly string[];
  readonly labels: string;
}

export interface Way {
  readonly live: Live;
  readonly now: () => number;
  /** Returns the resources that the server watches now, the most important first; null if they are not known yet. */
  readonly watched: () => readonly Kind[] | null;
  /** Returns the URL of an object's changes. open navigates to it. */
  readonly href: (kind: Kind, o: ObjectName) => string;
  readonly open: (kind: Kind, o: ObjectName) => void;
}

/** The user's preferences for the activity feed, which the browser stores. */
export interface Habit {
  readonly height: number;
  /** Whether the feed shows the changes of all watched resources, not only those of the list on the page. */
  readonly all: boolean;
}

const pause = 200; // ms between two updates of the line, because people cannot read faster
const usual = 260; // px, the default height
const key = "glasshouse-activity";

export class Activity {
  private readonly words = h("span", { class: "words" });
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
    this.words,
  );
  private readonly place = h("div", { id: "activity-feed", class: "activity-feed", hidden: true });
  private scope: Scope | null = null;
  private since: number | null = null; // ms, the time at which the list became live; null while it is not live
  private newest: Told | null = null;
  private at = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private feed: ActivityFeed | null = null;
  private opened = false;
  private habit: Habit;

  constructor(root: HTMLElement, private readonly way: Way) {
    root.replaceChildren(this.button, this.place);
    this.button.addEventListener("click", () => this.toggle());
    const kept = read();
    this.habit = kept;
    if (kept.open) this.toggle();
  }

  /** Whether the feed is open. A reload of the page would lose the changes that an open feed has received. */
  get open(): boolean {
    return this.opened;
  }

  /** Shows the activity of another list. */
  follow(scope: Scope): void {
    this.scope = scope;
    this.newest = this.since = null;
    this.idle();
    this.feed?.follow(scope);
  }

  /** Reports that the set of watched resources may have changed. */
  watched(): void {
    this.feed?.watched();
  }

  /** Reports that the state of the connection has changed. */
  refresh(): void {
    this.feed?.refresh();
  }

  /**
   * Sets whether the list is live. Only a live list can report that nothing changes. Changes that no column shows are
   * not reported here.
   */
  live(is: boolean): void {
    if (is === (this.since !== null)) return;
    this.since = is ? this.way.now() : null;
    if (this.newest === null) this.idle();
  }

  private idle(): void {
    this.words.replaceChildren(
      this.since === null
        ? ""
        : `No changes in this list since ${
            clockTime(new Date(this.since).toISOString(), this.way.now())
          }`,
    );
  }

  /** Shows a change that has just arrived. */
  happened(told: Told): void {
    this.newest = told;
    this.at = new Date(this.way.now()).toISOString();
    this.timer ??= setTimeout(() => this.draw(), pause);
  }

  /** Discards the last change, because its row may no longer be visible to the viewer. */
  forget(): void {
    this.newest = null;
    this.idle();
  }

  toggle(): void {
    this.opened = !this.opened;
    this.keep();
    this.button.setAttribute("aria-expanded", String(this.opened));
    this.place.hidden = !this.opened;
    if (!this.opened) {
      this.feed?.close();
      this.feed = null;
      return;
    }
    this.place.replaceChildren(h("p", { class: "foot" }, "Loading history…"));
    void import("./activityfeed.ts").then(
      ({ ActivityFeed }) => {
        if (!this.opened || this.feed !== null) return;
        this.feed = new ActivityFeed(this.place, this.way, this.habit, (habit) => {
          this.habit = habit;
          this.keep();
        });
        if (this.scope !== null) this.feed.follow(this.scope);
      },
      () =>
        this.place.replaceChildren(
          h("p", { class: "foot" }, "The activity could not be loaded. Reload the page to try again."),
        ),
    );
  }

  private draw(): void {
    this.timer = undefined;
    const t = this.newest;
    if (t === null) return;
    const now = this.way.now();
    const cells = t.cells.map((c) =>
      h(
        "span",
        { class: "cell" },
        `${c.column} `,
        h("del", {}, ages(c.before, now) || "(empty)"),
        " → ",
        h("ins", {}, ages(c.after, now) || "(empty)"),
      ),
    );
    const what =
      t.op === "add"
        ? [h("span", { class: "cell" }, "created")]
        : t.op === "delete"
          ? [h("span", { class: "cell" }, "deleted")]
          : cells;
    this.words.replaceChildren(
      h("time", { datetime: this.at }, clockTime(this.at, now)),
      h("span", { class: "subject" }, t.ns === "" ? t.name : `${t.ns}/${t.name}`),
      ...what,
      ...(t.by === null || t.by.manager === "" ? [] : [h("span", { class: "author" }, t.by.manager)]),
    );
  }

  private keep(): void {
    habits.set(key, JSON.stringify({ ...this.habit, open: this.opened }));
  }
}

function read(): Habit & { open: boolean } {
  try {
    const kept = JSON.parse(habits.get(key) ?? "{}") as { open?: unknown; height?: unknown; all?: unknown } | null;
    return {
      open: kept?.open === true,
      height: typeof kept?.height === "number" ? kept.height : usual,
      all: kept?.all === true,
    };
  } catch {
    return { open: false, height: usual, all: false };
  }
}
