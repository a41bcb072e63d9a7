// The table. Only rows in or near the viewport have elements. All rows have the same height, and the elements are
// reused while the user scrolls. Drawing happens at most once per animation frame, from the newest rows. No row moves
// while the pointer is over the table. A deleted row is struck through and stays visible for a moment.

import { clockTime } from "../text/age.ts";
import { drawHead, markSort, ColumnWidths, type TableHead } from "./columns.ts";
import { h, setAttr } from "../ui/dom.ts";
import { updateInterval } from "../model/feed.ts";
import { highlight, endHighlight } from "../ui/cell-highlight.ts";
import { isolateText } from "../text/invisible-chars.ts";
import { emptyRow, fillRow, type ChangedCell, type TableShape } from "./row.ts";
import { updateAges } from "../ui/ages.ts";
import { keyOf, type Entry, type RowSource } from "../model/row-source.ts";
import type { Sort } from "../model/sort.ts";
import type { ObjectName } from "../model/view.ts";

const overscan = 6;
const deletedRowDuration = 900; // ms that a deleted row stays visible
const maxDeletedRows = 20; // rows; if more are deleted at once, they disappear without a delay

interface DrawnRow {
  readonly tr: HTMLTableRowElement;
  entry: Entry;
}

export class Table {
  private rows: RowSource | null = null;
  private shape: TableShape | null = null;
  private widths: ColumnWidths | null = null;
  private drawn = new Map<string, DrawnRow>();
  private order: readonly Entry[] = []; // the entries in the order in which they are drawn
  private readonly deletedRows = new Map<string, { readonly entry: Entry; readonly until: number }>();
  private active: string | null = null; // the key of the active row, which the keyboard moves
  private activeIndex = -1; // the index of the active row, which is set even if that row is not loaded yet
  private openedKey: string | null = null;
  private pendingStep: {
    readonly from: ObjectName;
    readonly by: number;
    readonly onRow: (row: Entry | null) => void;
    readonly isRequested: boolean;
  } | null = null;
  private frame = 0;
  private timer = 0;
  private lastDrawnAt = 0;
  private version = -1;
  private redrawAll = true; // whether the next drawing replaces everything, so that no changes are highlighted
  private readonly head: TableHead;
  private readonly tbody: HTMLTableSectionElement;
  private readonly above = h("tr", { class: "pad", "aria-hidden": "true" }, h("td"));
  private readonly below = h("tr", { class: "pad", "aria-hidden": "true" }, h("td"));
  private rowHeight = 24;
  private createdRows = 0; // number of rows created, for their ids
  private pointer: readonly [number, number] | null = null; // the position of the mouse; null for none
  // The position to scroll to once there are rows, in rows from the top; null if none.
  private pendingScroll: number | null = null;
  private ownScrollTop = 0; // the last scroll position that the table set itself

  constructor(
    private readonly scroller: HTMLElement,
    private readonly table: HTMLTableElement,
    private readonly now: () => number,
    private readonly onDraw: (shown: number) => void,
    private readonly onPendingChanges: (waiting: string) => void,
    /** Called when the user has scrolled, by pointer or keyboard. */
    private readonly onScroll: () => void,
  ) {
    const colgroup = h("colgroup");
    table.prepend(colgroup);
    const thead = table.tHead;
    const tbody = table.tBodies[0];
    if (thead === null || tbody === undefined) throw new Error("the table has no head or body");
    this.head = { thead, colgroup, table };
    this.tbody = tbody;
    const scrolled = (): void => {
      if (scroller.scrollTop !== this.ownScrollTop) this.onScroll();
      this.schedule();
    };
    scroller.addEventListener("scroll", scrolled, { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
    tbody.addEventListener("pointerover", (e) => this.setFrozen(e.pointerType === "mouse"), { passive: true });
    // Remove the marker of a new row after its animation. Otherwise the row would fade in again when it moves.
    tbody.addEventListener("animationend", (e) => (e.target as Element).removeAttribute("data-added"));
    for (const type of ["pointerleave", "pointercancel"] as const)
      tbody.addEventListener(type, () => this.setFrozen(false));
    const at = (e: PointerEvent): void => {
      this.pointer = e.pointerType === "mouse" ? [e.clientX, e.clientY] : null;
    };
    for (const type of ["pointerover", "pointermove"] as const) document.addEventListener(type, at, { passive: true });
    document.documentElement.addEventListener("pointerleave", () => {
      this.pointer = null;
    });
  }

  /** Shows other rows. shape: their columns. The previous rows, such as those that the server rendered, are removed. */
  show(rows: RowSource, shape: TableShape, sort: Sort | null): void {
    this.rows = rows;
    this.shape = shape;
    this.widths = new ColumnWidths(shape);
    this.widths.measure(rows.all());
    drawHead(this.head, shape, sort);
    this.widths.apply(this.head);
    this.table.classList.add("virtual");
    this.measure();
    // Reserve the height of all rows at once, so that the scroll position stays.
    this.above.style.height = "0";
    this.below.style.height = `${rows.length * this.rowHeight}px`;
    this.tbody.replaceChildren(this.above, this.below);
    this.clearDrawn();
    this.redrawAll = true;
    this.version = -1;
  }

  // Freezes the order of the rows (on), or lets changes of the order through again.
  private setFrozen(on: boolean): void {
    if (this.rows === null || this.rows.isFrozen === on || (on && this.rows.length === 0)) return;
    this.rows.setFrozen(on);
    this.schedule();
  }

  /** Unfreezes the order of the rows, which shows the pending changes. */
  applyPendingChanges(): void {
    this.setFrozen(false);
  }

  private clearDrawn(): void {
    this.drawn.clear();
    this.order = [];
    this.deletedRows.clear();
  }

  /** Removes all rows, for example before another resource is shown. */
  clear(): void {
    this.rows = this.shape = this.widths = this.pendingStep = this.pendingScroll = null;
    this.clearDrawn();
    this.head.thead.replaceChildren();
    this.tbody.replaceChildren();
    this.scrollTo(0);
    this.active = null;
    this.activeIndex = -1;
  }

  markSort(sort: Sort | null): void {
    markSort(this.head, sort);
    this.redrawAll = true;
    this.schedule();
  }

  /** Marks the row of the object that is open in the panel. */
  setOpened(key: string | null): void {
    this.openedKey = key;
    this.schedule();
  }

  schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  /**
   * Reports that rows may have changed. Those in the viewport are drawn in the next frame, or under load later
   * together with further changes.
   */
  changed(): void {
    const { rows } = this;
    if (rows === null || this.frame !== 0 || this.timer !== 0) return;
    if (rows.version === this.version && ![...this.drawn.values()].some((d) => rows.get(d.entry.key) !== d.entry))
      return;
    const wait = this.lastDrawnAt + updateInterval - performance.now();
    if (wait <= 0) return this.schedule();
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.schedule();
    }, wait);
  }

  tick(): void {
    updateAges(this.tbody, this.now());
  }

  get activeEntry(): Entry | undefined {
    return this.active === null ? undefined : this.rows?.get(this.active);
  }

  /** Whether there is an active row, even if it is not loaded yet. */
  get hasActiveRow(): boolean {
    return this.active !== null || this.activeIndex >= 0;
  }

  /** The scroll position in rows from the top. */
  get top(): number {
    return this.pendingScroll ?? this.scroller.scrollTop / this.rowHeight;
  }

  /** Scrolls to a position in rows from the top, as soon as there are rows. */
  scrollToPosition(placeRows: number): void {
    this.pendingScroll = placeRows;
    this.schedule();
  }

  /** Makes another row active: at the distance by in rows, one page away, or the first or last. */
  move(by: number | "page-down" | "page-up" | "first" | "last"): void {
    const length = this.rows?.length ?? 0;
    if (length === 0) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 2);
    // Without an active row, start at the first visible row.
    const top = Math.ceil(this.top);
    const from = this.hasActiveRow ? this.activeIndex : by === 1 || by === "page-down" ? top - 1 : top + 1;
    const to =
      by === "first"
        ? 0
        : by === "last"
          ? length - 1
          : from + (by === "page-down" ? page : by === "page-up" ? -page : by);
    this.activate(Math.max(0, Math.min(length - 1, to)));
    this.revealActiveRow();
  }

  /**
   * Activates the row at the distance by from the row of the object from; 0 is that row itself. onRow is called with
   * the row as soon as it is loaded, or with null if there is no row at that distance.
   */
  step(from: ObjectName, by: number, onRow: (row: Entry | null) => void): void {
    this.pendingStep = { from, by, onRow, isRequested: false };
    this.continueStep();
  }

  private continueStep(): void {
    const { rows, pendingStep } = this;
    if (rows === null || pendingStep === null) return;
    const { from, by, onRow } = pendingStep;
    const at = rows.indexOf(keyOf(from.ns, from.name));
    if (at < 0 && !pendingStep.isRequested && rows.requestAround(from.ns, from.name)) {
      this.pendingStep = { ...pendingStep, isRequested: true };
      return;
    }
    const to = at < 0 ? (by === 0 ? -1 : Math.max(0, this.activeIndex)) : at + by;
    const row = to < 0 ? undefined : rows.slice(to, to + 1)[0];
    const isLoading = row === undefined && to >= 0 && to < rows.length;
    if (row !== undefined || isLoading) {
      this.activate(to);
      this.revealActiveRow();
    }
    if (isLoading) return;
    this.pendingStep = null;
    onRow(row ?? null);
  }

  /**
   * Marks the header of the column at the distance by, for a later command to sort by it. Returns the column's name.
   */
  chooseColumn(by: number): string {
    const buttons = [...this.head.thead.querySelectorAll("[data-sort]")];
    const from = buttons.findIndex((b) => b.hasAttribute("data-chosen"));
    const to = buttons[from < 0 && by < 0 ? buttons.length - 1 : Math.max(0, Math.min(buttons.length - 1, from + by))];
    for (const b of buttons) b.toggleAttribute("data-chosen", b === to);
    to?.scrollIntoView({ block: "nearest", inline: "nearest" });
    return to?.getAttribute("data-sort") ?? "";
  }

  /** Calls applyHeight, which changes the row height, and scrolls so that the same rows stay visible. */
  changeRowHeight(applyHeight: () => void): void {
    const { top } = this;
    applyHeight();
    this.measure();
    if (this.rows !== null) this.scrollToPosition(top);
  }

  private measure(): void {
    this.rowHeight = parseFloat(getComputedStyle(this.table).getPropertyValue("--row-height")) || 24;
    this.schedule();
  }

  // Scrolls, and records the position, so that the scroll event is not taken for one of the user.
  private scrollTo(top: number): void {
    this.scroller.scrollTop = top;
    this.ownScrollTop = this.scroller.scrollTop;
  }

  private revealActiveRow(): void {
    const top = this.activeIndex * this.rowHeight;
    const room = this.scroller.clientHeight - this.head.thead.offsetHeight - this.rowHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
  }

  /** Makes the row of an element the active row. */
  activateRow(tr: Element): void {
    for (const [key, d] of this.drawn) if (d.tr === tr) this.active = key;
    this.schedule();
  }

  private activate(index: number): void {
    this.activeIndex = index;
    this.active = this.rows?.slice(index, index + 1)[0]?.key ?? null;
    this.schedule();
  }

  private draw(): void {
    this.frame = 0;
    this.lastDrawnAt = performance.now();
    const { rows, shape, widths } = this;
    if (rows === null || shape === null || widths === null) return;
    const { length } = rows;
    if (rows.version !== this.version) {
      this.version = rows.version;
      this.continueStep();
      this.table.setAttribute("aria-rowcount", String(length + 1));
      this.onDraw(rows.matching);
      this.onPendingChanges(rows.pendingText);
    }
    const rowHeight = this.rowHeight;
    if (this.pendingScroll !== null && length > 0) {
      this.below.style.height = `${length * rowHeight}px`; // The scroll range must exist before scrolling.
      this.scrollTo(this.pendingScroll * rowHeight);
      this.pendingScroll = null;
    }
    const first = Math.max(0, Math.min(Math.floor(this.scroller.scrollTop / rowHeight) - overscan, length - 1));
    const last = Math.min(
      length,
      Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / rowHeight) + overscan,
    );
    const positions = rows.slice(first, last);
    // Leave empty space for rows that are not loaded yet, above or below the loaded rows.
    const before = Math.max(
      0,
      positions.findIndex((e) => e !== undefined),
    );
    const window = positions.filter((e) => e !== undefined);
    if (widths.measure(window)) widths.apply(this.head);
    // If the active row was activated by index before it was loaded, its key may be known now.
    if (this.active === null && this.activeIndex >= 0) this.active = positions[this.activeIndex - first]?.key ?? null;
    this.placeRows(this.withDeletedRows(window, rows), first + before, shape, rows);
    this.above.style.height = `${(first + before) * rowHeight}px`;
    this.below.style.height = `${Math.max(0, length - first - before - window.length) * rowHeight}px`;
    this.scroller.toggleAttribute("data-loading", window.length < positions.length);
    this.redrawAll = false;
    // The browser sends no pointer event when rows move under a pointer at rest, so check its position here. The check
    // is done after drawing, so that the effect of a user's action is drawn before the order freezes.
    this.setFrozen(this.pointer !== null && this.tbody.contains(document.elementFromPoint(...this.pointer)));
    const activeRow = this.active === null ? undefined : this.drawn.get(this.active);
    if (activeRow === undefined) this.table.removeAttribute("aria-activedescendant");
    else this.table.setAttribute("aria-activedescendant", activeRow.tr.id);
  }

  // Returns the rows of the viewport with those that were just deleted, at their last position.
  private withDeletedRows(window: Entry[], rows: RowSource): readonly Entry[] {
    const now = performance.now();
    for (const [key, l] of this.deletedRows)
      if (this.redrawAll || l.until < now || !rows.isDeleted(key)) this.deletedRows.delete(key);
    if (this.redrawAll || rows.isFrozen) return window;
    const newlyDeleted = [...this.drawn.values()].filter(
      (d) => rows.isDeleted(d.entry.key) && !this.deletedRows.has(d.entry.key) && !d.tr.hasAttribute("data-gone"),
    );
    if (newlyDeleted.length <= maxDeletedRows)
      for (const { entry } of newlyDeleted) this.deletedRows.set(entry.key, { entry, until: now + deletedRowDuration });
    if (this.deletedRows.size === 0) return window;
    setTimeout(() => this.schedule(), deletedRowDuration + 20);
    const all = [...window];
    let at = 0;
    for (const e of this.order) {
      const deletedEntry = this.deletedRows.get(e.key)?.entry;
      if (deletedEntry !== undefined) all.splice(at++, 0, deletedEntry);
      else at = 1 + all.findIndex((other) => other.key === e.key) || at;
    }
    return all;
  }

  private placeRows(window: readonly Entry[], first: number, shape: TableShape, rows: RowSource): void {
    const now = this.now();
    this.order = window;
    const keep = new Set(window.map((e) => e.key));
    const freeRows: HTMLTableRowElement[] = [];
    for (const [key, d] of this.drawn) {
      if (keep.has(key)) continue;
      freeRows.push(d.tr);
      this.drawn.delete(key);
    }
    // If no row stays in view, reuse all row elements in document order. If some rows stay, leave their elements in
    // place, and move the elements that can be reused to the end.
    if (this.drawn.size === 0)
      freeRows.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    else this.below.before(...freeRows);
    const next = freeRows.values();
    let previousElement: Element = this.above;
    window.forEach((e, i) => {
      let d = this.drawn.get(e.key);
      if (d === undefined) {
        const tr = next.next().value ?? this.newRow(shape);
        clearMarks(tr);
        fillRow(tr, shape, e, now);
        d = { tr, entry: e };
        this.drawn.set(e.key, d);
        if (e.isAdded && !this.redrawAll && now - Date.parse(e.created) < 10_000) setAttr(tr, "data-added", "");
      } else if (d.entry !== e) {
        const changedCells = fillRow(d.tr, shape, e, now);
        d.entry = e;
        if (!this.redrawAll) for (const changedCell of changedCells) markChange(changedCell, e, now);
      }
      e.isDrawn = true;
      if (previousElement.nextElementSibling !== d.tr) previousElement.after(d.tr);
      previousElement = d.tr;
      this.markRow(d.tr, e, first + i, rows.isDeleted(e.key));
    });
    for (const tr of next) tr.remove();
  }

  private newRow(shape: TableShape): HTMLTableRowElement {
    const tr = emptyRow(shape);
    tr.id = `row-${this.createdRows++}`;
    // The keyboard moves between the rows of the grid, so the Tab key must skip the links in them.
    for (const a of tr.getElementsByTagName("a")) a.tabIndex = -1;
    return tr;
  }

  private markRow(tr: HTMLTableRowElement, e: Entry, index: number, isDeleted: boolean): void {
    setAttr(tr, "data-gone", isDeleted ? "" : null);
    setAttr(tr, "aria-rowindex", String(index + 2));
    setAttr(tr, "data-active", e.key === this.active ? "" : null);
    setAttr(tr, "aria-selected", e.key === this.openedKey ? "true" : null);
    if (e.key === this.active) this.activeIndex = index;
  }
}

// Highlights a changed cell once. Its tooltip shows the previous text and the author of the change.
function markChange({ cell, before }: ChangedCell, e: Entry, now: number): void {
  const at = clockTime(e.by?.time || new Date(now).toISOString(), now);
  const authorText =
    e.by === null ? "" : ` by ${isolateText(e.by.manager)}${e.by.subresource === "" ? "" : ` (${e.by.subresource})`}`;
  // Not by setAttr, because it would spell out the isolating characters.
  cell.setAttribute(
    "title",
    (before === "" ? "" : `${isolateText(before)} → ${isolateText(cell.textContent ?? "")}\n`) +
      `Changed ${at}${authorText}`,
  );
  highlight(cell);
}

function clearMarks(tr: Element): void {
  tr.removeAttribute("data-added");
  for (const e of [tr, ...tr.querySelectorAll("[title], [data-changed]")]) {
    e.removeAttribute("title");
    if (e.hasAttribute("data-changed")) endHighlight(e);
  }
}
