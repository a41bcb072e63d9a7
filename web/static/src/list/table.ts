// The table of rows. Only rows in or near the viewport have HTML elements, which are reused during scrolling.

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
const deletedRowDuration = 900; // ms; a deleted row stays visible for this time
const maxDeletedRows = 20; // if more rows are deleted at once, they disappear without a delay

interface DrawnRow {
  readonly tr: HTMLTableRowElement;
  entry: Entry;
}

export class Table {
  private rows: RowSource | null = null;
  private shape: TableShape | null = null;
  private widths: ColumnWidths | null = null;
  private drawn = new Map<string, DrawnRow>();
  private order: readonly Entry[] = []; // the entries (rows) in the order in which they are drawn
  private readonly deletedRows = new Map<string, { readonly entry: Entry; readonly until: number }>();
  private active: string | null = null; // key of the active row, which the user moves with the keyboard
  private activeIndex = -1; // index of the active row, also known while that row is not loaded; -1 if no row is active
  private openedKey: string | null = null;
  readonly marked = new Map<string, ObjectName>(); // rows that the user marked to compare them, by key
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
  private redrawAll = true; // whether the next drawing redraws every row without highlighting changes
  private readonly head: TableHead;
  private readonly tbody: HTMLTableSectionElement;
  private readonly above = h("tr", { class: "pad", "aria-hidden": "true" }, h("td"));
  private readonly below = h("tr", { class: "pad", "aria-hidden": "true" }, h("td"));
  private rowHeight = 24;
  private createdRows = 0; // number of row elements created so far; used for their HTML ids
  private pointer: readonly [number, number] | null = null; // position of the mouse; null if outside the browser
  // The position to scroll to when rows arrive, in rows from the top. null if there is no such position.
  private pendingScroll: number | null = null;
  private ownScrollTop = 0; // last scroll position that this class set, to recognize scrolling by the user

  constructor(
    private readonly scroller: HTMLElement,
    private readonly table: HTMLTableElement,
    private readonly now: () => number,
    private readonly onDraw: (shown: number) => void,
    private readonly onPendingChanges: (waiting: string) => void,
    /** Is called after the user has scrolled with the pointer or the keyboard. */
    private readonly onScroll: () => void,
    private readonly onResize: () => void = () => undefined,
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
    new ResizeObserver(() => {
      this.widths?.apply(this.head, this.roomForText);
      this.onResize();
      this.schedule();
    }).observe(scroller);
    // While the mouse pointer is over the table, freeze the order of the rows, so that no row moves.
    tbody.addEventListener("pointerover", (e) => this.setFrozen(e.pointerType === "mouse"), { passive: true });
    // Remove the mark of a new row after its animation. Otherwise, the animation would repeat when the row moves.
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

  /**
   * Shows other rows. The parameter `shape` describes their columns. The previous rows are removed, including those
   * that the server rendered.
   */
  show(rows: RowSource, shape: TableShape, sort: Sort | null): void {
    this.rows = rows;
    this.shape = shape;
    this.widths = new ColumnWidths(shape);
    this.widths.measure(rows.all());
    drawHead(this.head, shape, sort);
    this.widths.apply(this.head, this.roomForText);
    this.table.classList.add("virtual");
    this.measure();
    // Until the rows are drawn, the empty space `below` is as high as all rows, to keep the scroll position.
    this.above.style.height = "0";
    this.below.style.height = `${rows.length * this.rowHeight}px`;
    this.tbody.replaceChildren(this.above, this.below);
    this.clearDrawn();
    this.redrawAll = true;
    this.version = -1;
  }

  // Freezes or unfreezes the order of the rows. While it is frozen, no row moves, and changes of the order wait.
  private setFrozen(on: boolean): void {
    if (this.rows === null || this.rows.isFrozen === on || (on && this.rows.length === 0)) return;
    this.rows.setFrozen(on);
    this.schedule();
  }

  /** Ends the freeze of the row order, and applies the changes that waited. */
  applyPendingChanges(): void {
    this.setFrozen(false);
  }

  /** Whether the shown rows have no column for verdicts. */
  get lacksVerdicts(): boolean {
    return this.shape?.hasVerdicts === false;
  }

  /** The space for columns: the width of the table and the padding of one column, both in characters. */
  get room(): { readonly width: number; readonly pad: number } {
    const style = getComputedStyle(this.table);
    const char = parseFloat(style.fontSize) * 0.62; // px per character; most monospaced fonts are narrower
    const pad = parseFloat(style.getPropertyValue("--cell-pad"));
    return { width: this.scroller.clientWidth / char, pad: pad / char };
  }

  private get roomForText(): number {
    const { width, pad } = this.room;
    return width - (this.widths?.count ?? 0) * pad || 0;
  }

  private clearDrawn(): void {
    this.drawn.clear();
    this.order = [];
    this.deletedRows.clear();
  }

  clear(): void {
    this.rows = this.shape = this.widths = this.pendingStep = this.pendingScroll = null;
    this.clearDrawn();
    this.head.thead.replaceChildren();
    this.tbody.replaceChildren();
    this.scrollTo(0);
    this.active = null;
    this.activeIndex = -1;
    this.marked.clear();
  }

  /** Marks the sort column in the header. Call it after row changes: the default order depends on the rows. */
  markSortColumn(sort: Sort | null): void {
    markSort(this.head, sort);
  }

  markSort(sort: Sort | null): void {
    this.markSortColumn(sort);
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

  /** Must be called when rows may have changed. It schedules a drawing of the visible rows. */
  changed(): void {
    const { rows } = this;
    if (rows === null || this.frame !== 0 || this.timer !== 0) return;
    if (rows.version === this.version && ![...this.drawn.values()].some((d) => rows.get(d.entry.key) !== d.entry))
      return;
    // If the table was drawn a moment ago, wait, so that several changes are drawn together.
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

  /** Whether a row is active, even if that row is not loaded yet. */
  get hasActiveRow(): boolean {
    return this.active !== null || this.activeIndex >= 0;
  }

  /** The scroll position, in rows from the top. */
  get top(): number {
    return this.pendingScroll ?? this.scroller.scrollTop / this.rowHeight;
  }

  /** Scrolls to a position, in rows from the top. If there are no rows yet, it scrolls when they are available. */
  scrollToPosition(placeRows: number): void {
    this.pendingScroll = placeRows;
    this.schedule();
  }

  /** Moves the active row: by a number of rows, by one page, or to the first or last row. */
  move(by: number | "page-down" | "page-up" | "first" | "last"): void {
    const length = this.rows?.length ?? 0;
    if (length === 0) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 2);
    // If no row is active, start at the first visible row.
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

  /** Activates the row that is `by` rows after `from`. `onRow` gets the loaded row, or null if none exists. */
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
   * Selects the column that is `by` columns after the selected one, for the next "sort" command. Returns its name.
   */
  chooseColumn(by: number): string {
    const buttons = [...this.head.thead.querySelectorAll("[data-sort]")];
    const from = buttons.findIndex((b) => b.hasAttribute("data-chosen"));
    const to = buttons[from < 0 && by < 0 ? buttons.length - 1 : Math.max(0, Math.min(buttons.length - 1, from + by))];
    for (const b of buttons) b.toggleAttribute("data-chosen", b === to);
    to?.scrollIntoView({ block: "nearest", inline: "nearest" });
    return to?.getAttribute("data-sort") ?? "";
  }

  /** Changes the row height by calling applyHeight. Then scrolls, so that the same row stays at the top. */
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

  // Scrolls and records the new position, so that the scroll event is not mistaken for scrolling by the user.
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
      // Make the table high enough, so that it can be scrolled to the new position.
      this.below.style.height = `${length * rowHeight}px`;
      this.scrollTo(this.pendingScroll * rowHeight);
      this.pendingScroll = null;
    }
    const first = Math.max(0, Math.min(Math.floor(this.scroller.scrollTop / rowHeight) - overscan, length - 1));
    const last = Math.min(
      length,
      Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / rowHeight) + overscan,
    );
    const positions = rows.slice(first, last);
    // The number of rows at the start of the drawn range that are not loaded yet. Empty space is in their place.
    const before = Math.max(
      0,
      positions.findIndex((e) => e !== undefined),
    );
    const window = positions.filter((e) => e !== undefined);
    if (widths.measure(window)) widths.apply(this.head, this.roomForText);
    // A row can become active before it is loaded. In this case, store the row's key as soon as the row is loaded.
    if (this.active === null && this.activeIndex >= 0) this.active = positions[this.activeIndex - first]?.key ?? null;
    // Draw the effect of a user action before setFrozen below freezes the order.
    this.placeRows(this.withDeletedRows(window, rows), first + before, shape, rows);
    this.above.style.height = `${(first + before) * rowHeight}px`;
    this.below.style.height = `${Math.max(0, length - first - before - window.length) * rowHeight}px`;
    this.scroller.toggleAttribute("data-loading", window.length < positions.length);
    this.redrawAll = false;
    // When rows move under a pointer that does not move, the browser sends no event, so check here whether the pointer
    // is over the rows.
    this.setFrozen(this.pointer !== null && this.tbody.contains(document.elementFromPoint(...this.pointer)));
    const activeRow = this.active === null ? undefined : this.drawn.get(this.active);
    if (activeRow === undefined) this.table.removeAttribute("aria-activedescendant");
    else this.table.setAttribute("aria-activedescendant", activeRow.tr.id);
  }

  // Inserts recently deleted rows among the visible rows, each where it was before its deletion.
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
    // Use the free row elements for other rows. If no drawn row stays, sort the elements from top to bottom. Otherwise,
    // move them below the rows that stay.
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
    // The user moves between rows with the arrow keys. The Tab key skips the links inside the rows.
    for (const a of tr.getElementsByTagName("a")) a.tabIndex = -1;
    return tr;
  }

  private markRow(tr: HTMLTableRowElement, e: Entry, index: number, isDeleted: boolean): void {
    setAttr(tr, "data-gone", isDeleted ? "" : null);
    setAttr(tr, "aria-rowindex", String(index + 2));
    setAttr(tr, "data-marked", this.marked.has(e.key) ? "" : null);
    setAttr(tr, "data-active", e.key === this.active ? "" : null);
    setAttr(tr, "aria-selected", e.key === this.openedKey ? "true" : null);
    if (e.key === this.active) this.activeIndex = index;
  }
}

// Highlights a changed cell once. The cell's tooltip shows the previous text and the author of the change.
function markChange({ cell, before }: ChangedCell, e: Entry, now: number): void {
  const at = clockTime(e.by?.time || new Date(now).toISOString(), now);
  const authorText =
    e.by === null ? "" : ` by ${isolateText(e.by.manager)}${e.by.subresource === "" ? "" : ` (${e.by.subresource})`}`;
  // Call setAttribute directly. setAttr would replace the isolate characters of isolateText by visible code points.
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
