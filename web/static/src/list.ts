// The list page of one resource: its view, its subscription, its table and the panel next to it.

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
import {
  aloneWords,
  anewWords,
  banner,
  counted,
  coverage,
  doubt,
  lastKnown,
  note,
  status,
  type Known,
} from "./status.ts";
import { drawNote, drawStatus, drawTrouble, sayIn } from "./statusview.ts";
import { Rate } from "./rate.ts";
import { tabsOf, type Host } from "./tabs.ts";
import { Table } from "./table.ts";
import type { Told } from "./told.ts";
import {
  formatView,
  namespaces,
  pageHref,
  plain,
  sameObject,
  titleOf,
  usualLog,
  type ObjectName,
  type Opened,
  type View,
} from "./view.ts";
import type { Column } from "./wire.ts";

const patience = 3000; // ms; if the first connection takes longer, the page reports that it is not live

export class ListPage implements Watcher {
  view: View;
  kind: Kind;
  /** Whether the server has sent data. Until then, the server's HTML stays, and its links and form load new pages. */
  began = false;
  private alone = false; // whether the page shows that it is not live
  private feed: Feed;
  private spaces: Feed | null = null; // the list of the cluster's namespaces; null unless the user chose several
  private served: boolean; // whether the server-rendered rows are still shown, because no newer ones have arrived
  private sought = true; // whether to scroll to the open object's row once rows of the new resource arrive
  private shown = 0;
  private panel: Panel | null = null;
  readonly table: Table;
  private rate = new Rate(); // the rate of changes of the present list
  readonly activity: Activity;

  constructor(
    private readonly live: Live,
    private readonly picker: Picker,
    private readonly now: () => number,
    private readonly go: (view: View, how: "push" | "replace") => void,
    kind: Kind,
    view: View,
    /** The maximum number of rows that the page keeps. */
    private readonly limit: number,
    /** The scroll position, in rows, to restore once the rows are there; null if there is none to restore. */
    private coming: number | null,
  ) {
    this.kind = kind;
    this.view = view;
    // If the user scrolled before the script started, keep that position, and restore none.
    if (byId("rows").scrollTop !== 0) {
      this.coming = null;
      this.sought = false;
    }
    this.served = document.querySelector("#tbody tr") !== null;
    this.table = new Table(
      byId("rows"),
      byId("table") as HTMLTableElement,
      now,
      (shown) => {
        this.shown = shown;
        this.tell();
      },
      (waiting) => sayIn(byId("held"), waiting === "" ? null : waiting),
      () => {
        // After the user has scrolled, the earlier position must not be restored.
        this.coming = null;
        this.sought = false;
      },
    );
    const changes = ({ ref, namespaced }: Kind, open: ObjectName): View => ({
      ...(ref === this.view.ref ? this.view : { ...plain(ref), ns: namespaced ? this.view.ns : [] }),
      open,
      tab: "changes",
    });
    this.activity = new Activity(byId("activity"), {
      live,
      now,
      watched: () => picker.watched(),
      href: (kind, o) => formatView(changes(kind, o)),
      open: (kind, o) => this.go(changes(kind, o), "push"),
    });
    picker.onWatched = () => this.activity.watched();
    picker.select(view.ref);
    this.fill();
    this.feed = this.subscribe();
    this.drawExports();
    this.tell();
    this.openPanel();
  }

  /** The scroll position, in rows. Before the rows arrive, it is the position that will be restored. */
  get place(): number {
    return this.coming ?? this.table.top;
  }

  /**
   * Shows another view. The caller has already set the URL. For browser history navigation, place is the scroll
   * position stored with the history entry.
   */
  show(view: View, kind: Kind, place: number | null = null): void {
    const old = this.view;
    // If only the tab of the panel differs, the rows stay, and so does a scroll position that is still to be restored.
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
    // The picker counts all objects of the resource. How many match namespaces or labels is not known.
    const expected = ns.length > 0 || labels !== "" ? 0 : this.picker.countOf(ref);
    return new Feed(this.live, { resource: ref, ns, labels }, { sort, q }, this, this.limit, expected);
  }

  // Subscribes to the cluster's namespaces while the user has chosen several, to report chosen ones that do not exist.
  // For a single namespace, the list itself reports that.
  private followSpaces(): void {
    const several = this.view.ns.length > 1 && shared() === null;
    if (several === (this.spaces !== null)) return;
    this.spaces?.close();
    const told = (): void => this.tell();
    this.spaces = several
      ? new Feed(
          this.live,
          { resource: "core/v1/namespaces" },
          { sort: null, q: "" },
          { arrived: told, moved: told, dropped: told, told },
          this.limit,
          0,
        )
      : null;
  }

  /** Whether the server refused the request for the rows. A repeated request may succeed. */
  get refused(): boolean {
    return this.feed.known().problem !== null;
  }

  /** Subscribes again. */
  again(): void {
    this.feed.close();
    this.feed = this.subscribe();
    this.tell();
  }

  /** Updates the page after the state of the connection has changed, or after some time. */
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

  /** Updates ages and status texts. Called every second. */
  tick(): void {
    if (!this.began) this.tell();
    this.tellTrouble();
    this.table.tick();
    this.rate.tick(this.feed.events);
    const e = byId("rate");
    const live = this.feed.known().state?.state === "live" && this.live.connection === "open";
    e.hidden = !live;
    if (!live) return;
    e.title = `Changes of ${plural(this.kind)}: ${this.rate.words}`;
    setText(e, `${this.rate.line} ${this.rate.words}`);
  }

  arrived(columns: boolean): void {
    if (columns || this.served || !byId("table").classList.contains("virtual") || byId("tbody").childElementCount === 0)
      this.takeOver();
    this.served = false;
    this.tellTrouble();
    this.settle();
    if (this.sought) requestAnimationFrame(() => this.reveal()); // after the rows are drawn
  }

  // Scrolls to the row of the object that the URL opens.
  private reveal(): void {
    if (!this.sought) return;
    this.sought = false;
    if (this.view.open !== null) this.table.step(this.view.open, 0, () => undefined);
  }

  private takeOver(): void {
    const { rows } = this.feed;
    if (!rows.complete) return;
    this.drawExports();
    const shape = shapeOf(
      this.view.ref,
      rows.columns,
      this.kind.namespaced && this.view.ns.length !== 1,
      this.view.cols,
    );
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

  // Writes the view into the form and the heading.
  private fill(): void {
    const { view, kind } = this;
    const put = (id: string, value: string): void => {
      const box = input(id);
      // The text may end in a space, which the view removes; do not overwrite it while the user types.
      if (box !== null && box.value.trim() !== value) box.value = value;
    };
    put("q", view.q);
    put("ns", view.ns.join(","));
    put("labels", view.labels);
    const ns = input("ns");
    // If the share link includes only one namespace, there is nothing to choose.
    const within = sharedSpaces(kind.ref) ?? [];
    const choice = kind.namespaced && within.length !== 1;
    if (ns !== null) ns.hidden = !choice;
    const button = byId("spaces");
    // In kiosk mode, the button shows the chosen namespaces.
    button.hidden = !choice && !(kind.namespaced && inKiosk());
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
    else if (open !== null)
      this.panel = new Panel(root, this.host(open), tab, {
        tab: (id) => this.go({ ...this.view, tab: id }, "push"),
        close: () => this.close(),
      });
    if (had) this.panel?.focus();
  }

  // Returns a note with a link to the object's own page. It replaces the panel if the panel cannot show the object.
  private elsewhere(open: ObjectName): HTMLElement {
    const close = h("a", { href: formatView({ ...this.view, open: null, tab: "" }) }, "Close");
    return h(
      "div",
      { class: "note" },
      h("h2", {}, open.name),
      h("p", {}, "The panel is available only while the page is live."),
      h("p", {}, h("a", { href: pageHref(this.view) }, "Open its page"), " for a snapshot."),
      h("p", {}, close),
    );
  }

  private host(name: ObjectName): Host {
    const { live, now, kind, picker } = this;
    return {
      live,
      now,
      kind,
      name,
      kindOf: (apiVersion, kind) => picker.kindOf(apiVersion, kind),
      kindOfRef: (ref) => picker.get(ref),
      log: () => this.view.open?.log ?? usualLog,
      nameLog: (log) => this.change({ open: { ...name, log } }),
    };
  }

  // Returns the object for the view. If it is open already, the choice of its log stays.
  private opened({ ns, name }: ObjectName): Opened {
    const { open } = this.view;
    return open !== null && sameObject(open, { ns, name }) ? open : { ns, name };
  }

  /** Opens the object of a row. */
  open(ns: string, name: string): void {
    this.go({ ...this.view, open: this.opened({ ns, name }) }, "push");
  }

  /** Closes the panel. Returns false if none is open. */
  close(): boolean {
    if (this.view.open === null) return false;
    this.go({ ...this.view, open: null, tab: "" }, "push");
    byId("table").focus({ preventScroll: true });
    return true;
  }

  sortBy(column: string): void {
    const sort = this.view.sort;
    const next =
      sort?.column !== column ? { column, descending: false } : sort.descending ? null : { column, descending: true };
    this.go({ ...this.view, sort: next }, "push");
  }

  /** Applies the values of the form to the view. It is called while the user types in the text filter, too. */
  applyForm(how: "push" | "replace"): void {
    this.go(this.formView(), how);
  }

  /** Whether the page can reload without loss: the URL contains the complete state, and the rows are live. */
  get spare(): boolean {
    const live = this.began && status(this.feed.known(), this.now()).tone === "live";
    return live &&
      this.view.open === null &&
      !this.table.chosen &&
      !this.activity.open &&
      formatView(this.formView()) === formatView(this.view);
  }

  private formView(): View {
    const value = (id: string): string => input(id)?.value.trim() ?? "";
    return {
      ...this.view,
      q: value("q"),
      ns: this.kind.namespaced ? namespaces(value("ns")) : [],
      labels: value("labels"),
    };
  }

  /** The columns that the server sent with the rows; empty before any rows have arrived. */
  get columns(): readonly Column[] {
    return this.feed.rows.columns;
  }

  /** All rows, including those that the text filter hides; null if the page has only those near the viewport. */
  get held(): Rows | null {
    return this.feed.rows instanceof Rows ? this.feed.rows : null;
  }

  /** The number of rows in a list of which the page has only a part; null if the page has all rows. */
  get kept(): number | null {
    return this.feed.rows instanceof Rows || !this.feed.rows.complete ? null : this.feed.rows.total;
  }

  /** Returns the namespaces of the rows that the page has. */
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

  /** Changes parts of the view, for the same resource. */
  change(part: Partial<View>, how: "push" | "replace" = "push"): void {
    this.go({ ...this.view, ...part }, how);
  }

  /** Opens a tab of the open object, or of the object of the active row. */
  openTab(key: string): void {
    const kind = tabsOf(this.kind).find((t) => t.key === key);
    const at = this.view.open ?? this.table.activeEntry;
    if (kind === undefined || at === undefined) return announce("Select an object first, with j and k.");
    this.change({ open: this.opened(at), tab: kind === tabsOf(this.kind)[0] ? "" : kind.id });
  }

  /** Opens the object before or after the one that is open. */
  step(by: 1 | -1): void {
    const { open } = this.view;
    if (open === null) return;
    this.table.step(open, by, (next) => {
      if (next === null) announce(by > 0 ? "This is the last object." : "This is the first object.");
      else if (this.view.open === open) this.change({ open: { ns: next.ns, name: next.name } }, "replace");
    });
  }

  // Shows the state of the connection while the server has not sent any data.
  private wait(): void {
    const { connection, since, said } = this.live;
    const alone = this.alone || connection === "lost" || Date.now() - since > patience;
    drawStatus(byId("status"), {
      tone: alone ? "warn" : "busy",
      words: alone ? "Not live" : "Connecting…",
      count: null,
      total: null,
    });
    sayIn(
      byId("banner"),
      alone ? aloneWords(said, this.picker.reached, byId("asof").dataset["at"] ?? "", this.now()) : null,
    );
    this.setAlone(alone);
  }

  private setAlone(is: boolean): void {
    if (is === this.alone) return;
    this.alone = is;
    document.documentElement.toggleAttribute("data-alone", is);
    this.openPanel();
  }

  // Called when the server first sends data. From then on, the page is live.
  private begin(): void {
    this.began = true;
    this.setAlone(false);
    // Apply what the user typed in the meantime.
    if (formatView(this.formView()) !== formatView(this.view)) this.applyForm("replace");
  }

  // Updates all status texts.
  private tell(): void {
    if (!this.began && !this.live.answered) return this.wait();
    if (!this.began) this.begin();
    const known = this.feed.known();
    const narrowed = this.view.ns.length > 0 || this.view.labels !== "";
    const s = status(known, this.now());
    drawStatus(byId("status"), s);
    doubtExports(byId("export"), doubt(known, this.now()));
    drawProgress(byId("progress"), s, plural(this.kind));
    this.activity.live(s.tone === "live");
    sayIn(byId("anew"), anewWords(this.live.anew));
    byId("anew").title = this.live.anewWhy;
    const { complete, total } = this.feed.rows;
    if (complete && counted(known))
      setText(
        byId("count"),
        this.view.q === "" || total === 0 ? digits(total) : `${digits(this.shown)} of ${digits(total)}`,
      );
    else if (complete || !this.served) setText(byId("count"), "");
    if (complete || !this.served) byId("asof").hidden = true;
    this.picker.setCount(complete && !narrowed && s.tone === "live" ? total : null);
    const empty = complete ? this.shown === 0 && this.feed.rows.matching === 0 : !this.served;
    const place = byId("note");
    place.hidden = !empty;
    byId("rows").hidden = empty;
    if (empty)
      drawNote(
        place,
        note(known, plural(this.kind), total, narrowed, this.now(), this.view.ns.length > 0, this.kind.namespaced),
        this.view.ref,
        plural(this.kind),
        () => this.again(),
      );
    // While the server-rendered rows are shown, the texts that the server rendered with them stay, too.
    if (complete || !this.served) sayIn(byId("covered"), empty ? null : this.asideWords(known));
    // The note about an empty list already says that the data may be outdated. If rows exist but none match, the
    // banner says it.
    const doubted = complete && this.feed.rows.total > 0 && doubt(known, this.now()) !== null;
    const above = empty && !doubted ? null : banner(known, this.now());
    sayIn(byId("banner"), above);
    byId("rows").toggleAttribute("data-stale", complete && s.tone !== "live" && s.tone !== "busy");
  }

  // Returns notes on what the rows lack: namespaces that do not exist or are not covered, and unknown columns.
  private asideWords(known: Known): string | null {
    const { ns, sort, cols } = this.view;
    const missing =
      this.spaces === null ? null : missingWords(ns, this.spaces.rows, lastKnown(this.spaces.known(), this.now()));
    const words = [strangeWords(this.columns, this.kind.namespaced, sort, cols), missing, coverage(known)].filter(
      (w) => w !== null,
    );
    return words.length === 0 ? null : words.join(" ");
  }

  // For screen readers: how many of the rows match the text filter.
  private foundWords(): string {
    const { complete, matching, total } = this.feed.rows;
    return complete && this.view.q !== "" ? `${digits(matching)} of ${digits(total)} ${plural(this.kind)}` : "";
  }
}
