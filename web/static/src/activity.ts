// The line at the foot of a list that tells what happened last, made of the row
// events that come anyway. Opened, it is a feed of its own, which is loaded then,
// of this list or of all that is watched.

import { ages, clockTime } from "./age.ts";
import type { ActivityFeed } from "./activityfeed.ts";
import { h } from "./dom.ts";
import type { Kind } from "./kinds.ts";
import type { Live } from "./live.ts";
import { habits } from "./stored.ts";
import type { Told } from "./told.ts";
import type { ObjectName } from "./view.ts";

/** What of the cluster is listed. */
export interface Scope {
  readonly kind: Kind;
  readonly ns: readonly string[];
  readonly labels: string;
}

export interface Way {
  readonly live: Live;
  readonly now: () => number;
  /** The kinds that the program watches now, those first that matter most; null while that is not known. */
  readonly watched: () => readonly Kind[] | null;
  /** The address of an object's changes, and the way there. */
  readonly href: (kind: Kind, o: ObjectName) => string;
  readonly open: (kind: Kind, o: ObjectName) => void;
}

/** How a person has the feed. */
export interface Habit {
  readonly height: number;
  /** It tells of all that is watched. */
  readonly all: boolean;
}

const pause = 200; // ms between two lines: more often nobody reads
const usual = 260; // px
const key = "glasshouse-activity";

export class Activity {
  private readonly words = h("span", { class: "words" });
  private readonly button = h("button", { type: "button", class: "activity-line", "aria-expanded": "false", "aria-controls": "activity-feed", title: "Activity (a)" }, h("span", { class: "name" }, "Activity"), this.words);
  private readonly place = h("div", { id: "activity-feed", class: "activity-feed", hidden: true });
  private scope: Scope | null = null;
  private since: number | null = null; // when it became live; null while it is not
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

  /** The feed is open, which holds what it has been told. */
  get open(): boolean {
    return this.opened;
  }

  /** What is listed is another. */
  follow(scope: Scope): void {
    this.scope = scope;
    this.newest = this.since = null;
    this.idle();
    this.feed?.follow(scope);
  }

  /** What is watched may be other. */
  watched(): void {
    this.feed?.watched();
  }

  /** The connection is another. */
  refresh(): void {
    this.feed?.refresh();
  }

  /** Whether what changes is told: only then is it known that nothing does. What no column shows is not told. */
  live(is: boolean): void {
    if (is === (this.since !== null)) return;
    this.since = is ? this.way.now() : null;
    if (this.newest === null) this.idle();
  }

  private idle(): void {
    this.words.replaceChildren(this.since === null ? "" : `Nothing has changed in the columns of this list since ${clockTime(new Date(this.since).toISOString(), this.way.now())}`);
  }

  /** This has just happened. */
  happened(told: Told): void {
    this.newest = told;
    this.at = new Date(this.way.now()).toISOString();
    this.timer ??= setTimeout(() => this.draw(), pause);
  }

  /** What was told is gone with the rows: it may not be seen any more. */
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
    this.place.replaceChildren(h("p", { class: "foot" }, "Reading what is kept of the past."));
    void import("./activityfeed.ts").then(
      ({ ActivityFeed }) => {
        if (!this.opened || this.feed !== null) return;
        this.feed = new ActivityFeed(this.place, this.way, this.habit, (habit) => {
          this.habit = habit;
          this.keep();
        });
        if (this.scope !== null) this.feed.follow(this.scope);
      },
      () => this.place.replaceChildren(h("p", { class: "foot" }, "The activity could not be loaded. Reload the page to try again.")),
    );
  }

  private draw(): void {
    this.timer = undefined;
    const t = this.newest;
    if (t === null) return;
    const now = this.way.now();
    const cells = t.cells.map((c) => h("span", { class: "cell" }, `${c.column} `, h("del", {}, ages(c.before, now) || "nothing"), " → ", h("ins", {}, ages(c.after, now) || "nothing")));
    const what = t.op === "add" ? [h("span", { class: "cell" }, "created")] : t.op === "delete" ? [h("span", { class: "cell" }, "deleted")] : cells;
    this.words.replaceChildren(h("time", { datetime: this.at }, clockTime(this.at, now)), h("span", { class: "subject" }, t.ns === "" ? t.name : `${t.ns}/${t.name}`), ...what, ...(t.by === null || t.by.manager === "" ? [] : [h("span", { class: "author" }, t.by.manager)]));
  }

  private keep(): void {
    habits.set(key, JSON.stringify({ ...this.habit, open: this.opened }));
  }
}

function read(): Habit & { open: boolean } {
  try {
    const kept = JSON.parse(habits.get(key) ?? "{}") as { open?: unknown; height?: unknown; all?: unknown } | null;
    return { open: kept?.open === true, height: typeof kept?.height === "number" ? kept.height : usual, all: kept?.all === true };
  } catch {
    return { open: false, height: usual, all: false };
  }
}
