// The tab with the Kubernetes events of an object, newest first, live. They are watched only while the tab is open.

import { passed } from "../age.ts";
import { digits, h, keep, setAttr, setText } from "../dom.ts";
import { happened, selectorOf, type Happened } from "../facts/happened.ts";
import { at, text } from "../facts/read.ts";
import { Feed, type Watcher } from "../feed.ts";
import { Sheet } from "../overview/sheet.ts";
import { banner, note, status, type Note } from "../status.ts";
import { habits } from "../stored.ts";
import type { Host, Shown, Tab } from "../tabs.ts";

const most = 200; // events drawn at most
const kept = "glasshouse-warnings-first";

export class EventsTab implements Tab, Watcher {
  private readonly warningsFirst = h("input", { type: "checkbox" });
  private readonly state = h("span", { class: "status", role: "status" });
  private readonly count = h("span", { class: "count" });
  private readonly above = h("p", { class: "banner", hidden: true });
  private readonly note = h("div", { class: "note" });
  private readonly list = h("ol");
  private readonly more = h("p", { class: "more" });
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
    this.above,
    this.note,
    this.list,
    this.more,
  );
  private readonly sheet: Sheet;
  private feed: Feed | null = null;
  private of = ""; // the field selector of the subscription
  private frame = 0;

  constructor(private readonly host: Host) {
    this.sheet = new Sheet(host);
    this.warningsFirst.checked = habits.get(kept) !== null;
    this.warningsFirst.addEventListener("change", () => {
      habits.turn(kept, this.warningsFirst.checked);
      this.schedule();
    });
    this.draw();
  }

  show({ object }: Shown): void {
    this.feed?.reconnected();
    const uid = text(at(object, "metadata", "uid"));
    const { kind, name } = this.host;
    const of = uid === "" ? "" : selectorOf(kind.kind, name.name, uid);
    if (of !== "" && of !== this.of) {
      this.of = of;
      this.follow();
    }
    this.schedule();
  }

  tick(): void {
    this.sheet.tick(this.list);
    this.schedule(); // The status text may contain an age.
  }

  close(): void {
    this.feed?.close();
    cancelAnimationFrame(this.frame);
  }

  arrived(): void {
    this.sheet.first = true;
    this.schedule();
  }
  moved(): void {
    this.schedule();
  }
  dropped(): void {
    this.schedule();
  }
  told(): void {
    this.schedule();
  }

  private follow(): void {
    this.feed?.close();
    this.sheet.first = true;
    const { live, name } = this.host;
    // Sort by ascending age, so that the newest event is first.
    this.feed = new Feed(
      live,
      { resource: "core/v1/events", ns: name.ns === "" ? [] : [name.ns], fields: this.of },
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
      return this.say({ title: "Events", detail: "They load after the object.", next: "", act: null });
    const { rows } = feed;
    const known = feed.known();
    const all = happened(
      rows.columns,
      rows.slice(0, rows.length).filter((e) => e !== undefined),
      this.warningsFirst.checked,
    );
    const s = status(known, host.now());
    // The panel shows the status of the object already, so show that of the events only if it is not "Live".
    setText(this.state, s.tone === "live" ? "" : s.words);
    this.state.dataset["state"] = s.tone;
    const warnings = all.filter((e) => e.warning).length;
    setText(
      this.count,
      rows.complete
        ? `${digits(all.length)} ` +
          `${all.length === 1 ? "event" : "events"}` +
          `${warnings === 0 ? "" : `, ${digits(warnings)} ${warnings === 1 ? "warning" : "warnings"}`}`
        : "",
    );
    const above = all.length === 0 ? null : banner(known, host.now());
    this.above.hidden = above === null;
    setText(this.above, above ?? "");
    this.say(
      all.length > 0
        ? null
        : rows.complete && s.tone === "live"
          ? nothing
          : note(known, "events", 0, false, host.now()),
    );
    keep(this.list, all.slice(0, most), empty, (e, h) => this.event(e, h));
    this.more.hidden = all.length <= most;
    const older = all.length - most;
    setText(this.more, `${digits(older)} older ${older === 1 ? "event is" : "events are"} not shown.`);
    if (rows.complete) this.sheet.first = false;
  }

  private say(n: Note | null): void {
    this.note.hidden = n === null;
    const words = n === null ? "" : JSON.stringify(n);
    if (n === null || this.note.dataset["note"] === words) return;
    this.note.dataset["note"] = words;
    this.note.replaceChildren(
      h("p", { class: "title" }, n.title),
      ...[n.detail, n.next].filter((t) => t !== "").map((t) => h("p", {}, t)),
    );
  }

  private event(e: Element, h: Happened): void {
    const [head, message, foot] = e.children as unknown as [Element, Element, Element];
    const [type, reason, count, last] = head.children as unknown as [Element, Element, HTMLElement, Element];
    setAttr(e, "data-tone", h.warning ? "warn" : null);
    setText(type, h.type);
    setText(reason, h.reason);
    count.hidden = h.count === null || h.count < 2;
    setText(count, h.count === null ? "" : `${digits(h.count)} times`);
    this.passing(last, h.last, "", " ago");
    setText(message, h.message);
    const [source, first] = foot.children as unknown as [Element, HTMLElement];
    setText(source, [h.source, h.part].filter((t) => t !== "").join(", "));
    first.hidden = h.first === "" || h.first === h.last;
    this.passing(first, h.first, "first ", " ago");
    this.sheet.changed(e, [h.reason, h.message, h.count, h.last].join("\n"));
  }

  private passing(e: Element, time: string, before: string, after: string): void {
    const wire = time === "" ? "" : `${before}${time}${after}`;
    setAttr(e, "data-wire", wire);
    setAttr(e, "title", time);
    setText(e, passed(wire, this.host.now()));
  }
}

const nothing: Note = {
  title: "No events",
  detail: "The cluster has no events of this object. It deletes events after a while, by default after an hour.",
  next: "New ones will appear here automatically.",
  act: null,
};

const empty = (): Element =>
  h(
    "li",
    {},
    h("p", { class: "head" }, h("span", { class: "type" }), h("strong"), h("span", { class: "times" }), h("time")),
    h("p", { class: "message" }),
    h("p", { class: "foot" }, h("span"), h("time")),
  );
