// The activity feed: a live list of changes, newest first, of one list or of all watched resources.

import "../shared-code.ts";
import type { ActivityPreferences, ListScope, ActivityHost } from "./activity-types.ts";
import { createRef, type TargetedMouseEvent } from "preact";
import { useCallback, useState } from "preact/hooks";
import { splitWatched, updateInterval, ActivitySource } from "./activity-source.ts";
import { clockTime } from "../text/age.ts";
import { formatInteger } from "../text/format.ts";
import { Author } from "../ui/author.tsx";
import { HeightHandle } from "../ui/height-handle.tsx";
import { memo, mount, unmount, useNow, ViewState } from "../ui/view.tsx";
import { groupBursts, type EntryGroup } from "./bursts.ts";
import { ChangeLog, type LogEntry } from "./change-log.ts";
import { plural, type Kind } from "../net/kinds.ts";
import { staleText } from "../model/status.ts";
import { opLabels } from "./timeline.ts";
import type { Problem, State } from "../net/wire.ts";

const pageSize = 200; // lines drawn at first, and added by each click on "Show older"
const maxFields = 3;

export class ActivityFeed {
  private readonly state: ViewState;
  private readonly list = createRef<HTMLDivElement>();
  private showMinor = false;
  private showStatus = false;
  private readonly changeLog = new ChangeLog();
  private readonly sources = new Map<string, ActivitySource>();
  // Watched resources that the feed omits, because it shows only a maximum number of resources.
  private omittedKinds: readonly Kind[] = [];
  private watchedKnown = false;
  private scope: ListScope | null = null;
  private limit = pageSize;
  private isHovered = false;
  private isPaused = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly container: HTMLElement,
    private readonly host: ActivityHost,
    private preferences: ActivityPreferences,
    private readonly save: (preferences: ActivityPreferences) => void,
  ) {
    this.state = new ViewState(host.now);
    container.replaceChildren();
    this.draw();
  }

  showList(scope: ListScope): void {
    const before = this.scope;
    this.scope = scope;
    // A feed of all resources restarts only if the namespaces have changed.
    if (before === null || !this.preferences.all || before.ns.join() !== scope.ns.join()) this.restart();
    else this.updateSources();
  }

  /** Shows the scope and the filter that the URL contains. */
  show({ all, filter }: ActivityPreferences): void {
    const isOther = all !== this.preferences.all;
    this.preferences = { ...this.preferences, all, filter };
    if (isOther) this.restart();
    else this.draw();
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
    this.limit = pageSize;
    this.updateSources();
  }

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

  /** Draws again after the connection was lost or restored. While it is lost, the state of each source is unknown. */
  refresh(): void {
    if (this.host.live.connection !== "open") for (const source of this.sources.values()) source.state = null;
    this.draw();
  }

  close(): void {
    for (const source of this.sources.values()) source.close();
    clearTimeout(this.timer);
    unmount(this.container);
  }

  private setHovered(isHovered: boolean): void {
    this.isHovered = isHovered;
    this.updatePaused();
  }

  private togglePaused(): void {
    this.isPaused = !this.isPaused;
    this.updatePaused();
  }

  private updatePaused(): void {
    if (this.isHovered || this.isPaused) this.changeLog.isPaused = true;
    else this.changeLog.resume();
    this.draw();
  }

  private draw(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { changeLog, showMinor, showStatus, limit, scope, preferences } = this;
    const { all, filter } = preferences;
    const visible = changeLog.visible(filter, showMinor, showStatus);
    const groups = groupBursts(visible);
    const waiting = changeLog.pendingCount(filter, showMinor, showStatus);
    const since = clockTime(changeLog.since, this.host.now());
    const sources = [...this.sources.values()];
    const shown = sources.filter((s) => s.complete);
    const complete = shown.length > 0;
    const staleText = this.staleText(shown.length > 0 ? shown : sources);
    const hasMore = groups.length > limit;
    const { problem, state } = (all ? undefined : sources[0]) ?? { problem: null, state: null };
    const kinds = all
      ? {
          known: this.watchedKnown,
          shown: shown.length,
          omitted: [...sources.filter((s) => !s.complete).map((s) => s.kind), ...this.omittedKinds].map(plural),
        }
      : null;
    const summary = complete
      ? summaryText({ visible: visible.length, size: changeLog.size, kinds: kinds?.shown ?? null, since, staleText })
      : "";
    const foot = footerText({
      problem,
      state,
      complete,
      staleText,
      count: visible.length,
      size: changeLog.size,
      hasMore,
      filtered: filter !== "",
      hidden: hiddenText(showStatus, showMinor),
      resource: scope === null ? "objects" : plural(scope.kind),
      since,
      kinds,
    });
    mount(
      this.container,
      <>
        <HeightHandle
          element={this.container}
          label="Activity height"
          initialHeight={preferences.height}
          onResized={(height) => this.setPreferences({ ...this.preferences, height })}
        />
        <div class="tools">
          <div class="scope-switch" role="group" aria-label="Activity scope">
            <button type="button" title="Changes in this list" aria-pressed={!all} onClick={() => this.setAll(false)}>
              This list
            </button>
            <button
              type="button"
              title="Changes of all watched resources in the selected namespaces"
              aria-pressed={all}
              onClick={() => this.setAll(true)}
            >
              All resources
            </button>
          </div>
          <input
            type="search"
            placeholder="Filter by object, field or author"
            aria-label="Filter activity by object, field or author"
            autocomplete="off"
            spellcheck={false}
            value={filter}
            onInput={(e) => {
              this.setPreferences({ ...this.preferences, filter: e.currentTarget.value });
              this.draw();
            }}
          />
          <label title="Most updates of the status are made by controllers. Updates of one object form one line.">
            <input
              type="checkbox"
              checked={showStatus}
              onChange={(e) => {
                this.showStatus = e.currentTarget.checked;
                this.draw();
              }}
            />
            Show status updates
          </label>
          <label title="Minor changes are Normal events, and updates of lease renewals, resource versions and the like">
            <input
              type="checkbox"
              checked={showMinor}
              onChange={(e) => {
                this.showMinor = e.currentTarget.checked;
                this.draw();
              }}
            />
            Show minor changes
          </label>
          <button type="button" aria-pressed={this.isPaused} onClick={() => this.togglePaused()}>
            Pause
          </button>
          <button type="button" class="more" hidden={waiting === 0} onClick={() => this.showPending()}>
            {`Show ${formatInteger(waiting)} new ${waiting === 1 ? "change" : "changes"}`}
          </button>
          <span class="spring" />
          <span class="kept">{summary}</span>
        </div>
        <div
          class="feed"
          role="region"
          tabIndex={0}
          aria-label="Activity, newest first"
          ref={this.list}
          onPointerEnter={() => this.setHovered(true)}
          onPointerLeave={() => this.setHovered(false)}
        >
          {groups.slice(0, limit).map((group) => (
            <Group
              key={group.at(-1)?.number}
              group={group}
              scope={scope}
              showKind={all}
              href={this.href}
              open={this.open}
            />
          ))}
          {hasMore && (
            <button type="button" class="older" onClick={() => this.showOlder()}>
              Show older
            </button>
          )}
          <p class="foot">{foot}</p>
        </div>
      </>,
      this.state,
    );
  }

  private showPending(): void {
    this.changeLog.resume();
    if (this.list.current !== null) this.list.current.scrollTop = 0;
    this.updatePaused();
  }

  private showOlder(): void {
    this.limit += pageSize;
    this.draw();
  }

  private readonly href = (entry: LogEntry): string => this.host.href(entry.kind, entry);

  private readonly open = ({ kind, ns, name }: LogEntry): void => this.host.open(kind, { ns, name });

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
}

/** One line for a group of changes. A click on the number of status updates shows each of them. */
function Group({
  group,
  ...rest
}: Omit<EntryProps, "entry" | "count" | "isOpen" | "toggle" | "isNested"> & { group: EntryGroup }) {
  const [isOpen, setOpen] = useState(false);
  const toggle = useCallback(() => setOpen((is) => !is), []);
  const [newest, ...older] = group;
  if (older.length === 0) return <Entry entry={newest} {...rest} />;
  return (
    <>
      <Entry entry={newest} count={group.length} isOpen={isOpen} toggle={toggle} {...rest} />
      {isOpen && older.map((entry) => <Entry key={entry.number} entry={entry} isNested {...rest} />)}
    </>
  );
}

interface EntryProps {
  entry: LogEntry;
  count?: number; // number of status updates in the group of this entry
  isOpen?: boolean; // whether each entry of the group is shown
  toggle?: () => void;
  isNested?: boolean;
  scope: ListScope | null; // not read: a new value makes memo draw the entry again, with new links
  showKind: boolean;
  href: (entry: LogEntry) => string;
  open: (entry: LogEntry) => void;
}

const Entry = memo(({ entry, count, isOpen, toggle, isNested, showKind, href, open }: EntryProps) => {
  const now = useNow();
  const { kind, op, ns, name, time, fieldTexts, by, isMinor } = entry;
  const shown = op === "update" ? fieldTexts.slice(0, maxFields) : [];
  const omitted = fieldTexts.length - Math.min(fieldTexts.length, maxFields);
  const click = (e: TargetedMouseEvent<HTMLElement>): void => {
    // Let the browser handle clicks with a modifier key, which, for example, open a new tab.
    if (e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || String(getSelection()) !== "") return;
    e.preventDefault();
    open(entry);
  };
  return (
    <div
      class="activity-entry"
      data-op={op}
      data-minor={isMinor ? "" : undefined}
      data-nested={isNested === true ? "" : undefined}
      onClick={click}
    >
      <time datetime={time}>{clockTime(time, now())}</time>
      <a href={href(entry)}>
        {showKind && (
          <>
            <span class="kind">{kind.kind}</span>{" "}
          </>
        )}
        {ns === "" ? name : `${ns}/${name}`}
      </a>
      <span class="all" title={fieldTexts.length > 0 ? fieldTexts.map((t) => t.join(" ")).join("\n") : undefined}>
        {toggle !== undefined && (
          <button
            type="button"
            class="burst-toggle"
            aria-expanded={isOpen}
            onClick={(e) => {
              e.stopPropagation(); // a click on the line opens the object
              toggle();
            }}
          >
            {`${formatInteger(count ?? 0)} status updates`}
          </button>
        )}
        {op !== "update" && <span class="op">{opLabels[op].toLowerCase()}</span>}
        {shown.map((pieces) => (
          <span class="field-change">{isolateDirections(pieces)}</span>
        ))}
        {omitted > 0 && <span class="rest">{`${omitted} more`}</span>}
      </span>
      <span class="who">
        {by.map((author) => (
          <Author author={author} />
        ))}
      </span>
    </div>
  );
});

// Without the bdi elements, the browser would show adjacent values of a right-to-left script in the wrong order.
const isolateDirections = (pieces: readonly string[]) =>
  pieces.map((piece, i) => (
    <>
      {i > 0 && " "}
      <bdi>{piece}</bdi>
    </>
  ));

interface SummaryState {
  readonly visible: number;
  readonly size: number;
  readonly kinds: number | null; // number of resources in the feed; null if the feed shows only one list
  readonly since: string;
  readonly staleText: string | null;
}

function summaryText({ visible, size, kinds, since, staleText }: SummaryState): string {
  if (since === "") return "";
  const changes = size === 1 ? "1 change" : `${formatInteger(size)} changes`;
  const ofKinds = kinds === null ? "" : ` in ${formatInteger(kinds)} resource ${kinds === 1 ? "type" : "types"}`;
  return (
    `${visible === size ? "" : `${formatInteger(visible)} of `}${changes}${ofKinds} since ${since}` +
    `${staleText === null ? "" : `. ${staleText}`}`
  );
}

export interface FooterState {
  readonly problem: Problem | null;
  readonly state: State | null;
  readonly complete: boolean;
  readonly staleText: string | null; // a text such as "Stale since 14:03"; null if no changes are missing
  readonly count: number;
  readonly size: number;
  readonly hasMore: boolean;
  readonly filtered: boolean;
  readonly hidden: string; // what the feed hides, such as "Minor changes"; empty if it hides nothing
  readonly resource: string;
  readonly since: string;
  /**
   * The number of shown resources and the names of omitted ones. null if the feed shows only one list. `known` is true
   * once the server has sent the list of watched resources.
   */
  readonly kinds: { readonly known: boolean; readonly shown: number; readonly omitted: readonly string[] } | null;
}

export const hiddenText = (showsStatus: boolean, showsMinor: boolean): string =>
  showsStatus
    ? showsMinor
      ? ""
      : "Minor changes"
    : showsMinor
      ? "Status updates"
      : "Status updates and minor changes";

export function footerText(f: FooterState): string {
  const staleWarning = f.staleText === null ? "" : `${f.staleText}. Later changes may be missing.`;
  if (f.problem !== null) return `${f.problem.title}. ${f.problem.detail}`;
  if (f.kinds?.known === false) return "Loading watched resources…";
  if (!f.complete && f.kinds?.omitted.length === 0)
    return "Glasshouse watches no resource types now. A resource type appears here while someone views it.";
  if (!f.complete)
    return ["forbidden", "absent", "failed"].includes(f.state?.state ?? "")
      ? (f.state?.reason ?? "")
      : staleWarning === ""
        ? "Loading history…"
        : staleWarning;
  const join = (text: string): string =>
    [staleWarning, text, omittedText(f.kinds?.omitted ?? [])].filter((w) => w !== "").join(" ");
  if (f.hasMore) return join("");
  const history =
    f.kinds === null
      ? `History starts at ${f.since}.`
      : `History is complete since ${f.since}. Earlier changes may be missing.`;
  if (f.count > 0) return join(history);
  if (f.size > 0)
    return join(
      !f.filtered
        ? `All changes are hidden: ${f.hidden.toLowerCase()}.`
        : f.hidden === ""
          ? "No changes match the filter."
          : `No changes match the filter. ${f.hidden} are hidden and may match.`,
    );
  const subject =
    f.kinds === null
      ? `No changes to ${f.resource} in this list`
      : f.kinds.shown === 1
        ? "No changes in 1 resource type"
        : `No changes in ${formatInteger(f.kinds.shown)} resource types`;
  const until = f.staleText === null ? "" : ", as of the last update";
  return join(`${subject} since ${f.since}${until}. ${history}`);
}

const maxNamed = 5;

function omittedText(kinds: readonly string[]): string {
  if (kinds.length === 0) return "";
  const more = kinds.length - maxNamed;
  const rest = more > 0 ? ` and ${formatInteger(more)} more` : "";
  return `Resource types not shown: ${kinds.slice(0, maxNamed).join(", ")}${rest}.`;
}
