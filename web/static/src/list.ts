// The page of one kind: its view, its subscription, its table and its drawer.

import { byId, digits, h, input, setText } from "./dom.ts";
import { ObjectView } from "./drawer.ts";
import type { Handler, Live, Subscription } from "./live.ts";
import type { Kind } from "./kinds.ts";
import type { Picker } from "./picker.ts";
import { shapeOf } from "./row.ts";
import { keyOf, Rows } from "./rows.ts";
import { banner, note, status, type Known } from "./status.ts";
import { Table } from "./table.ts";
import { formatView, namespaces, plain, type View } from "./view.ts";
import type { Problem, State } from "./wire.ts";

export class ListPage implements Handler {
  view: View;
  private kind: Kind;
  private rows = new Rows();
  private subscription: Subscription | null = null;
  private state: State | null = null;
  private behind = false; // the rows held are about to be replaced by a snapshot
  private problem: Problem | null = null;
  private served: boolean; // the server's rows stand until there are newer ones
  private shown = 0;
  private drawer: ObjectView | null = null;
  readonly table: Table;
  private readonly spaces = new Set<string>();

  constructor(
    private readonly live: Live,
    private readonly picker: Picker,
    private readonly now: () => number,
    private readonly go: (view: View, how: "push" | "replace") => void,
    kind: Kind,
    view: View,
  ) {
    this.kind = kind;
    this.view = view;
    this.served = document.querySelector("#tbody tr") !== null;
    this.table = new Table(byId("rows"), byId("table") as HTMLTableElement, now, (shown) => {
      this.shown = shown;
      this.tell();
    });
    picker.select(view.ref);
    this.fill();
    this.subscribe();
    this.openDrawer();
  }

  /** Shows another view, which the address has already. */
  show(view: View, kind: Kind): void {
    const old = this.view;
    this.view = view;
    const other = view.ref !== old.ref;
    if (other) {
      this.kind = kind;
      this.picker.select(view.ref);
      this.spaces.clear();
      byId("namespaces").replaceChildren();
    }
    this.fill();
    if (other || view.ns.join() !== old.ns.join() || view.labels !== old.labels) {
      this.table.clear();
      this.served = false;
      this.subscribe();
    } else {
      const sort = JSON.stringify(view.sort) !== JSON.stringify(old.sort);
      if (sort) this.rows.setSort(view.sort);
      if (view.q !== old.q) this.rows.setFilter(view.q);
      if (view.wide !== old.wide) this.takeOver();
      else if (sort) this.table.markSort(view.sort);
      this.table.schedule();
    }
    if (other || JSON.stringify(view.open) !== JSON.stringify(old.open)) this.openDrawer();
    this.tell();
  }

  private subscribe(): void {
    this.subscription?.close();
    this.rows = new Rows();
    this.rows.setSort(this.view.sort);
    this.rows.setFilter(this.view.q);
    this.state = this.problem = null;
    this.behind = false;
    const { ref, ns, labels } = this.view;
    this.subscription = this.live.subscribe({ resource: ref, ns, labels, view: "rows" }, this);
    this.tell();
  }

  restart(): void {
    this.rows.restart();
    this.behind = true;
    this.tell();
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    switch (m.type) {
      case "rows":
      case "row-events": {
        const columns = this.rows.columns;
        if (!this.rows.apply(m)) return this.subscription?.resync("an event does not fit the rows held");
        this.problem = null;
        if (m.type === "rows" && m.last) {
          this.behind = false;
          this.arrived(columns !== this.rows.columns);
        }
        this.table.schedule();
        if (m.type === "row-events") return;
        break;
      }
      case "state":
        this.state = m;
        // A right that was lost takes with it what was seen; so does a kind that went.
        if (m.state === "forbidden" || m.state === "absent") this.drop();
        break;
      case "error":
        this.problem = m.problem;
        this.drop();
    }
    this.tell();
  }

  /** The connection is another, or time has passed. */
  refresh(): void {
    if (this.live.connection !== "open") this.state = null;
    this.drawer?.refresh();
    this.tell();
  }

  private arrived(columns: boolean): void {
    if (columns || this.served || !byId("table").classList.contains("virtual") || byId("tbody").childElementCount === 0) this.takeOver();
    this.served = false;
    for (const e of this.rows.all()) if (this.spaces.size < 1000) this.spaces.add(e.ns);
    byId("namespaces").replaceChildren(...[...this.spaces].sort().map((ns) => h("option", { value: ns })));
  }

  private takeOver(): void {
    if (!this.rows.complete) return;
    const shape = shapeOf(this.view.ref, this.rows.columns, this.kind.namespaced && this.view.ns.length !== 1, this.view.wide);
    this.table.show(this.rows, shape, this.view.sort);
  }

  private drop(): void {
    this.rows = new Rows();
    this.served = false;
    this.shown = 0;
    this.table.clear();
  }

  // Puts the view into the form and the heading.
  private fill(): void {
    const { view, kind } = this;
    const put = (id: string, value: string): void => {
      const box = input(id);
      // What is being typed may end in a space that the view does not have.
      if (box !== null && box.value.trim() !== value) box.value = value;
    };
    put("q", view.q);
    put("ns", view.ns.join(","));
    put("labels", view.labels);
    const ns = input("ns");
    if (ns !== null) ns.hidden = !kind.namespaced;
    const wide = input("wide");
    if (wide !== null) wide.checked = view.wide;
    setText(byId("heading"), kind.resource);
    document.title = `${kind.resource} - Glasshouse`;
  }

  private openDrawer(): void {
    const aside = byId("drawer");
    this.drawer?.close();
    this.drawer = null;
    const open = this.view.open;
    aside.hidden = open === null;
    this.table.setOpened(open === null ? null : keyOf(open.ns, open.name));
    if (open !== null) this.drawer = new ObjectView(aside, this.live, this.now, this.view.ref, open, () => this.close());
  }

  /** Opens the object of a row. */
  open(ns: string, name: string): void {
    this.go({ ...this.view, open: { ns, name } }, "push");
  }

  /** Closes the drawer; false if none is open. */
  close(): boolean {
    if (this.view.open === null) return false;
    this.go({ ...this.view, open: null }, "push");
    byId("table").focus({ preventScroll: true });
    return true;
  }

  sortBy(column: string): void {
    const sort = this.view.sort;
    const next = sort?.column !== column ? { column, descending: false } : sort.descending ? null : { column, descending: true };
    this.go({ ...this.view, sort: next }, "push");
  }

  /** Takes the form's boxes into the view; text is filtered by as it is typed. */
  applyForm(how: "push" | "replace"): void {
    const value = (id: string): string => input(id)?.value.trim() ?? "";
    this.go({ ...this.view, q: value("q"), ns: this.kind.namespaced ? namespaces(value("ns")) : [], labels: value("labels"), wide: input("wide")?.checked ?? false }, how);
  }

  private known(): Known {
    return { connection: this.live.connection, since: this.live.since, state: this.state, complete: this.rows.complete && !this.behind, arriving: this.rows.arriving, problem: this.problem };
  }

  // Says what is known, everywhere that it is said.
  private tell(): void {
    const known = this.known();
    const narrowed = this.view.ns.length > 0 || this.view.labels !== "";
    const s = status(known, this.now());
    sayStatus(s.tone, s.words, s.count);
    const { complete, total } = this.rows;
    if (complete) setText(byId("count"), this.view.q === "" ? digits(total) : `${digits(this.shown)} of ${digits(total)}`);
    else if (!this.served) setText(byId("count"), "");
    if (complete || !this.served) byId("asof").hidden = true;
    this.picker.setCount(complete && !narrowed && s.tone === "live" ? total : null);
    const empty = complete ? this.shown === 0 && this.rows.visible().length === 0 : !this.served;
    const place = byId("note");
    place.hidden = !empty;
    byId("rows").hidden = empty;
    if (empty) this.drawNote(place, known, narrowed);
    const above = empty ? null : banner(known, this.now());
    const b = byId("banner");
    b.hidden = above === null;
    setText(b, above ?? "");
    byId("rows").toggleAttribute("data-stale", complete && s.tone !== "live" && s.tone !== "busy");
  }

  private drawNote(place: HTMLElement, known: Known, narrowed: boolean): void {
    const n = note(known, this.kind.resource, this.rows.total, narrowed);
    if (n === null) return place.replaceChildren();
    const text = JSON.stringify(n);
    if (place.dataset["note"] === text) return;
    place.dataset["note"] = text;
    const parts: Node[] = [h("h2", {}, n.title)];
    if (n.detail !== "") parts.push(h("p", {}, n.detail));
    if (n.next !== "") parts.push(h("p", {}, n.next));
    if (n.act === "show-all") parts.push(h("p", {}, h("a", { href: formatView(plain(this.view.ref)), "data-ref": this.view.ref }, `Show all ${this.kind.resource}`)));
    if (n.act === "retry") {
      const b = h("button", { type: "button" }, "Try again");
      b.addEventListener("click", () => this.subscribe());
      parts.push(h("p", {}, b));
    }
    place.replaceChildren(...parts);
  }
}

function sayStatus(tone: string, words: string, count: number | null): void {
  const e = byId("status");
  e.dataset["state"] = tone;
  let label = e.querySelector(".words");
  let number = e.querySelector(".number");
  if (label === null || number === null) {
    label = h("span", { class: "words" });
    // Read once with the words; a number that runs is not to be read out.
    number = h("span", { class: "number", "aria-hidden": "true" });
    e.replaceChildren(label, number);
  }
  setText(label, words);
  setText(number, count === null ? "" : digits(count));
}
