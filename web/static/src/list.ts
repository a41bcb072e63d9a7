// The page of one kind: its view, its subscription, its table and the panel beside it.

import { Activity } from "./activity.ts";
import { inKiosk } from "./base.ts";
import { columnWords, strangeWords } from "./columnset.ts";
import { byId, digits, h, input, setText } from "./dom.ts";
import { doubtExports, drawExports } from "./exports.ts";
import { shared, sharedSpaces } from "./guest.ts";
import { Feed, type Watcher } from "./feed.ts";
import type { Live } from "./live.ts";
import { plural, type Kind } from "./kinds.ts";
import { say as announce, sayAfterTyping, sayAnew } from "./said.ts";
import { missingWords, namespaceWords } from "./spaces.ts";
import type { Picker } from "./picker.ts";
import { shapeOf } from "./row.ts";
import { keyOf } from "./ordered.ts";
import { Rows } from "./rows.ts";
import { Panel } from "./panel.ts";
import { drawProgress } from "./progress.ts";
import { aloneWords, anewWords, banner, counted, coverage, doubt, lastKnown, note, status, type Known } from "./status.ts";
import { drawNote, drawStatus, drawTrouble, sayIn } from "./statusview.ts";
import { Rate } from "./rate.ts";
import { tabsOf, type Host } from "./tabs.ts";
import { Table } from "./table.ts";
import type { Told } from "./told.ts";
import { formatView, namespaces, pageHref, plain, sameObject, titleOf, usualLog, type ObjectName, type Opened, type View } from "./view.ts";
import type { Column } from "./wire.ts";

const patience = 3000; // ms that a first connection may take before it is said that there is none

export class ListPage implements Watcher {
  view: View;
  kind: Kind;
  /** The server has been heard. Until then the page is what its HTML is, and its links and form lead on, as without script. */
  began = false;
  private alone = false; // which is said by now
  private feed: Feed;
  private spaces: Feed | null = null; // the cluster's namespaces, where several are chosen
  private served: boolean; // the server's rows stand until there are newer ones
  private sought = true; // the rows have not come since another kind was looked at
  private shown = 0;
  private panel: Panel | null = null;
  readonly table: Table;
  private rate = new Rate(); // of what is listed now
  readonly activity: Activity;

  constructor(
    private readonly live: Live,
    private readonly picker: Picker,
    private readonly now: () => number,
    private readonly go: (view: View, how: "push" | "replace") => void,
    kind: Kind,
    view: View,
    /** How many rows the page holds at most. */
    private readonly limit: number,
    /** How far from the top, in rows, it is to be once these are there; null for where that leads by itself. */
    private coming: number | null,
  ) {
    this.kind = kind;
    this.view = view;
    // A person has scrolled before there was a script: who goes there stays there.
    if (byId("rows").scrollTop !== 0) {
      this.coming = null;
      this.sought = false;
    }
    this.served = document.querySelector("#tbody tr") !== null;
    this.table = new Table(byId("rows"), byId("table") as HTMLTableElement, now, (shown) => {
      this.shown = shown;
      this.tell();
    }, (waiting) => sayIn(byId("held"), waiting === "" ? null : waiting), () => {
      // Where a person goes is where the rows are to be, once they have come.
      this.coming = null;
      this.sought = false;
    });
    const changes = ({ ref, namespaced }: Kind, open: ObjectName): View => ({ ...(ref === this.view.ref ? this.view : { ...plain(ref), ns: namespaced ? this.view.ns : [] }), open, tab: "changes" });
    this.activity = new Activity(byId("activity"), { live, now, watched: () => picker.watched(), href: (kind, o) => formatView(changes(kind, o)), open: (kind, o) => this.go(changes(kind, o), "push") });
    picker.onWatched = () => this.activity.watched();
    picker.select(view.ref);
    this.fill();
    this.feed = this.subscribe();
    this.drawExports();
    this.tell();
    this.openPanel();
  }

  /** How far from the top the rows are seen, or will be once they have come. */
  get place(): number {
    return this.coming ?? this.table.top;
  }

  /** Shows another view, which the address has already; where the history leads to it, at the place that it had. */
  show(view: View, kind: Kind, place: number | null = null): void {
    const old = this.view;
    // Another tab moves no rows.
    this.coming = formatView({ ...view, tab: old.tab }) === formatView(old) ? this.coming : place;
    this.view = view;
    const other = view.ref !== old.ref;
    if (other) {
      this.sought = true;
      this.kind = kind;
      this.picker.select(view.ref);
    }
    this.fill();
    if (other || view.ns.join() !== old.ns.join() || view.labels !== old.labels) {
      this.table.clear();
      this.served = false;
      this.again();
    } else {
      const sort = JSON.stringify(view.sort) !== JSON.stringify(old.sort);
      if (sort) this.feed.setSort(view.sort);
      if (view.q !== old.q) {
        this.feed.setFilter(view.q);
        sayAfterTyping(() => this.foundWords());
      }
      if (view.cols.join() !== old.cols.join()) this.takeOver();
      else if (sort) this.table.markSort(view.sort);
      this.table.schedule();
    }
    if (other || !sameObject(view.open, old.open)) this.openPanel();
    else this.panel?.show(view.tab);
    this.settle();
    this.drawExports();
    this.tell();
  }

  private settle(): void {
    if (this.coming === null || !this.feed.settled) return;
    this.table.goTo(this.coming);
    this.coming = null;
    this.sought = false;
  }

  private drawExports(): void {
    drawExports(byId("export"), this.view, this.columns);
  }

  private subscribe(): Feed {
    this.followSpaces();
    this.rate = new Rate();
    const { ref, ns, labels, sort, q } = this.view;
    this.activity.follow({ kind: this.kind, ns, labels });
    // Of a part of them it is not known how many there are.
    const expected = ns.length > 0 || labels !== "" ? 0 : this.picker.countOf(ref);
    return new Feed(this.live, { resource: ref, ns, labels }, { sort, q }, this, this.limit, expected);
  }

  // Whether one of several is there no row tells; that one alone is not is the list's own to tell.
  private followSpaces(): void {
    const several = this.view.ns.length > 1 && shared() === null;
    if (several === (this.spaces !== null)) return;
    this.spaces?.close();
    const told = (): void => this.tell();
    this.spaces = several ? new Feed(this.live, { resource: "core/v1/namespaces" }, { sort: null, q: "" }, { arrived: told, moved: told, dropped: told, told }, this.limit, 0) : null;
  }

  /** What is listed was refused, which may be otherwise by now. */
  get refused(): boolean {
    return this.feed.known().problem !== null;
  }

  /** Asks for all of it again. */
  again(): void {
    this.feed.close();
    this.feed = this.subscribe();
    this.tell();
  }

  /** The connection is another, or time has passed. */
  refresh(): void {
    this.feed.reconnected();
    this.spaces?.reconnected();
    this.activity.refresh();
    this.panel?.refresh();
    this.tell();
  }

  private tellTrouble(): void {
    const { rows } = this.feed;
    drawTrouble(byId("trouble"), this.view, (tone) => (rows.complete ? rows.count(tone) : 0));
  }

  /** A second has passed. */
  tick(): void {
    if (!this.began) this.tell();
    this.tellTrouble();
    this.table.tick();
    this.rate.tick(this.feed.events);
    const e = byId("rate");
    const live = this.feed.known().state?.state === "live" && this.live.connection === "open";
    e.hidden = !live;
    if (!live) return;
    e.title = `${this.rate.words} changes of ${this.kind.resource}`;
    setText(e, `${this.rate.line} ${this.rate.words}`);
  }

  arrived(columns: boolean): void {
    if (columns || this.served || !byId("table").classList.contains("virtual") || byId("tbody").childElementCount === 0) this.takeOver();
    this.served = false;
    this.tellTrouble();
    this.settle();
    if (this.sought) requestAnimationFrame(() => this.reveal()); // when the rows are drawn
  }

  // The row of an object that the address has opened is where it can be seen.
  private reveal(): void {
    if (!this.sought) return;
    this.sought = false;
    if (this.view.open !== null) this.table.step(this.view.open, 0, () => undefined);
  }

  private takeOver(): void {
    const { rows } = this.feed;
    if (!rows.complete) return;
    this.drawExports();
    const shape = shapeOf(this.view.ref, rows.columns, this.kind.namespaced && this.view.ns.length !== 1, this.view.cols);
    this.table.show(rows, shape, this.view.sort);
  }

  happened(newest: Told): void {
    this.activity.happened(newest);
  }

  moved(): void {
    this.table.changed();
  }

  dropped(): void {
    this.served = false;
    this.shown = 0;
    this.table.clear();
    this.activity.forget();
  }

  reset(): void {
    sayAnew();
  }

  told(): void {
    this.tell();
  }

  at(): number {
    return Math.floor(this.table.top);
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
    // Of one namespace that is shared there is none to choose.
    const within = sharedSpaces(kind.ref) ?? [];
    const choice = kind.namespaced && within.length !== 1;
    if (ns !== null) ns.hidden = !choice;
    const button = byId("spaces");
    button.hidden = !choice && !(kind.namespaced && inKiosk()); // On a wall it says what is shown.
    setText(button, namespaceWords(inKiosk() && view.ns.length === 0 ? within : view.ns));
    button.toggleAttribute("data-chosen", view.ns.length > 0);
    setText(byId("columns"), columnWords(view.cols));
    setText(byId("heading"), plural(kind));
    document.title = titleOf(plural(kind), view.open);
  }

  private openPanel(): void {
    const root = byId("panel");
    const had = root.contains(document.activeElement);
    this.panel?.close();
    this.panel = null;
    root.replaceChildren();
    const { open, tab } = this.view;
    byId("side").hidden = open === null;
    this.table.setOpened(open === null ? null : keyOf(open.ns, open.name));
    if (open !== null && this.alone) root.append(this.elsewhere(open));
    else if (open !== null) this.panel = new Panel(root, this.host(open), tab, { tab: (id) => this.go({ ...this.view, tab: id }, "push"), close: () => this.close() });
    if (had) this.panel?.focus();
  }

  // Where an object is to be had that cannot be shown beside the rows.
  private elsewhere(open: ObjectName): HTMLElement {
    const close = h("a", { href: formatView({ ...this.view, open: null, tab: "" }) }, "Close");
    return h("div", { class: "note" }, h("h2", {}, open.name), h("p", {}, "It is shown beside the rows only while the page is live."), h("p", {}, h("a", { href: pageHref(this.view) }, "Its own page"), " shows it as it is when that is opened."), h("p", {}, close));
  }

  private host(name: ObjectName): Host {
    const { live, now, kind, picker } = this;
    return {
      live, now, kind, name, kindOf: (apiVersion, kind) => picker.kindOf(apiVersion, kind), kindOfRef: (ref) => picker.get(ref),
      log: () => this.view.open?.log ?? usualLog, nameLog: (log) => this.change({ open: { ...name, log } }),
    };
  }

  // The object as it is open, where it is.
  private opened({ ns, name }: ObjectName): Opened {
    const { open } = this.view;
    return open !== null && sameObject(open, { ns, name }) ? open : { ns, name };
  }

  /** Opens the object of a row. */
  open(ns: string, name: string): void {
    this.go({ ...this.view, open: this.opened({ ns, name }) }, "push");
  }

  /** Closes the panel; false if none is open. */
  close(): boolean {
    if (this.view.open === null) return false;
    this.go({ ...this.view, open: null, tab: "" }, "push");
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
    this.go(this.formView(), how);
  }

  /** The address says all that is seen: nothing is held beside it, and the rows are live. */
  get spare(): boolean {
    const live = this.began && status(this.feed.known(), this.now()).tone === "live";
    return live && this.view.open === null && !this.table.chosen && !this.activity.open && formatView(this.formView()) === formatView(this.view);
  }

  private formView(): View {
    const value = (id: string): string => input(id)?.value.trim() ?? "";
    return { ...this.view, q: value("q"), ns: this.kind.namespaced ? namespaces(value("ns")) : [], labels: value("labels") };
  }

  /** The columns that the server's table has; none while they are not known. */
  get columns(): readonly Column[] {
    return this.feed.rows.columns;
  }

  /** The rows, shown or not; null where the page does not hold all of them. */
  get held(): Rows | null {
    return this.feed.rows instanceof Rows ? this.feed.rows : null;
  }

  /** How many rows there are where the server holds them; null where the page does. */
  get kept(): number | null {
    return this.feed.rows instanceof Rows || !this.feed.rows.complete ? null : this.feed.rows.total;
  }

  /** The namespaces of the rows held. */
  seen(): Set<string> {
    const seen = new Set<string>();
    for (const e of this.feed.rows.all()) seen.add(e.ns);
    seen.delete("");
    return seen;
  }

  setFilter(q: string): void {
    const box = input("q");
    if (box !== null) box.value = q;
    this.applyForm("replace");
  }

  /** Shows something else of the same kind. */
  change(part: Partial<View>, how: "push" | "replace" = "push"): void {
    this.go({ ...this.view, ...part }, how);
  }

  /** Opens a tab of the object that is open, or of the one that the keyboard is at. */
  openTab(key: string): void {
    const kind = tabsOf(this.kind).find((t) => t.key === key);
    const at = this.view.open ?? this.table.activeEntry;
    if (kind === undefined || at === undefined) return announce("Choose an object first, with j and k.");
    this.change({ open: this.opened(at), tab: kind === tabsOf(this.kind)[0] ? "" : kind.id });
  }

  /** Opens the object before or after the one that is open. */
  step(by: 1 | -1): void {
    const { open } = this.view;
    if (open === null) return;
    this.table.step(open, by, (next) => {
      if (next === null) announce(by > 0 ? "This is the last one." : "This is the first one.");
      else if (this.view.open === open) this.change({ open: { ns: next.ns, name: next.name } }, "replace");
    });
  }

  // Until the server is heard.
  private wait(): void {
    const { connection, since, said } = this.live;
    const alone = this.alone || connection === "lost" || Date.now() - since > patience;
    drawStatus(byId("status"), { tone: alone ? "warn" : "busy", words: alone ? "Not live" : "Connecting", count: null, total: null });
    sayIn(byId("banner"), alone ? aloneWords(said, this.picker.reached, byId("asof").dataset["at"] ?? "", this.now()) : null);
    this.setAlone(alone);
  }

  private setAlone(is: boolean): void {
    if (is === this.alone) return;
    this.alone = is;
    document.documentElement.toggleAttribute("data-alone", is);
    this.openPanel();
  }

  // The server is heard: the page is live from here on.
  private begin(): void {
    this.began = true;
    this.setAlone(false);
    // What was typed meanwhile.
    if (formatView(this.formView()) !== formatView(this.view)) this.applyForm("replace");
  }

  // Says what is known, everywhere that it is said.
  private tell(): void {
    if (!this.began && !this.live.answered) return this.wait();
    if (!this.began) this.begin();
    const known = this.feed.known();
    const narrowed = this.view.ns.length > 0 || this.view.labels !== "";
    const s = status(known, this.now());
    drawStatus(byId("status"), s);
    doubtExports(byId("export"), doubt(known, this.now()));
    drawProgress(byId("progress"), s, this.kind.resource);
    this.activity.live(s.tone === "live");
    sayIn(byId("anew"), anewWords(this.live.anew));
    byId("anew").title = this.live.anewWhy;
    const { complete, total } = this.feed.rows;
    if (complete && counted(known)) setText(byId("count"), this.view.q === "" || total === 0 ? digits(total) : `${digits(this.shown)} of ${digits(total)}`);
    else if (complete || !this.served) setText(byId("count"), "");
    if (complete || !this.served) byId("asof").hidden = true;
    this.picker.setCount(complete && !narrowed && s.tone === "live" ? total : null);
    const empty = complete ? this.shown === 0 && this.feed.rows.matching === 0 : !this.served;
    const place = byId("note");
    place.hidden = !empty;
    byId("rows").hidden = empty;
    if (empty) drawNote(place, note(known, this.kind.resource, total, narrowed, this.now(), this.view.ns.length > 0, this.kind.namespaced), this.view.ref, this.kind.resource, () => this.again());
    // While the server's rows stand, so do its words.
    if (complete || !this.served) sayIn(byId("covered"), empty ? null : this.asideWords(known));
    // A note of no rows tells of the doubt itself; one of rows that do not match stands under the banner.
    const doubted = complete && this.feed.rows.total > 0 && doubt(known, this.now()) !== null;
    const above = empty && !doubted ? null : banner(known, this.now());
    sayIn(byId("banner"), above);
    byId("rows").toggleAttribute("data-stale", complete && s.tone !== "live" && s.tone !== "busy");
  }

  // What is to be said of rows that are well known: where they are not all that was asked for.
  private asideWords(known: Known): string | null {
    const { ns, sort, cols } = this.view;
    const missing = this.spaces === null ? null : missingWords(ns, this.spaces.rows, lastKnown(this.spaces.known(), this.now()));
    const words = [strangeWords(this.columns, this.kind.namespaced, sort, cols), missing, coverage(known)].filter((w) => w !== null);
    return words.length === 0 ? null : words.join(" ");
  }

  // For who does not see the count: of how many rows how many the text filter leaves.
  private foundWords(): string {
    const { complete, matching, total } = this.feed.rows;
    return complete && this.view.q !== "" ? `${digits(matching)} of ${digits(total)} ${this.kind.resource}` : "";
  }
}
