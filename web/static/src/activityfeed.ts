// The activity feed, a scrolling list of all changes of one list or of all watched resources, newest first, live.

import type { Habit, Scope, Way } from "./activity.ts";
import { followed, pause, Source } from "./activitysource.ts";
import { clockTime } from "./age.ts";
import { arrange, digits, h, setText } from "./dom.ts";
import { grip } from "./grip.ts";
import { Happenings, type Happening } from "./happenings.ts";
import { plural, type Kind } from "./kinds.ts";
import { doubt } from "./status.ts";
import { opWords } from "./timeline.ts";
import { byView } from "./who.ts";
import type { Problem, State } from "./wire.ts";

const page = 200; // how many lines are drawn at first, and how many each click on "more" adds
const mostWords = 3; // changed fields that one line shows

export class ActivityFeed {
  private readonly own = h("button", { type: "button", title: "Changes in this list" }, "This list");
  private readonly every = h(
    "button",
    { type: "button", title: "Changes of all watched resources in the selected namespaces" },
    "All resources",
  );
  private readonly filter = h("input", {
    type: "search",
    placeholder: "Filter by object, field or author",
    "aria-label": "Filter activity by object, field or author",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly quiet = h("input", { type: "checkbox" });
  private readonly stop = h("button", { type: "button", "aria-pressed": "false" }, "Pause");
  private readonly more = h("button", { type: "button", class: "more", hidden: true });
  private readonly kept = h("span", { class: "kept" });
  private readonly list = h("div", {
    class: "feed",
    role: "region",
    tabindex: "0",
    "aria-label": "Activity, newest first",
  });
  private readonly older = h("button", { type: "button", class: "older" }, "Show older");
  private readonly foot = h("p", { class: "foot" });
  private readonly happenings = new Happenings();
  private drawn = new Map<number, HTMLElement>();
  private readonly sources = new Map<string, Source>(); // by resource ref
  // Watched resources whose changes the feed does not show, because there are too many.
  private rest: readonly Kind[] = [];
  private known = false; // whether the set of watched resources is known
  private scope: Scope | null = null;
  private limit = page;
  private over = false;
  private stopped = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    place: HTMLElement,
    private readonly way: Way,
    private habit: Habit,
    private readonly keep: (habit: Habit) => void,
  ) {
    const which = h("div", { class: "which", role: "group", "aria-label": "Activity scope" }, this.own, this.every);
    const tools = h(
      "div",
      { class: "tools" },
      which,
      this.filter,
      h("label", { title: "Heartbeats, resource versions and similar fields" }, this.quiet, "Show minor changes"),
      this.stop,
      this.more,
      h("span", { class: "spring" }),
      this.kept,
    );
    const resized = (height: number): void => this.take({ ...this.habit, height });
    place.replaceChildren(grip(place, "Activity height", habit.height, resized), tools, this.list);
    this.own.addEventListener("click", () => this.turn(false));
    this.every.addEventListener("click", () => this.turn(true));
    this.filter.addEventListener("input", () => this.draw());
    this.quiet.addEventListener("change", () => this.draw());
    this.stop.addEventListener("click", () => {
      this.stopped = !this.stopped;
      this.stop.setAttribute("aria-pressed", String(this.stopped));
      this.hold();
    });
    this.more.addEventListener("click", () => {
      this.happenings.resume();
      this.list.scrollTop = 0;
      this.hold();
    });
    this.list.addEventListener("pointerenter", () => this.hold((this.over = true)));
    this.list.addEventListener("pointerleave", () => this.hold((this.over = false)));
    this.older.addEventListener("click", () => {
      this.limit += page;
      this.draw();
    });
    this.list.addEventListener("click", (e) => this.click(e));
  }

  /** Shows the changes of another list. */
  follow(scope: Scope): void {
    const before = this.scope;
    this.scope = scope;
    // If the feed shows all watched resources, its subscriptions can stay unless the namespaces differ.
    if (before === null || !this.habit.all || before.ns.join() !== scope.ns.join()) this.begin();
    else {
      this.drawn.clear(); // draw the lines again, because their links belong to the previous list
      this.watched();
    }
  }

  private turn(all: boolean): void {
    if (all === this.habit.all) return;
    this.take({ ...this.habit, all });
    this.begin();
  }

  private take(habit: Habit): void {
    this.habit = habit;
    this.keep(habit);
  }

  private begin(): void {
    for (const source of this.sources.values()) source.close();
    this.sources.clear();
    this.happenings.clear();
    this.drawn.clear();
    this.limit = page;
    this.watched();
  }

  /**
    * Adjusts the sources (one subscription for each resource) to the resources that are watched now. It closes the
    * others and removes their changes.
   */
  watched(): void {
    const { scope } = this;
    if (scope === null) return;
    const { all } = this.habit;
    const watched = this.way.watched();
    const { kinds, rest } = all ? followed(watched ?? [], scope) : { kinds: [scope.kind], rest: [] };
    this.rest = rest;
    this.known = watched !== null;
    for (const [ref, source] of this.sources) {
      if (kinds.some((k) => k.ref === ref)) continue;
      source.close();
      this.sources.delete(ref);
    }
    const filter = { ns: scope.ns, labels: all ? "" : scope.labels, watched: all };
    for (const kind of kinds)
      if (!this.sources.has(kind.ref))
        this.sources.set(
          kind.ref,
          new Source(
            kind,
            this.way.live,
            filter,
            this.happenings,
            () => (this.timer ??= setTimeout(() => this.draw(), pause)),
          ),
        );
    this.draw();
  }

  /** Called when the state of the connection has changed. If it was lost, the server will send all states again. */
  refresh(): void {
    if (this.way.live.connection !== "open") for (const source of this.sources.values()) source.state = null;
    this.draw();
  }

  close(): void {
    for (const source of this.sources.values()) source.close();
    clearTimeout(this.timer);
  }

  private hold(..._why: unknown[]): void {
    if (this.over || this.stopped) this.happenings.paused = true;
    else this.happenings.resume();
    this.draw();
  }

  private draw(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { happenings } = this;
    const [filter, quiet] = [this.filter.value, this.quiet.checked];
    const visible = happenings.visible(filter, quiet);
    const drawn = new Map(
      visible.slice(0, this.limit).map((x) => [x.number, this.drawn.get(x.number) ?? this.line(x)]),
    );
    this.drawn = drawn;
    const waiting = happenings.more(filter, quiet);
    this.more.hidden = waiting === 0;
    setText(this.more, `${digits(waiting)} more`);
    const since = clockTime(happenings.since, this.way.now());
    const { all } = this.habit;
    this.own.setAttribute("aria-pressed", String(!all));
    this.every.setAttribute("aria-pressed", String(all));
    const sources = [...this.sources.values()];
    const told = sources.filter((s) => s.complete);
    const complete = told.length > 0;
    const doubted = this.doubted(told.length > 0 ? told : sources);
    setText(
      this.kept,
      !complete || since === ""
        ? ""
        : `${visible.length === happenings.size ? "" : `${digits(visible.length)} of `}${
            happenings.size === 1 ? "1 change" : `${digits(happenings.size)} changes`
          }${all ? ` in ${digits(told.length)} resource ${told.length === 1 ? "type" : "types"}` : ""} since ${since}${
            doubted === null ? "" : `; ${doubted.toLowerCase()}`
          }`,
    );
    const some = visible.length > this.limit;
    const { problem, state } = (all ? undefined : sources[0]) ?? { problem: null, state: null };
    const kinds = all
      ? {
          known: this.known,
          told: told.length,
          untold: [...sources.filter((s) => !s.complete).map((s) => s.kind), ...this.rest].map(plural),
        }
      : null;
    setText(
      this.foot,
      footWords({
        problem,
        state,
        complete,
        doubted,
        count: visible.length,
        size: happenings.size,
        some,
        filtered: filter !== "",
        resource: this.scope === null ? "objects" : plural(this.scope.kind),
        since,
        kinds,
      }),
    );
    arrange(this.list, [...drawn.values(), ...(some ? [this.older] : []), this.foot]);
  }

  // Describes since when changes may be missing, and for which resources; null if all sources are current.
  private doubted(sources: readonly Source[]): string | null {
    const { connection, since } = this.way.live;
    const now = this.way.now();
    const doubts = sources
      .map((s) => ({ kind: s.kind, words: doubt({ connection, since, state: s.state }, now) }))
      .filter((d) => d.words !== null);
    const [first] = doubts;
    if (first === undefined) return null;
    return connection === "lost" || !this.habit.all
      ? first.words
      : doubts.map((d) => `${plural(d.kind)} ${d.words?.toLowerCase() ?? ""}`).join(", ");
  }

  private line(happening: Happening): HTMLElement {
    const { kind, op, ns, name, time, words, by, quiet } = happening;
    const told = words.slice(0, mostWords);
    const what =
      op === "update"
        ? told.map((pieces) => h("span", { class: "did" }, ...apart(pieces)))
        : [h("span", { class: "op" }, opWords[op].toLowerCase())];
    if (words.length > told.length) what.push(h("span", { class: "rest" }, `${words.length - told.length} more`));
    const of = this.habit.all ? [h("span", { class: "kind" }, kind.kind), " "] : [];
    const a = h(
      "a",
      { href: this.way.href(kind, happening), "data-of": kind.ref, "data-ns": ns, "data-name": name },
      ...of,
      ns === "" ? name : `${ns}/${name}`,
    );
    return h(
      "div",
      { class: "what", "data-op": op, "data-quiet": quiet ? true : null },
      h("time", { datetime: time }, clockTime(time, this.way.now())),
      a,
      h("span", { class: "all", title: words.length > 0 ? words.map((w) => w.join(" ")).join("\n") : null }, ...what),
      h("span", { class: "who" }, ...by.map(byView)),
    );
  }

  // Handles plain clicks only. Clicks with a modifier key keep the browser's behavior for links.
  private click(e: MouseEvent): void {
    if (
      e.button !== 0 ||
      e.ctrlKey ||
      e.metaKey ||
      e.shiftKey ||
      e.altKey ||
      !(e.target instanceof Element) ||
      String(getSelection()) !== ""
    )
      return;
    const a = e.target.closest(".what")?.querySelector("a");
    const kind = this.sources.get(a?.dataset["of"] ?? "")?.kind;
    if (!(a instanceof HTMLAnchorElement) || kind === undefined) return;
    e.preventDefault();
    this.way.open(kind, { ns: a.dataset["ns"] ?? "", name: a.dataset["name"] ?? "" });
  }
}

// Returns each piece in a bdi element, which isolates its writing direction. Otherwise, two adjacent values in a
// right-to-left script would swap places.
const apart = (pieces: readonly string[]): (Node | string)[] =>
  pieces.flatMap((p, i) => [...(i === 0 ? [] : [" "]), h("bdi", {}, p)]);

/** The values that the text below the feed depends on. */
export interface Foot {
  readonly problem: Problem | null;
  readonly state: State | null;
  readonly complete: boolean;
  readonly doubted: string | null; // since when changes are unknown; null if they are current
  readonly count: number; // changes that match the filter
  readonly size: number; // all changes in the feed
  readonly some: boolean; // more changes match than are drawn
  readonly filtered: boolean;
  readonly resource: string;
  readonly since: string;
  /**
    * Null if the feed shows one list only. Otherwise: whether the set of watched resources is known, how many of them
    * the feed shows, and the names of those that it does not show.
   */
  readonly kinds: { readonly known: boolean; readonly told: number; readonly untold: readonly string[] } | null;
}

export function footWords(f: Foot): string {
  const untold = f.doubted === null ? "" : `${f.doubted}. Later changes may be missing.`;
  if (f.problem !== null) return `${f.problem.title}. ${f.problem.detail}`;
  if (f.kinds?.known === false) return "Loading watched resources…";
  if (!f.complete && f.kinds?.untold.length === 0)
    return "No watched resources are known. New ones appear here automatically.";
  if (!f.complete)
    return ["forbidden", "absent", "failed"].includes(f.state?.state ?? "")
      ? (f.state?.reason ?? "")
      : untold === ""
        ? "Loading history…"
        : untold;
  const words = (told: string): string =>
    [untold, told, leftOut(f.kinds?.untold ?? [])].filter((w) => w !== "").join(" ");
  if (f.some) return words("");
  if (f.count > 0)
    return words(
      f.kinds === null
        ? `History starts at ${f.since}.`
        : `History is complete since ${f.since}. Earlier changes may be missing.`,
    );
  if (f.size > 0) return words(f.filtered ? "No changes match the filter." : "Only minor changes, which are hidden.");
  const until = f.doubted === null ? `since ${f.since}` : `from ${f.since} until then`;
  const what =
    f.kinds === null
      ? `No ${f.resource} in this list changed`
      : f.kinds.told === 1
        ? "No changes in 1 resource type"
        : `No changes in ${digits(f.kinds.told)} resource types`;
  return words(`${what} ${until}. History starts at ${f.since}.`);
}

const mostNamed = 5;

function leftOut(kinds: readonly string[]): string {
  if (kinds.length === 0) return "";
  const more = kinds.length - mostNamed;
  return `Not shown: ${kinds.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${digits(more)} more` : ""}.`;
}
