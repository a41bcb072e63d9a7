// The tab with the Kubernetes events of an object, and of the objects that a workload owns. The server watches them
// only while the tab is open.

import "../../shared-code.ts";
import { h } from "../../ui/dom.ts";
import { Age, memo, mount, unmount, useHighlight, ViewState } from "../../ui/view.tsx";
import { formatInteger } from "../../text/format.ts";
import { eventsFrom, eventSelector, type EventRow } from "../facts/event-rows.ts";
import { valueAt, text } from "../facts/read.ts";
import { Feed, type FeedListener } from "../../model/feed.ts";
import { bannerText, coverageText, noteFor, status, type Note } from "../../model/status.ts";
import { preferences } from "../../ui/preferences.ts";
import { sharedParts } from "../../model/guest.ts";
import { panelHref } from "../../model/view.ts";
import { hasMergedLogs } from "../../net/kinds.ts";
import { eventTarget, intermediateKindOf, isOwnedEvent, scopeText } from "../workload/owned-events.ts";
import { WorkloadPods } from "../workload/workload-pods.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";

const maxEvents = 200;
// If a namespace has more events than this, the page loads only a part of them, and the server filters them by the name
// of the workload.
const maxLoadedEvents = 2000;
const warningsFirstKey = "glasshouse-warnings-first";

export class EventsTab implements Tab, FeedListener {
  readonly element = h("div", { class: "events", tabindex: "0" });
  private readonly state: ViewState;
  private warningsFirst = preferences.get(warningsFirstKey) !== null;
  private feed: Feed | null = null;
  private query = "";
  private frame = 0;
  /**
   * The pods and other objects of a workload, whose events are shown too. null if the object is not a workload, and for
   * guests, who may see only the events of the object itself.
   */
  private readonly workload: WorkloadPods | null;

  constructor(private readonly host: TabHost) {
    this.state = new ViewState(host.now);
    this.workload =
      hasMergedLogs(host.kind.ref) && sharedParts() === null ? new WorkloadPods(host, () => this.schedule(), 0) : null;
    this.draw();
  }

  show({ object }: TabData): void {
    this.feed?.reconnected();
    const uid = text(valueAt(object, "metadata", "uid"));
    this.workload?.show(object);
    const { kind, name } = this.host;
    const query = uid === "" ? "" : this.workload === null ? eventSelector(kind.kind, name.name, uid) : uid;
    if (query !== "" && query !== this.query) {
      this.query = query;
      this.subscribe();
    }
    this.schedule();
  }

  tick(): void {
    this.state.tick();
    this.schedule(); // redraw, because the status text can contain an age
  }

  close(): void {
    this.feed?.close();
    this.workload?.close();
    cancelAnimationFrame(this.frame);
    unmount(this.element);
  }

  snapshotArrived(): void {
    this.state.highlightsChanges = false;
    this.schedule();
  }
  rowsChanged(): void {
    this.schedule();
  }
  rowsDiscarded(): void {
    this.schedule();
  }
  statusChanged(): void {
    this.schedule();
  }

  private subscribe(): void {
    this.feed?.close();
    this.state.highlightsChanges = false;
    const { live, name } = this.host;
    const ns = name.ns === "" ? [] : [name.ns];
    // The column shows ages, so ascending order puts the newest event first.
    const sort = { column: "last seen", descending: false };
    // Filter the events by the workload's name, because the names of the objects that it owns begin with this name. A
    // watch with a field selector for each owned object would exceed the server's limit for such watches.
    this.feed =
      this.workload === null
        ? new Feed(live, { resource: "core/v1/events", ns, fields: this.query }, { sort, q: "" }, this, Infinity, 0)
        : new Feed(
            live,
            { resource: "core/v1/events", ns },
            { sort, q: this.workload.ownsPods ? name.name : "" },
            this,
            maxLoadedEvents,
            0,
          );
  }

  private isRelevant(event: EventRow): boolean {
    const { host, workload } = this;
    if (workload === null) return true;
    return isOwnedEvent(event.object, {
      kind: host.kind.kind,
      name: host.name.name,
      intermediateKind: intermediateKindOf(host.kind.ref),
      intermediates: workload.intermediates.map((o) => text(valueAt(o, "metadata", "name"))),
      pods: new Set(workload.pods.map((p) => p.name)),
      ownsPods: workload.ownsPods,
    });
  }

  // Returns the URL of the object that an event regards, or null for the panel's object and unknown resources.
  private hrefOf(event: EventRow): string | null {
    const { ref, name } = eventTarget(event.object);
    const { host } = this;
    const resource = ref === "" || ref === host.kind.ref ? undefined : host.kindOfRef(ref);
    return resource === undefined ? null : panelHref(resource.ref, { ns: host.name.ns, name });
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const { feed, warningsFirst } = this;
    const setWarningsFirst = (on: boolean): void => {
      this.warningsFirst = on;
      preferences.setFlag(warningsFirstKey, on);
      this.schedule();
    };
    mount(
      this.element,
      <Events
        feed={feed}
        now={this.host.now()}
        warningsFirst={warningsFirst}
        setWarningsFirst={setWarningsFirst}
        scope={this.workload === null ? "this object" : scopeText(this.host.kind.ref)}
        isRelevant={(event) => this.isRelevant(event)}
        hrefOf={this.workload === null ? null : (event) => this.hrefOf(event)}
      />,
      this.state,
    );
    if (feed?.rows.isComplete === true) this.state.highlightsChanges = true;
  }
}

interface EventsProps {
  feed: Feed | null;
  now: number;
  warningsFirst: boolean;
  setWarningsFirst: (on: boolean) => void;
  scope: string; // which objects the events belong to, as text, such as "this object or its pods"
  isRelevant: (event: EventRow) => boolean;
  /** Returns the URL of the object that an event regards. The field is null if all events are of the panel's object. */
  hrefOf: ((event: EventRow) => string | null) | null;
}

function Events({ feed, now, warningsFirst, setWarningsFirst, scope, isRelevant, hrefOf }: EventsProps) {
  const rows = feed?.rows;
  const isComplete = rows?.isComplete === true;
  const events =
    rows === undefined
      ? []
      : eventsFrom(
          rows.columns,
          rows.slice(0, rows.length).filter((e) => e !== undefined),
          warningsFirst,
        ).filter(isRelevant);
  const info = feed?.info();
  const s = info === undefined ? null : status(info, now);
  const banner = info === undefined || events.length === 0 ? null : bannerText(info, now);
  const note =
    info === undefined
      ? { title: "Waiting for the object", detail: "Events load once the object has loaded.", next: "", act: null }
      : events.length > 0
        ? null
        : isComplete && s?.level === "live"
          ? noEventsNote(scope, coverageText(info))
          : noteFor(info, "Events", 0, false, now);
  const omitted = events.length - maxEvents;
  return (
    <>
      <div class="bar">
        {/* The panel shows the status of the object. Show that of the events here, but only if they are not live. */}
        <span class="status" role="status" data-state={s?.level}>
          {s?.level === "live" ? "" : s?.text}
        </span>
        <span class="count">{isComplete && countText(events)}</span>
        <span class="spring" />
        <label>
          <input type="checkbox" checked={warningsFirst} onChange={(e) => setWarningsFirst(e.currentTarget.checked)} />
          {" Warnings first"}
        </label>
      </div>
      {banner !== null && <p class="banner">{banner}</p>}
      {note !== null && (
        <div class="note">
          <p class="title">{note.title}</p>
          {note.detail !== "" && <p>{note.detail}</p>}
          {note.next !== "" && <p>{note.next}</p>}
        </div>
      )}
      <ol>
        {events.slice(0, maxEvents).map(({ key, object, ...event }) => (
          <Event
            key={key}
            {...event}
            object={hrefOf === null ? "" : object}
            href={hrefOf?.({ key, object, ...event }) ?? null}
          />
        ))}
      </ol>
      {omitted > 0 && (
        <p class="more">{`${formatInteger(omitted)} more ${omitted === 1 ? "event is" : "events are"} not shown.`}</p>
      )}
    </>
  );
}

function countText(events: readonly EventRow[]): string {
  const warnings = events.filter((e) => e.warning).length;
  return (
    `${formatInteger(events.length)} ${events.length === 1 ? "event" : "events"}` +
    `${warnings === 0 ? "" : ` (${formatInteger(warnings)} ${warnings === 1 ? "warning" : "warnings"})`}`
  );
}

// The text states only that no events were found, because the viewer possibly may not see all events.
const noEventsNote = (scope: string, coverage: string | null): Note => ({
  title: "No events",
  detail:
    `No events of ${scope} were found. ${coverage === null ? "" : `${coverage} `}` +
    "Kubernetes deletes events after some time, by default after one hour.",
  next: "New ones appear here automatically.",
  act: null,
});

const Event = memo((e: Omit<EventRow, "key"> & { href: string | null }) => (
  <li
    ref={useHighlight<HTMLLIElement>([e.reason, e.message, e.count, e.last].join("\n"))}
    data-level={e.warning ? "warn" : undefined}
  >
    <p class="head">
      <span class="type">{e.type}</span>
      <strong>{e.reason}</strong>
      <span class="times" hidden={e.count === null || e.count < 2}>
        {e.count !== null && `${formatInteger(e.count)} times`}
      </span>
      <time title={e.last}>
        <Age wire={e.last === "" ? "" : `${e.last} ago`} />
      </time>
    </p>
    <p class="message">{e.message}</p>
    <p class="foot">
      <span>
        {e.object !== "" && (
          <span class="regarding">
            {e.href === null ? (
              e.object
            ) : (
              <a href={e.href} data-address="">
                {e.object}
              </a>
            )}{" "}
          </span>
        )}
        {[e.source, e.part].filter((t) => t !== "").join(", ")}
      </span>
      <time title={e.first} hidden={e.first === "" || e.first === e.last}>
        <Age wire={e.first === "" ? "" : `first ${e.first} ago`} />
      </time>
    </p>
  </li>
));
