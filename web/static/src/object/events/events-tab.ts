// The tab with the Kubernetes events of an object, newest first. The server watches the events only while the tab is
// open.

import { formatAgesInSentence } from "../../text/age.ts";
import { h, syncChildren, setAttr, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { eventsFrom, eventSelector, type EventRow } from "../facts/event-rows.ts";
import { valueAt, text } from "../facts/read.ts";
import { Feed, type FeedListener } from "../../model/feed.ts";
import { FactView } from "../overview/fact-view.ts";
import { bannerText, noteFor, status, type Note } from "../../model/status.ts";
import { preferences } from "../../ui/preferences.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";

const maxEvents = 200; // maximum number of events that are drawn
const warningsFirstKey = "glasshouse-warnings-first";

export class EventsTab implements Tab, FeedListener {
  private readonly warningsFirst = h("input", { type: "checkbox" });
  private readonly state = h("span", { class: "status", role: "status" });
  private readonly count = h("span", { class: "count" });
  private readonly bannerElement = h("p", { class: "banner", hidden: true });
  private readonly note = h("div", { class: "note" });
  private readonly list = h("ol");
  private readonly omittedNote = h("p", { class: "more" });
  readonly element = h(
    "div",
    { class: "events", tabindex: "0" },
    h(
      "div",
      { class: "bar" },
      this.state,
      this.count,
      h("span", { class: "spring" }),
      h("label", {}, this.warningsFirst, " Warnings first"),
    ),
    this.bannerElement,
    this.note,
    this.list,
    this.omittedNote,
  );
  private readonly factView: FactView;
  private feed: Feed | null = null;
  private fieldSelector = "";
  private frame = 0;

  constructor(private readonly host: TabHost) {
    this.factView = new FactView(host);
    this.warningsFirst.checked = preferences.get(warningsFirstKey) !== null;
    this.warningsFirst.addEventListener("change", () => {
      preferences.setFlag(warningsFirstKey, this.warningsFirst.checked);
      this.schedule();
    });
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
    this.factView.tick(this.list);
    this.schedule(); // redraw, because the status text can contain an age
  }

  close(): void {
    this.feed?.close();
    cancelAnimationFrame(this.frame);
  }

  snapshotArrived(): void {
    this.factView.isFirstRender = true;
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
    this.factView.isFirstRender = true;
    const { live, name } = this.host;
    // Sort by ascending age, which puts the newest event first.
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
    const { feed, host } = this;
    if (feed === null)
      return this.showNote({ title: "Events", detail: "They load after the object.", next: "", act: null });
    const { rows } = feed;
    const known = feed.info();
    const all = eventsFrom(
      rows.columns,
      rows.slice(0, rows.length).filter((e) => e !== undefined),
      this.warningsFirst.checked,
    );
    const s = status(known, host.now());
    // The panel already shows "Live" for the object. Show the status of the events only if it is different.
    setText(this.state, s.tone === "live" ? "" : s.text);
    this.state.dataset["state"] = s.tone;
    const warnings = all.filter((e) => e.warning).length;
    setText(
      this.count,
      rows.isComplete
        ? `${formatInteger(all.length)} ` +
          `${all.length === 1 ? "event" : "events"}` +
          `${warnings === 0 ? "" : `, ${formatInteger(warnings)} ${warnings === 1 ? "warning" : "warnings"}`}`
        : "",
    );
    const banner = all.length === 0 ? null : bannerText(known, host.now());
    this.bannerElement.hidden = banner === null;
    setText(this.bannerElement, banner ?? "");
    this.showNote(
      all.length > 0
        ? null
        : rows.isComplete && s.tone === "live"
          ? noEventsNote
          : noteFor(known, "events", 0, false, host.now()),
    );
    syncChildren(this.list, all.slice(0, maxEvents), createEventElement, (e, h) => this.event(e, h));
    this.omittedNote.hidden = all.length <= maxEvents;
    const older = all.length - maxEvents;
    setText(this.omittedNote, `${formatInteger(older)} older ${older === 1 ? "event is" : "events are"} not shown.`);
    if (rows.isComplete) this.factView.isFirstRender = false;
  }

  private showNote(n: Note | null): void {
    this.note.hidden = n === null;
    const words = n === null ? "" : JSON.stringify(n);
    if (n === null || this.note.dataset["note"] === words) return;
    this.note.dataset["note"] = words;
    this.note.replaceChildren(
      h("p", { class: "title" }, n.title),
      ...[n.detail, n.next].filter((t) => t !== "").map((t) => h("p", {}, t)),
    );
  }

  private event(e: Element, h: EventRow): void {
    const [head, message, foot] = e.children as unknown as [Element, Element, Element];
    const [type, reason, count, last] = head.children as unknown as [Element, Element, HTMLElement, Element];
    setAttr(e, "data-tone", h.warning ? "warn" : null);
    setText(type, h.type);
    setText(reason, h.reason);
    count.hidden = h.count === null || h.count < 2;
    setText(count, h.count === null ? "" : `${formatInteger(h.count)} times`);
    this.setRelativeTime(last, h.last, "", " ago");
    setText(message, h.message);
    const [source, first] = foot.children as unknown as [Element, HTMLElement];
    setText(source, [h.source, h.part].filter((t) => t !== "").join(", "));
    first.hidden = h.first === "" || h.first === h.last;
    this.setRelativeTime(first, h.first, "first ", " ago");
    this.factView.highlightIfChanged(e, [h.reason, h.message, h.count, h.last].join("\n"));
  }

  private setRelativeTime(e: Element, time: string, before: string, after: string): void {
    const wire = time === "" ? "" : `${before}${time}${after}`;
    setAttr(e, "data-wire", wire);
    setAttr(e, "title", time);
    setText(e, formatAgesInSentence(wire, this.host.now()));
  }
}

const noEventsNote: Note = {
  title: "No events",
  detail: "The cluster has no events of this object. It deletes events after a while, by default after an hour.",
  next: "New ones will appear here automatically.",
  act: null,
};

const createEventElement = (): Element =>
  h(
    "li",
    {},
    h("p", { class: "head" }, h("span", { class: "type" }), h("strong"), h("span", { class: "times" }), h("time")),
    h("p", { class: "message" }),
    h("p", { class: "foot" }, h("span"), h("time")),
  );
