// The list page of one resource. It connects the view (what the URL selects), the subscription, the table and the
// panel.

import { Activity } from "../activity/activity.ts";
import { byId, input, setText } from "../ui/dom.ts";
import { drawExports } from "./exports.ts";
import { sharedParts } from "../model/guest.ts";
import { Charts } from "./charts.ts";
import { Feed, type FeedListener } from "../model/feed.ts";
import type { Live } from "../net/live.ts";
import type { Kind } from "../net/kinds.ts";
import { showToast as announce, showToastAfterTyping, showReloadToast } from "../ui/toast.ts";
import type { Picker } from "./picker.ts";
import { fittingColumns } from "./columns.ts";
import { fillForm, readForm } from "./form.ts";
import { ListPanel, openedObject } from "./list-panel.ts";
import { drawConnecting, drawListStatus, matchCountText, type ListState } from "./list-status.ts";
import { hasVerdicts, shapeOf, type TableShape } from "./row.ts";
import { keyOf } from "../model/row-source.ts";
import { countedSeverities, type CountedSeverity } from "../model/severity.ts";
import { Rows } from "../model/rows.ts";
import { autoSort, worstFirst, type Sort } from "../model/sort.ts";
import { reloadsText, status } from "../model/status.ts";
import { drawSeverityCounts, showText } from "../ui/status-view.ts";
import { tabsFor } from "../object/tabs.ts";
import { Table } from "./table.ts";
import type { LatestChange } from "../model/latest-change.ts";
import {
  formatView,
  defaultView,
  sameObject,
  titleOf,
  toggledLog,
  type ObjectName,
  type OpenedObject,
  type View,
} from "../model/view.ts";
import type { Column } from "../net/wire.ts";

const connectTimeout = 3000; // ms; if the first connection takes longer, the page shows "Not live"

export class ListPage implements FeedListener {
  view: View;
  kind: Kind;
  /**
   * Whether the server has sent data over the WebSocket. Until then, the server-rendered HTML stays, and its links
   * and its form load new pages.
   */
  hasData = false;
  private isOffline = false; // whether the page shows "Not live", because it cannot connect
  private feed: Feed;
  private namespaceFeed: Feed | null = null; // all namespaces of the cluster; null while fewer than two are selected
  // whether the rows on the screen are still the ones that the server rendered
  private showsServerRows: boolean;
  private revealPending = true; // whether to scroll to the row of the open object when rows arrive
  private visibleCount = 0;
  private shownFitting = "";
  private readonly panel: ListPanel;
  readonly table: Table;
  readonly activity: Activity;
  readonly charts: Charts;

  constructor(
    private readonly live: Live,
    readonly picker: Picker,
    private readonly now: () => number,
    private readonly navigate: (view: View, how: "push" | "replace") => void,
    kind: Kind,
    view: View,
    /** Up to this number of rows, the page loads the complete list. Of a longer list, it loads only parts. */
    private readonly limit: number,
    /**
     * The scroll position to restore when the rows arrive, in rows from the top. null if there is nothing to restore.
     */
    private scrollToRestore: number | null,
  ) {
    this.kind = kind;
    this.view = view;
    // If the user scrolled before this script started, keep that scroll position.
    if (byId("rows").scrollTop !== 0) {
      this.scrollToRestore = null;
      this.revealPending = false;
    }
    this.showsServerRows = document.querySelector("#tbody tr") !== null;
    this.table = new Table(
      byId("rows"),
      byId("table") as HTMLTableElement,
      now,
      (visibleCount) => {
        this.visibleCount = visibleCount;
        this.updateStatus();
      },
      (waiting) => showText(byId("pending-changes"), waiting === "" ? null : waiting),
      () => {
        // Once the user has scrolled, the stored scroll position must not be restored.
        this.scrollToRestore = null;
        this.revealPending = false;
      },
      () => {
        if (this.hasData && this.fittingColumns() !== this.shownFitting) this.showRows();
      },
    );
    const changes = ({ ref, namespaced }: Kind, open: ObjectName): View => ({
      ...(ref === this.view.ref ? this.view : { ...defaultView(ref), ns: namespaced ? this.view.ns : [] }),
      open,
      tab: "changes",
    });
    this.activity = new Activity(byId("activity"), {
      live,
      now,
      watched: () => picker.watchedKinds(),
      href: (kind, o) => formatView(changes(kind, o)),
      open: (kind, o) => this.navigate(changes(kind, o), "push"),
      select: (activity, how) => {
        if (this.hasData) return this.change({ activity }, how);
        this.view = { ...this.view, activity };
        this.activity.show(activity);
      },
    });
    this.view = { ...view, activity: view.activity ?? this.activity.initial };
    this.activity.show(this.view.activity ?? "");
    this.panel = new ListPanel(this, live, picker, now);
    this.charts = new Charts(live, now);
    picker.onWatched = () => this.activity.watchedChanged();
    picker.select(view.ref);
    this.fillForm();
    this.feed = this.subscribe();
    this.drawExports();
    this.updateStatus();
    this.openPanel();
  }

  /** The scroll position, in rows from the top. Until the rows arrive, it is the position that will be restored. */
  get scrollPosition(): number {
    return this.scrollToRestore ?? this.table.top;
  }

  /**
   * Shows another view. The caller has already changed the URL. When the user goes back or forward in the browser's
   * history, the parameter `position` is the scroll position of that history entry.
   */
  show(view: View, kind: Kind, position: number | null = null): void {
    const old = this.view;
    // If only the tab of the panel changes, the rows stay the same, and so does the scroll position to restore.
    this.scrollToRestore = formatView({ ...view, tab: old.tab }) === formatView(old) ? this.scrollToRestore : position;
    this.view = view;
    const isOtherKind = view.ref !== old.ref;
    if (isOtherKind) {
      this.revealPending = true;
      this.kind = kind;
      this.picker.select(view.ref);
    }
    this.fillForm();
    if (isOtherKind || view.ns.join() !== old.ns.join() || view.labels !== old.labels) {
      this.table.clear();
      this.showsServerRows = false;
      this.retry();
    } else {
      const sort = JSON.stringify(view.sort) !== JSON.stringify(old.sort);
      if (sort) this.feed.setSort(view.sort ?? autoSort);
      if (view.q !== old.q) {
        this.feed.setFilter(view.q);
        this.showCharts();
        showToastAfterTyping(() => matchCountText(this.state));
      }
      if (view.cols.join() !== old.cols.join()) this.showRows();
      else if (sort) this.table.markSort(this.shownSort);
      this.table.schedule();
    }
    if (isOtherKind || !sameObject(view.open, old.open)) this.openPanel();
    else this.panel.show(view.tab);
    this.activity.show(view.activity ?? "");
    this.restoreScroll();
    this.drawExports();
    this.updateSeverityCounts();
    this.updateStatus();
  }

  private restoreScroll(): void {
    if (this.scrollToRestore === null || !this.feed.isCurrent) return;
    this.table.scrollToPosition(this.scrollToRestore);
    this.scrollToRestore = null;
    this.revealPending = false;
  }

  private drawExports(): void {
    drawExports(byId("export"), this.view, this.columns);
  }

  private subscribe(): Feed {
    this.followNamespaces();
    const { ref, ns, labels, sort, q } = this.view;
    this.activity.showList({ kind: this.kind, ns, labels });
    this.showCharts();
    // The expected number of rows is the count in the resource picker, which includes all objects of the resource. If
    // namespaces or labels are selected, the expected number is unknown (0).
    const expected = ns.length > 0 || labels !== "" ? 0 : this.picker.countOf(ref);
    return new Feed(
      this.live,
      { resource: ref, ns, labels },
      { sort: sort ?? autoSort, q },
      this,
      this.limit,
      expected,
    );
  }

  private showCharts(): void {
    const { ns, labels, q } = this.view;
    this.charts.showList({ kind: this.kind, ns, labels, q });
  }

  // Subscribes to the namespaces of the cluster while several namespaces are selected, so that the page can report
  // selected namespaces that do not exist. For a single selected namespace, the server reports this in the state of the
  // list.
  private followNamespaces(): void {
    const hasSeveral = this.view.ns.length > 1 && sharedParts() === null;
    if (hasSeveral === (this.namespaceFeed !== null)) return;
    this.namespaceFeed?.close();
    const update = (): void => this.updateStatus();
    this.namespaceFeed = hasSeveral
      ? new Feed(
          this.live,
          { resource: "core/v1/namespaces" },
          { sort: null, q: "" },
          { snapshotArrived: update, rowsChanged: update, rowsDiscarded: update, statusChanged: update },
          this.limit,
          0,
        )
      : null;
  }

  /** Whether the server refused to send the rows. A later retry can succeed. */
  get isRefused(): boolean {
    return this.feed.info().problem !== null;
  }

  retry(): void {
    this.feed.close();
    this.feed = this.subscribe();
    this.updateStatus();
  }

  /** Is called when the connection is lost or restored. Updates the page. */
  refresh(): void {
    this.feed.reconnected();
    this.namespaceFeed?.reconnected();
    this.activity.refresh();
    this.panel.refresh();
    this.updateStatus();
  }

  countSeverity(severity: CountedSeverity): number {
    const { rows } = this.feed;
    return rows.isComplete ? rows.countSeverity(severity) : 0;
  }

  private updateSeverityCounts(): void {
    drawSeverityCounts(byId("severity-counts"), this.view, (s) => this.countSeverity(s));
    const name = this.picker.nameOf(this.kind);
    setText(byId("heading"), name);
    const openedName = this.openedKind === this.kind ? name : this.picker.nameOf(this.openedKind);
    document.title = titleOf(openedName, this.view.open, this.countSeverity("failed"));
  }

  /** Updates ages and status texts. It is called every second. */
  tick(): void {
    if (!this.hasData) this.updateStatus();
    this.updateSeverityCounts();
    this.table.tick();
  }

  /** The number of row changes that arrived since the list was subscribed. */
  get eventCount(): number {
    return this.feed.events;
  }

  snapshotArrived(columns: boolean): void {
    if (
      columns ||
      this.showsServerRows ||
      !byId("table").classList.contains("virtual") ||
      byId("tbody").childElementCount === 0
    )
      this.showRows();
    this.showsServerRows = false;
    this.updateSeverityCounts();
    this.restoreScroll();
    if (this.revealPending) requestAnimationFrame(() => this.revealOpenRow()); // wait until the rows are drawn
  }

  // Scrolls to the row of the object that is open in the panel.
  private revealOpenRow(): void {
    if (!this.revealPending) return;
    this.revealPending = false;
    const { listedObject } = this;
    if (listedObject !== null) this.table.step(listedObject, 0, () => undefined);
  }

  private showRows(): void {
    const { rows } = this.feed;
    if (!rows.isComplete) return;
    this.drawExports();
    this.shownFitting = this.fittingColumns();
    const shape = this.shapeOf(new Set(this.shownFitting.split(",").filter(Boolean).map(Number)));
    this.table.show(rows, shape, this.shownSort);
  }

  private shapeOf(fitting?: ReadonlySet<number>): TableShape {
    const { ref, ns, cols } = this.view;
    return shapeOf(ref, this.columns, this.kind.namespaced && ns.length !== 1, cols, this.hasVerdicts, fitting);
  }

  // The indexes, joined by commas, of the -o wide columns that fit into the table. Empty if the user chose columns.
  private fittingColumns(): string {
    const { rows } = this.feed;
    if (this.view.cols.length > 0 || !rows.isComplete) return "";
    const { width, pad } = this.table.room;
    return [...fittingColumns(rows, this.shapeOf(), width, pad)].join();
  }

  // The order in which the rows are shown. null is the order by namespace and name.
  private get shownSort(): Sort | null {
    return this.view.sort ?? (this.feed.rows.countSeverity("failed") > 0 ? worstFirst : null);
  }

  // Whether any row has a verdict. If the page has loaded only some of the rows, the server's counts also decide.
  private get hasVerdicts(): boolean {
    const { rows } = this.feed;
    return (
      hasVerdicts(rows.all()) || (!(rows instanceof Rows) && countedSeverities.some((s) => rows.countSeverity(s) > 0))
    );
  }

  rowChanged(newest: LatestChange): void {
    this.activity.showChange(newest);
  }

  rowsChanged(): void {
    if (this.table.lacksVerdicts && this.hasVerdicts) this.showRows();
    this.table.markSortColumn(this.shownSort);
    this.table.changed();
  }

  rowsDiscarded(): void {
    this.showsServerRows = false;
    this.visibleCount = 0;
    this.table.clear();
    this.activity.clearChange();
  }

  reset(): void {
    showReloadToast();
  }

  statusChanged(): void {
    this.updateStatus();
  }

  firstVisibleRow(): number {
    return Math.floor(this.table.top);
  }

  private fillForm(): void {
    fillForm(this.view, this.kind);
    this.picker.setNamespaces(this.view.ns);
  }

  private openPanel(): void {
    const { listedObject } = this;
    this.table.setOpened(listedObject === null ? null : keyOf(listedObject.ns, listedObject.name));
    this.panel.open(this.isOffline);
  }

  /**
   * The object in the panel. null if the panel is closed, or if the object belongs to another resource than the list.
   */
  get listedObject(): ObjectName | null {
    const { open } = this.view;
    return open?.ref === undefined ? open : null;
  }

  /** The resource of the object in the panel. This is the resource of the list, unless the URL names another one. */
  get openedKind(): Kind {
    const { open } = this.view;
    if (open?.ref === undefined) return this.kind;
    const resource = open.ref.split("/")[2] ?? "";
    return this.picker.get(open.ref) ?? { ref: open.ref, kind: resource, resource, namespaced: open.ns !== "" };
  }

  open(ns: string, name: string): void {
    this.change({ open: openedObject(this.view, { ns, name }) });
  }

  /** Closes the panel. Returns false if no panel is open. */
  close(): boolean {
    if (this.view.open === null) return false;
    this.navigate({ ...this.view, open: null, tab: "" }, "push");
    byId("table").focus({ preventScroll: true });
    return true;
  }

  sortBy(column: string): void {
    const sort = this.shownSort;
    const next =
      sort?.column !== column ? { column, descending: false } : sort.descending ? null : { column, descending: true };
    this.navigate({ ...this.view, sort: next }, "push");
  }

  /** Applies the values of the form to the view. It is also called after each key press in the text filter. */
  applyForm(how: "push" | "replace"): void {
    this.navigate(readForm(this.view, this.kind), how);
  }

  /**
   * Whether the page can be reloaded without loss: the URL contains everything that the user has chosen, and the rows
   * are live.
   */
  get canReload(): boolean {
    const live = this.hasData && status(this.feed.info(), this.now()).level === "live";
    return (
      live &&
      this.view.open === null &&
      !this.table.hasActiveRow &&
      !this.activity.open &&
      formatView(readForm(this.view, this.kind)) === formatView(this.view)
    );
  }

  /** The columns that the server sent with the rows. It is empty until the first rows arrive. */
  get columns(): readonly Column[] {
    return this.feed.rows.columns;
  }

  /**
   * All rows of the list, including rows that do not match the text filter. null if the page loads only the rows near
   * the viewport.
   */
  get allRows(): Rows | null {
    return this.feed.rows instanceof Rows ? this.feed.rows : null;
  }

  /** The total number of rows if the page loads only the rows near the viewport. null if the page has all rows. */
  get windowTotal(): number | null {
    return this.feed.rows instanceof Rows || !this.feed.rows.isComplete ? null : this.feed.rows.total;
  }

  /** Returns the namespaces of all loaded rows. */
  names(): Set<string> {
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

  /** Changes parts of the view. The resource stays the same. */
  change(part: Partial<View>, how: "push" | "replace" = "push"): void {
    this.navigate({ ...this.view, ...part }, how);
  }

  /**
   * Opens the tab with the keyboard shortcut `key` in the panel. The tab shows the open object, or if none is open, the
   * object of the active row.
   */
  openTab(key: string): void {
    const at = this.view.open ?? this.table.activeEntry;
    const kinds = tabsFor(this.openedKind);
    const kind = kinds.find((t) => t.key === key);
    if (at === undefined) return announce("Select an object first, with the arrow keys.");
    if (kind === undefined) return announce(`No tab of this object has the key “${key}”.`);
    this.openObject(at, kind === kinds[0] ? "" : kind.id);
  }

  /** Opens an object in the panel, with the given tab. If `tab` is empty, the first tab opens. */
  openObject(o: OpenedObject, tab: string): void {
    this.change({ open: openedObject(this.view, o), tab });
  }

  /** Switches between the logs of the current and the previous container instances. */
  togglePreviousLog(): void {
    const at = this.view.open ?? this.table.activeEntry;
    if (at === undefined) return announce("Select an object first, with the arrow keys.");
    const { log } = openedObject(this.view, at);
    this.change({ open: { ...openedObject(this.view, at), log: toggledLog(log, this.view.tab) }, tab: "logs" });
  }

  /** Opens the object of the next row (by = 1) or of the previous row (by = -1). */
  step(by: 1 | -1): void {
    const { open } = this.view;
    const { listedObject } = this;
    if (listedObject === null)
      return open === null
        ? undefined
        : announce("This object is not in the list, so there is no next or previous one.");
    this.table.step(listedObject, by, (next) => {
      if (next === null) announce(by > 0 ? "This is the last object." : "This is the first object.");
      else if (this.view.open === open) this.change({ open: { ns: next.ns, name: next.name } }, "replace");
    });
  }

  // Shows the state of the connection until the server has sent data.
  private showConnecting(): void {
    const { connection, since } = this.live;
    const isOffline = this.isOffline || connection === "lost" || Date.now() - since > connectTimeout;
    drawConnecting(this.live, isOffline, this.picker.isReachable, this.now());
    this.setOffline(isOffline);
  }

  private setOffline(offline: boolean): void {
    if (offline === this.isOffline) return;
    this.isOffline = offline;
    document.documentElement.toggleAttribute("data-offline", offline);
    this.openPanel();
  }

  // Switches the page from server-rendered to live when the first data arrive.
  private becomeLive(): void {
    this.hasData = true;
    this.setOffline(false);
    // Before the page became live, the user may have typed into the form, or the activity feed may have opened because
    // of a stored preference. Write both states to the URL now.
    const activity = new URLSearchParams(location.search).get("activity") ?? "";
    if (activity.trim() !== this.view.activity || formatView(readForm(this.view, this.kind)) !== formatView(this.view))
      this.applyForm("replace");
  }

  private updateStatus(): void {
    if (!this.hasData && !this.live.hasAnswered) return this.showConnecting();
    if (!this.hasData) this.becomeLive();
    const current = drawListStatus(this.state, this.now(), () => this.retry());
    const isLive = current.level === "live";
    this.activity.setLive(isLive);
    showText(byId("reloads"), reloadsText(this.live.reloadCount));
    byId("reloads").title = this.live.reloadReason;
    const { isComplete, total } = this.feed.rows;
    this.picker.setCount(isComplete && this.view.labels === "" && isLive ? total : null);
  }

  private get state(): ListState {
    const { view, kind, feed, namespaceFeed, visibleCount, showsServerRows } = this;
    return { view, kind, feed, namespaceFeed, visibleCount, showsServerRows };
  }
}
