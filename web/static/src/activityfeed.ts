// Every change of what is listed, newest first, as it happens.

import type { Scope, Way } from "./activity.ts";
import { clockTime } from "./age.ts";
import { arrange, digits, h, setText } from "./dom.ts";
import { grip } from "./grip.ts";
import { Happenings, type Happening } from "./happenings.ts";
import type { Handler, Subscription } from "./live.ts";
import { doubt } from "./status.ts";
import { opWords } from "./timeline.ts";
import { byView } from "./who.ts";
import type { Problem, State } from "./wire.ts";

const page = 200; // lines that are drawn at first, and with each click
const pause = 150; // ms between two drawings
const mostWords = 3; // fields of a change that are told

export class ActivityFeed implements Handler {
  private readonly filter = h("input", { type: "search", placeholder: "Object, path or author", "aria-label": "Filter the activity by object, path or author", autocomplete: "off", spellcheck: "false" });
  private readonly quiet = h("input", { type: "checkbox" });
  private readonly stop = h("button", { type: "button", "aria-pressed": "false" }, "Pause");
  private readonly more = h("button", { type: "button", class: "more", hidden: true });
  private readonly kept = h("span", { class: "kept" });
  private readonly list = h("div", { class: "feed", role: "region", tabindex: "0", "aria-label": "Activity, newest first" });
  private readonly older = h("button", { type: "button", class: "older" }, "Older");
  private readonly foot = h("p", { class: "foot" });
  private readonly happenings = new Happenings();
  private drawn = new Map<number, HTMLElement>();
  private subscription: Subscription | null = null;
  private scope: Scope | null = null;
  private limit = page;
  private complete = false;
  private over = false;
  private stopped = false;
  private state: State | null = null;
  private problem: Problem | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(place: HTMLElement, private readonly way: Way, height: number, resized: (height: number) => void) {
    const tools = h("div", { class: "tools" }, this.filter, h("label", { title: "Heartbeats, resource versions and the like" }, this.quiet, "Quiet ones"), this.stop, this.more, h("span", { class: "spring" }), this.kept);
    place.replaceChildren(grip(place, "Height of the activity", height, resized), tools, this.list);
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

  /** What is listed is another. */
  follow(scope: Scope): void {
    this.subscription?.close();
    this.scope = scope;
    this.complete = false;
    this.problem = this.state = null;
    this.limit = page;
    this.happenings.begin("", []);
    this.drawn.clear();
    this.subscription = this.way.live.subscribe({ resource: scope.ref, ns: scope.ns, labels: scope.labels, view: "changes" }, this);
    this.draw();
  }

  /** The connection is another: over a new one the state is told anew. */
  refresh(): void {
    if (this.way.live.connection !== "open") this.state = null;
    this.draw();
  }

  close(): void {
    this.subscription?.close();
    clearTimeout(this.timer);
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "changes") {
      this.happenings.begin(m.since, m.events);
      this.complete = true;
      this.problem = null;
    } else if (m.type === "change-events") this.happenings.add(m.events);
    else if (m.type === "state") this.state = m;
    else if (m.type === "error") this.problem = m.problem;
    // A right that was lost takes with it what was seen.
    if (m.type === "error" || (m.type === "state" && m.state === "forbidden")) {
      this.happenings.begin("", []);
      this.complete = false;
    }
    this.timer ??= setTimeout(() => this.draw(), pause);
  }

  // What is shown stays until the snapshot has come: it has happened.
  restart(): void {}

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
    const drawn = new Map(visible.slice(0, this.limit).map((x) => [x.number, this.drawn.get(x.number) ?? this.line(x)]));
    this.drawn = drawn;
    const waiting = happenings.more(filter, quiet);
    this.more.hidden = waiting === 0;
    setText(this.more, `${digits(waiting)} more`);
    const since = clockTime(happenings.since, this.way.now());
    const { connection, since: changed } = this.way.live;
    const doubted = doubt({ connection, since: changed, state: this.state }, this.way.now());
    setText(this.kept, !this.complete || since === "" ? "" : `${visible.length === happenings.size ? "" : `${digits(visible.length)} of `}${happenings.size === 1 ? "1 change" : `${digits(happenings.size)} changes`} since ${since}${doubted === null ? "" : `; ${doubted.toLowerCase()}`}`);
    const some = visible.length > this.limit;
    const { problem, state, complete } = this;
    setText(this.foot, footWords({ problem, state, complete, doubted, count: visible.length, size: happenings.size, some, filtered: filter !== "", resource: this.scope?.resource ?? "object", since }));
    arrange(this.list, [...drawn.values(), ...(some ? [this.older] : []), this.foot]);
  }

  private line({ change, words, by, quiet }: Happening): HTMLElement {
    const { ns, name } = change;
    const told = words.slice(0, mostWords);
    const what = change.op === "update" ? told.map((w) => h("span", { class: "did" }, w)) : [h("span", { class: "op" }, opWords[change.op].toLowerCase())];
    if (words.length > told.length) what.push(h("span", { class: "rest" }, `${words.length - told.length} more`));
    const a = h("a", { href: this.way.href(change), "data-ns": ns, "data-name": name }, ns === "" ? name : `${ns}/${name}`);
    return h("div", { class: "what", "data-op": change.op, "data-quiet": quiet ? true : null }, h("time", { datetime: change.time }, clockTime(change.time, this.way.now())), a, h("span", { class: "all", title: words.length > 0 ? words.join("\n") : null }, ...what), h("span", { class: "who" }, ...by.map(byView)));
  }

  // Links stay links: only a plain click is taken over.
  private click(e: MouseEvent): void {
    if (e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || !(e.target instanceof Element) || String(getSelection()) !== "") return;
    const a = e.target.closest(".what")?.querySelector("a");
    if (!(a instanceof HTMLAnchorElement)) return;
    e.preventDefault();
    this.way.open({ ns: a.dataset["ns"] ?? "", name: a.dataset["name"] ?? "" });
  }
}

/** All that the words at the foot depend on. */
export interface Foot {
  readonly problem: Problem | null;
  readonly state: State | null;
  readonly complete: boolean;
  readonly doubted: string | null; // since when it is not known what changes
  readonly count: number; // changes that are to be seen,
  readonly size: number; // of so many
  readonly some: boolean; // not all of them are drawn
  readonly filtered: boolean;
  readonly resource: string;
  readonly since: string;
}

export function footWords(f: Foot): string {
  const untold = f.doubted === null ? "" : `${f.doubted}: what has changed since is not known here.`;
  if (f.problem !== null) return `${f.problem.title}. ${f.problem.detail}`;
  if (!f.complete) return ["forbidden", "absent", "failed"].includes(f.state?.state ?? "") ? (f.state?.reason ?? "") : untold === "" ? "Reading what is kept of the past." : untold;
  const words = (told: string): string => (untold === "" ? told : told === "" ? untold : `${untold} ${told}`);
  if (f.some) return words("");
  if (f.count > 0) return words(`Kept since ${f.since}; of the time before nothing is known here.`);
  if (f.size > 0) return words(f.filtered ? "No change has that." : "Nothing but quiet changes.");
  const until = f.doubted === null ? `since ${f.since}` : `from ${f.since} until then`;
  return words(`No ${f.resource} in this list changed ${until}. Of the time before nothing is known here.`);
}
