// The tab with the Kubernetes events of an object. The server watches them only while the tab is open.

import "../../shared-code.ts";
import { h } from "../../ui/dom.ts";
import { Age, memo, mount, unmount, useHighlight, ViewState } from "../../ui/view.tsx";
import { formatInteger } from "../../text/format.ts";
import { eventsFrom, eventSelector, type EventRow } from "../facts/event-rows.ts";
import { valueAt, text } from "../facts/read.ts";
import { Feed, type FeedListener } from "../../model/feed.ts";
import { bannerText, noteFor, status, type Note } from "../../model/status.ts";
import { preferences } from "../../ui/preferences.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";

const maxEvents = 200;
const warningsFirstKey = "glasshouse-warnings-first";

export class EventsTab implements Tab, FeedListener {
  readonly element = h("div", { class: "events", tabindex: "0" });
  private readonly state: ViewState;
  private warningsFirst = preferences.get(warningsFirstKey) !== null;
  private feed: Feed | null = null;
  private fieldSelector = "";
  private frame = 0;

  constructor(private readonly host: TabHost) {
    this.state = new ViewState(host.now);
    this.draw();
  }

  show({ object }: TabData): void {
    this.feed?.reconnected();
    const uid = text(valueAt(object, "metadata", "uid"));
    const { kind, name } = this.host;
    const fieldSelector = uid === "" ? "" : eventSelector(kind.kind, name.name, uid);
    if (fieldSelector !== "" && fieldSelector !== this.fieldSelector) {
      this.fieldSelector = fieldSelector;
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
    // Ascending age puts the newest event first.
    this.feed = new Feed(
      live,
      { resource: "core/v1/events", ns: name.ns === "" ? [] : [name.ns], fields: this.fieldSelector },
      { sort: { column: "last seen", descending: false }, q: "" },
      this,
      Infinity,
      0,
    );
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
      <Events feed={feed} now={this.host.now()} warningsFirst={warningsFirst} setWarningsFirst={setWarningsFirst} />,
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
}

function Events({ feed, now, warningsFirst, setWarningsFirst }: EventsProps) {
  const rows = feed?.rows;
  const isComplete = rows?.isComplete === true;
  const events =
    rows === undefined
      ? []
      : eventsFrom(
          rows.columns,
          rows.slice(0, rows.length).filter((e) => e !== undefined),
          warningsFirst,
        );
  const info = feed?.info();
  const s = info === undefined ? null : status(info, now);
  const banner = info === undefined || events.length === 0 ? null : bannerText(info, now);
  const note =
    info === undefined
      ? { title: "Events", detail: "They load after the object.", next: "", act: null }
      : events.length > 0
        ? null
        : isComplete && s?.tone === "live"
          ? noEventsNote
          : noteFor(info, "events", 0, false, now);
  const older = events.length - maxEvents;
  return (
    <>
      <div class="bar">
        {/* The panel already shows "Live" for the object. Show the status of the events only if it is different. */}
        <span class="status" role="status" data-state={s?.tone}>
          {s?.tone === "live" ? "" : s?.text}
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
        {events.slice(0, maxEvents).map(({ key, ...event }) => (
          <Event key={key} {...event} />
        ))}
      </ol>
      {older > 0 && (
        <p class="more">{`${formatInteger(older)} older ${older === 1 ? "event is" : "events are"} not shown.`}</p>
      )}
    </>
  );
}

function countText(events: readonly EventRow[]): string {
  const warnings = events.filter((e) => e.warning).length;
  return (
    `${formatInteger(events.length)} ${events.length === 1 ? "event" : "events"}` +
    `${warnings === 0 ? "" : `, ${formatInteger(warnings)} ${warnings === 1 ? "warning" : "warnings"}`}`
  );
}

const noEventsNote: Note = {
  title: "No events",
  detail: "The cluster has no events of this object. It deletes events after a while, by default after an hour.",
  next: "New ones will appear here automatically.",
  act: null,
};

const Event = memo((e: Omit<EventRow, "key">) => (
  <li
    ref={useHighlight<HTMLLIElement>([e.reason, e.message, e.count, e.last].join("\n"))}
    data-tone={e.warning ? "warn" : undefined}
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
      <span>{[e.source, e.part].filter((t) => t !== "").join(", ")}</span>
      <time title={e.first} hidden={e.first === "" || e.first === e.last}>
        <Age wire={e.first === "" ? "" : `first ${e.first} ago`} />
      </time>
    </p>
  </li>
));
