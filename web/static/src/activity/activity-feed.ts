// The activity feed: a live, scrolling list of changes, newest first. It shows the changes of one list of objects, or
// of all watched resources.

import type { ActivityPreferences, ListScope, ActivityHost } from "./activity-types.ts";
import { splitWatched, updateInterval, ActivitySource } from "./activity-source.ts";
import { clockTime } from "../text/age.ts";
import { arrangeChildren, h, setText } from "../ui/dom.ts";
import { formatInteger } from "../text/format.ts";
import { heightResizer } from "../ui/height-resizer.ts";
import { ChangeLog, type LogEntry } from "./change-log.ts";
import { plural, type Kind } from "../net/kinds.ts";
import { staleText } from "../model/status.ts";
import { opLabels } from "./timeline.ts";
import { authorView } from "../ui/author-view.ts";
import type { Problem, State } from "../net/wire.ts";

const pageSize = 200; // lines that are drawn at first, and that each click on "Show older" adds
const maxFields = 3; // the maximum number of changed fields in one line

export class ActivityFeed {
  private readonly listButton = h("button", { type: "button", title: "Changes in this list" }, "This list");
  private readonly allButton = h(
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
  private readonly minorCheckbox = h("input", { type: "checkbox" });
  private readonly pauseButton = h("button", { type: "button", "aria-pressed": "false" }, "Pause");
  private readonly moreButton = h("button", { type: "button", class: "more", hidden: true });
  private readonly summary = h("span", { class: "kept" });
  private readonly list = h("div", {
    class: "feed",
    role: "region",
    tabindex: "0",
    "aria-label": "Activity, newest first",
  });
  private readonly olderButton = h("button", { type: "button", class: "older" }, "Show older");
  private readonly foot = h("p", { class: "foot" });
  private readonly changeLog = new ChangeLog();
  private lines = new Map<number, HTMLElement>();
  private readonly sources = new Map<string, ActivitySource>(); // by resource ref ("group/version/plural")
  // The watched resources above the maximum number of resources in the feed. The feed does not show them.
  private omittedKinds: readonly Kind[] = [];
  private watchedKnown = false; // whether the server has sent the list of watched resources
  private scope: ListScope | null = null;
  private limit = pageSize;
  private isHovered = false;
  private isPaused = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    container: HTMLElement,
    private readonly host: ActivityHost,
    private preferences: ActivityPreferences,
    private readonly save: (preferences: ActivityPreferences) => void,
  ) {
    const scopeButtons = h(
      "div",
      { class: "scope-switch", role: "group", "aria-label": "Activity scope" },
      this.listButton,
      this.allButton,
    );
    const tools = h(
      "div",
      { class: "tools" },
      scopeButtons,
      this.filter,
      h(
        "label",
        { title: "Heartbeats, resource versions and similar fields" },
        this.minorCheckbox,
        "Show minor changes",
      ),
      this.pauseButton,
      this.moreButton,
      h("span", { class: "spring" }),
      this.summary,
    );
    const resized = (height: number): void => this.setPreferences({ ...this.preferences, height });
    container.replaceChildren(
      heightResizer(container, "Activity height", preferences.height, resized),
      tools,
      this.list,
    );
    this.listButton.addEventListener("click", () => this.setAll(false));
    this.allButton.addEventListener("click", () => this.setAll(true));
    this.filter.addEventListener("input", () => this.draw());
    this.minorCheckbox.addEventListener("change", () => this.draw());
    this.pauseButton.addEventListener("click", () => {
      this.isPaused = !this.isPaused;
      this.pauseButton.setAttribute("aria-pressed", String(this.isPaused));
      this.updatePaused();
    });
    this.moreButton.addEventListener("click", () => {
      this.changeLog.resume();
      this.list.scrollTop = 0;
      this.updatePaused();
    });
    this.list.addEventListener("pointerenter", () => this.updatePaused((this.isHovered = true)));
    this.list.addEventListener("pointerleave", () => this.updatePaused((this.isHovered = false)));
    this.olderButton.addEventListener("click", () => {
      this.limit += pageSize;
      this.draw();
    });
    this.list.addEventListener("click", (e) => this.click(e));
  }

  showList(scope: ListScope): void {
    const before = this.scope;
    this.scope = scope;
    // Restart the subscriptions for the first list. Restart them later only if the feed shows only the current list,
    // or if the selected namespaces have changed.
    if (before === null || !this.preferences.all || before.ns.join() !== scope.ns.join()) this.restart();
    else {
      this.lines.clear(); // redraw all lines, because their links contain parameters of the previous list
      this.updateSources();
    }
  }

  private setAll(all: boolean): void {
    if (all === this.preferences.all) return;
    this.setPreferences({ ...this.preferences, all });
    this.restart();
  }

  private setPreferences(preferences: ActivityPreferences): void {
    this.preferences = preferences;
    this.save(preferences);
  }

  private restart(): void {
    for (const source of this.sources.values()) source.close();
    this.sources.clear();
    this.changeLog.clear();
    this.lines.clear();
    this.limit = pageSize;
    this.updateSources();
  }

  /**
   * Opens a subscription for each resource that should be shown now. It closes the subscriptions of other resources
   * and removes their changes.
   */
  updateSources(): void {
    const { scope } = this;
    if (scope === null) return;
    const { all } = this.preferences;
    const watched = this.host.watched();
    const { kinds, rest } = all ? splitWatched(watched ?? [], scope) : { kinds: [scope.kind], rest: [] };
    this.omittedKinds = rest;
    this.watchedKnown = watched !== null;
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
          new ActivitySource(
            kind,
            this.host.live,
            filter,
            this.changeLog,
            () => (this.timer ??= setTimeout(() => this.draw(), updateInterval)),
          ),
        );
    this.draw();
  }

  /**
   * Updates the feed after the connection has been lost or restored. Without a connection, the stored states are
   * outdated, and the server sends all states again after a reconnect.
   */
  refresh(): void {
    if (this.host.live.connection !== "open") for (const source of this.sources.values()) source.state = null;
    this.draw();
  }

  close(): void {
    for (const source of this.sources.values()) source.close();
    clearTimeout(this.timer);
  }

  private updatePaused(..._why: unknown[]): void {
    if (this.isHovered || this.isPaused) this.changeLog.isPaused = true;
    else this.changeLog.resume();
    this.draw();
  }

  private draw(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { changeLog } = this;
    const [filter, showMinor] = [this.filter.value, this.minorCheckbox.checked];
    const visible = changeLog.visible(filter, showMinor);
    const lines = new Map(
      visible.slice(0, this.limit).map((x) => [x.number, this.lines.get(x.number) ?? this.line(x)]),
    );
    this.lines = lines;
    const waiting = changeLog.pendingCount(filter, showMinor);
    this.moreButton.hidden = waiting === 0;
    setText(this.moreButton, `${formatInteger(waiting)} more`);
    const since = clockTime(changeLog.since, this.host.now());
    const { all } = this.preferences;
    this.listButton.setAttribute("aria-pressed", String(!all));
    this.allButton.setAttribute("aria-pressed", String(all));
    const sources = [...this.sources.values()];
    const shown = sources.filter((s) => s.complete);
    const complete = shown.length > 0;
    const staleText = this.staleText(shown.length > 0 ? shown : sources);
    setText(
      this.summary,
      !complete || since === ""
        ? ""
        : `${visible.length === changeLog.size ? "" : `${formatInteger(visible.length)} of `}${
            changeLog.size === 1 ? "1 change" : `${formatInteger(changeLog.size)} changes`
          }${
            all ? ` in ${formatInteger(shown.length)} resource ${shown.length === 1 ? "type" : "types"}` : ""
          } since ${since}${
            staleText === null ? "" : `; ${staleText.toLowerCase()}`
          }`,
    );
    const hasMore = visible.length > this.limit;
    const { problem, state } = (all ? undefined : sources[0]) ?? { problem: null, state: null };
    const kinds = all
      ? {
          known: this.watchedKnown,
          shown: shown.length,
          omitted: [...sources.filter((s) => !s.complete).map((s) => s.kind), ...this.omittedKinds].map(plural),
        }
      : null;
    setText(
      this.foot,
      footerText({
        problem,
        state,
        complete,
        staleText,
        count: visible.length,
        size: changeLog.size,
        hasMore,
        filtered: filter !== "",
        resource: this.scope === null ? "objects" : plural(this.scope.kind),
        since,
        kinds,
      }),
    );
    arrangeChildren(this.list, [...lines.values(), ...(hasMore ? [this.olderButton] : []), this.foot]);
  }

  // Returns a text with the time since which changes are possibly missing, and the resources concerned. Returns null
  // if all given sources are current.
  private staleText(sources: readonly ActivitySource[]): string | null {
    const { connection, since } = this.host.live;
    const now = this.host.now();
    const staleKinds = sources
      .map((s) => ({ kind: s.kind, words: staleText({ connection, since, state: s.state }, now) }))
      .filter((d) => d.words !== null);
    const [first] = staleKinds;
    if (first === undefined) return null;
    return connection === "lost" || !this.preferences.all
      ? first.words
      : staleKinds.map((d) => `${plural(d.kind)} ${d.words?.toLowerCase() ?? ""}`).join(", ");
  }

  private line(entry: LogEntry): HTMLElement {
    const { kind, op, ns, name, time, fieldTexts: words, by, isMinor: quiet } = entry;
    const shown = words.slice(0, maxFields);
    const parts =
      op === "update"
        ? shown.map((pieces) => h("span", { class: "field-change" }, ...isolateDirections(pieces)))
        : [h("span", { class: "op" }, opLabels[op].toLowerCase())];
    if (words.length > shown.length) parts.push(h("span", { class: "rest" }, `${words.length - shown.length} more`));
    const kindPrefix = this.preferences.all ? [h("span", { class: "kind" }, kind.kind), " "] : [];
    const a = h(
      "a",
      { href: this.host.href(kind, entry), "data-of": kind.ref, "data-ns": ns, "data-name": name },
      ...kindPrefix,
      ns === "" ? name : `${ns}/${name}`,
    );
    return h(
      "div",
      { class: "activity-entry", "data-op": op, "data-quiet": quiet ? true : null },
      h("time", { datetime: time }, clockTime(time, this.host.now())),
      a,
      h("span", { class: "all", title: words.length > 0 ? words.map((w) => w.join(" ")).join("\n") : null }, ...parts),
      h("span", { class: "who" }, ...by.map(authorView)),
    );
  }

  // Handles plain clicks only. For clicks with a modifier key, the browser opens the link as usual.
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
    const a = e.target.closest(".activity-entry")?.querySelector("a");
    const kind = this.sources.get(a?.dataset["of"] ?? "")?.kind;
    if (!(a instanceof HTMLAnchorElement) || kind === undefined) return;
    e.preventDefault();
    this.host.open(kind, { ns: a.dataset["ns"] ?? "", name: a.dataset["name"] ?? "" });
  }
}

// Wraps each piece of text in a bdi element, which isolates its writing direction. Without it, the browser would swap
// two adjacent values in a right-to-left script.
const isolateDirections = (pieces: readonly string[]): (Node | string)[] =>
  pieces.flatMap((p, i) => [...(i === 0 ? [] : [" "]), h("bdi", {}, p)]);

/** The input of footerText, which returns the text below the feed. */
export interface FooterState {
  readonly problem: Problem | null;
  readonly state: State | null;
  readonly complete: boolean;
  readonly staleText: string | null; // text with the time since which changes may be missing; null if none are
  readonly count: number; // the number of changes that match the filter
  readonly size: number; // the number of all changes in the feed
  readonly hasMore: boolean; // whether more changes match the filter than are drawn
  readonly filtered: boolean;
  readonly resource: string;
  readonly since: string;
  /**
   * null if the feed shows only one list. The field known reports whether the server has sent the list of watched
   * resources. The field shown counts the resources in the feed. The field omitted names the watched resources that
   * are not in the feed.
   */
  readonly kinds: { readonly known: boolean; readonly shown: number; readonly omitted: readonly string[] } | null;
}

export function footerText(f: FooterState): string {
  const staleWarning = f.staleText === null ? "" : `${f.staleText}. Later changes may be missing.`;
  if (f.problem !== null) return `${f.problem.title}. ${f.problem.detail}`;
  if (f.kinds?.known === false) return "Loading watched resources…";
  if (!f.complete && f.kinds?.omitted.length === 0)
    return "No watched resources are known. New ones appear here automatically.";
  if (!f.complete)
    return ["forbidden", "absent", "failed"].includes(f.state?.state ?? "")
      ? (f.state?.reason ?? "")
      : staleWarning === ""
        ? "Loading history…"
        : staleWarning;
  const join = (text: string): string =>
    [staleWarning, text, omittedText(f.kinds?.omitted ?? [])].filter((w) => w !== "").join(" ");
  if (f.hasMore) return join("");
  if (f.count > 0)
    return join(
      f.kinds === null
        ? `History starts at ${f.since}.`
        : `History is complete since ${f.since}. Earlier changes may be missing.`,
    );
  if (f.size > 0) return join(f.filtered ? "No changes match the filter." : "Only minor changes, which are hidden.");
  const until = f.staleText === null ? `since ${f.since}` : `from ${f.since} until then`;
  const subject =
    f.kinds === null
      ? `No ${f.resource} in this list changed`
      : f.kinds.shown === 1
        ? "No changes in 1 resource type"
        : `No changes in ${formatInteger(f.kinds.shown)} resource types`;
  return join(`${subject} ${until}. History starts at ${f.since}.`);
}

const maxNamed = 5;

function omittedText(kinds: readonly string[]): string {
  if (kinds.length === 0) return "";
  const more = kinds.length - maxNamed;
  return `Not shown: ${kinds.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${formatInteger(more)} more` : ""}.`;
}
