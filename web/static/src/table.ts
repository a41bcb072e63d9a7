// The table. Only rows in or near the viewport have elements. All rows have the same height, and the elements are
// reused while the user scrolls. Drawing happens at most once per animation frame, from the newest rows. No row moves
// while the pointer is over the table. A deleted row is struck through and stays visible for a moment.

import { clockTime } from "./age.ts";
import { drawHead, markSort, Widths, type Head } from "./columns.ts";
import { h, setAttr } from "./dom.ts";
import { gap } from "./feed.ts";
import { flash, unflash } from "./flash.ts";
import { isolated } from "./odd.ts";
import { emptyRow, fillRow, tick, type Differs, type Shape } from "./row.ts";
import { keyOf, type Entry, type Ordered } from "./ordered.ts";
import type { Sort } from "./sort.ts";
import type { ObjectName } from "./view.ts";

const overscan = 6;
const parting = 900; // ms that a deleted row stays visible
const mostParting = 20; // rows; if more are deleted at once, they disappear without a delay

interface Drawn {
  readonly tr: HTMLTableRowElement;
  entry: Entry;
}

export class Table {
  private rows: Ordered | null = null;
  private shape: Shape | null = null;
  private widths: Widths | null = null;
  private drawn = new Map<string, Drawn>();
  private order: readonly Entry[] = []; // the entries in the order in which they are drawn
  private readonly leaving = new Map<string, { readonly entry: Entry; readonly until: number }>();
  private active: string | null = null; // the key of the active row, which the keyboard moves
  private activeIndex = -1; // the index of the active row, which is set even if that row is not loaded yet
  private opened: string | null = null;
  private stepping: {
    readonly from: ObjectName;
    readonly by: number;
    readonly take: (row: Entry | null) => void;
    readonly sought: boolean;
  } | null = null;
  private frame = 0;
  private timer = 0;
  private drewAt = 0;
  private version = -1;
  private fresh = true; // whether the next drawing replaces everything, so that no changes are highlighted
  private readonly head: Head;
  private readonly tbody: HTMLTableSectionElement;
  private readonly above = h("tr", { class: "pad", "aria-hidden": "true" }, h("td"));
  private readonly below = h("tr", { class: "pad", "aria-hidden": "true" }, h("td"));
  private rowHeight = 24;
  private made = 0; // number of rows created, for their ids
  private pointer: readonly [number, number] | null = null; // the position of the mouse; null for none
  // The position to scroll to once there are rows, in rows from the top; null if none.
  private aim: number | null = null;
  private put = 0; // the last scroll position that the table set itself

  constructor(
    private readonly scroller: HTMLElement,
    private readonly table: HTMLTableElement,
    private readonly now: () => number,
    private readonly onDraw: (shown: number) => void,
    private readonly onHold: (waiting: string) => void,
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
      if (scroller.scrollTop !== this.put) this.onScroll();
      this.schedule();
    };
    scroller.addEventListener("scroll", scrolled, { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
    tbody.addEventListener("pointerover", (e) => this.hold(e.pointerType === "mouse"), { passive: true });
    // Remove the marker of a new row after its animation. Otherwise the row would fade in again when it moves.
    tbody.addEventListener("animationend", (e) => (e.target as Element).removeAttribute("data-came"));
    for (const type of ["pointerleave", "pointercancel"] as const) tbody.addEventListener(type, () => this.hold(false));
    const at = (e: PointerEvent): void => {
      this.pointer = e.pointerType === "mouse" ? [e.clientX, e.clientY] : null;
    };
    for (const type of ["pointerover", "pointermove"] as const) document.addEventListener(type, at, { passive: true });
    document.documentElement.addEventListener("pointerleave", () => {
      this.pointer = null;
    });
  }

  /** Shows other rows. shape: their columns. The previous rows, such as those that the server rendered, are removed. */
  show(rows: Ordered, shape: Shape, sort: Sort | null): void {
    this.rows = rows;
    this.shape = shape;
    this.widths = new Widths(shape);
    this.widths.fit(rows.all());
    drawHead(this.head, shape, sort);
    this.widths.apply(this.head);
    this.table.classList.add("virtual");
    this.measure();
    // Reserve the height of all rows at once, so that the scroll position stays.
    this.above.style.height = "0";
    this.below.style.height = `${rows.length * this.rowHeight}px`;
    this.tbody.replaceChildren(this.above, this.below);
    this.forget();
    this.fresh = true;
    this.version = -1;
  }

  // Freezes the order of the rows (on), or lets changes of the order through again.
  private hold(on: boolean): void {
    if (this.rows === null || this.rows.held === on || (on && this.rows.length === 0)) return;
    this.rows.hold(on);
    this.schedule();
  }

  /** Unfreezes the order of the rows, which shows the pending changes. */
  letIn(): void {
    this.hold(false);
  }

  private forget(): void {
    this.drawn.clear();
    this.order = [];
    this.leaving.clear();
  }

  /** Removes all rows, for example before another resource is shown. */
  clear(): void {
    this.rows = this.shape = this.widths = this.stepping = this.aim = null;
    this.forget();
    this.head.thead.replaceChildren();
    this.tbody.replaceChildren();
    this.scrollTo(0);
    this.active = null;
    this.activeIndex = -1;
  }

  markSort(sort: Sort | null): void {
    markSort(this.head, sort);
    this.fresh = true;
    this.schedule();
  }

  /** Marks the row of the object that is open in the panel. */
  setOpened(key: string | null): void {
    this.opened = key;
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
    const wait = this.drewAt + gap - performance.now();
    if (wait <= 0) return this.schedule();
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.schedule();
    }, wait);
  }

  tick(): void {
    tick(this.tbody, this.now());
  }

  get activeEntry(): Entry | undefined {
    return this.active === null ? undefined : this.rows?.get(this.active);
  }

  /** Whether there is an active row, even if it is not loaded yet. */
  get chosen(): boolean {
    return this.active !== null || this.activeIndex >= 0;
  }

  /** The scroll position in rows from the top. */
  get top(): number {
    return this.aim ?? this.scroller.scrollTop / this.rowHeight;
  }

  /** Scrolls to a position in rows from the top, as soon as there are rows. */
  goTo(place: number): void {
    this.aim = place;
    this.schedule();
  }

  /** Makes another row active: at the distance by in rows, one page away, or the first or last. */
  move(by: number | "page-down" | "page-up" | "first" | "last"): void {
    const length = this.rows?.length ?? 0;
    if (length === 0) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 2);
    // Without an active row, start at the first visible row.
    const top = Math.ceil(this.top);
    const from = this.chosen ? this.activeIndex : by === 1 || by === "page-down" ? top - 1 : top + 1;
    const to =
      by === "first"
        ? 0
        : by === "last"
          ? length - 1
          : from + (by === "page-down" ? page : by === "page-up" ? -page : by);
    this.activate(Math.max(0, Math.min(length - 1, to)));
    this.scroll();
  }

  /**
    * Activates the row at the distance by from the row of the object from; 0 is that row itself. take is called with
    * the row as soon as it is loaded, or with null if there is no row at that distance.
   */
  step(from: ObjectName, by: number, take: (row: Entry | null) => void): void {
    this.stepping = { from, by, take, sought: false };
    this.goOn();
  }

  private goOn(): void {
    const { rows, stepping } = this;
    if (rows === null || stepping === null) return;
    const { from, by, take } = stepping;
    const at = rows.indexOf(keyOf(from.ns, from.name));
    if (at < 0 && !stepping.sought && rows.seek(from.ns, from.name)) {
      this.stepping = { ...stepping, sought: true };
      return;
    }
    const to = at < 0 ? (by === 0 ? -1 : Math.max(0, this.activeIndex)) : at + by;
    const row = to < 0 ? undefined : rows.slice(to, to + 1)[0];
    const comes = row === undefined && to >= 0 && to < rows.length;
    if (row !== undefined || comes) {
      this.activate(to);
      this.scroll();
    }
    if (comes) return;
    this.stepping = null;
    take(row ?? null);
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

  /** Runs turn, which changes the row height, and scrolls so that the same rows stay visible. */
  resize(turn: () => void): void {
    const { top } = this;
    turn();
    this.measure();
    if (this.rows !== null) this.goTo(top);
  }

  private measure(): void {
    this.rowHeight = parseFloat(getComputedStyle(this.table).getPropertyValue("--row-height")) || 24;
    this.schedule();
  }

  // Scrolls, and records the position, so that the scroll event is not taken for one of the user.
  private scrollTo(top: number): void {
    this.scroller.scrollTop = top;
    this.put = this.scroller.scrollTop;
  }

  private scroll(): void {
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
    this.drewAt = performance.now();
    const { rows, shape, widths } = this;
    if (rows === null || shape === null || widths === null) return;
    const { length } = rows;
    if (rows.version !== this.version) {
      this.version = rows.version;
      this.goOn();
      this.table.setAttribute("aria-rowcount", String(length + 1));
      this.onDraw(rows.matching);
      this.onHold(rows.waiting);
    }
    const height = this.rowHeight;
    if (this.aim !== null && length > 0) {
      this.below.style.height = `${length * height}px`; // The scroll range must exist before scrolling.
      this.scrollTo(this.aim * height);
      this.aim = null;
    }
    const first = Math.max(0, Math.min(Math.floor(this.scroller.scrollTop / height) - overscan, length - 1));
    const last = Math.min(
      length,
      Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / height) + overscan,
    );
    const places = rows.slice(first, last);
    // Leave empty space for rows that are not loaded yet, above or below the loaded rows.
    const before = Math.max(
      0,
      places.findIndex((e) => e !== undefined),
    );
    const window = places.filter((e) => e !== undefined);
    if (widths.fit(window)) widths.apply(this.head);
    // If the active row was activated by index before it was loaded, its key may be known now.
    if (this.active === null && this.activeIndex >= 0) this.active = places[this.activeIndex - first]?.key ?? null;
    this.place(this.withLeaving(window, rows), first + before, shape, rows);
    this.above.style.height = `${(first + before) * height}px`;
    this.below.style.height = `${Math.max(0, length - first - before - window.length) * height}px`;
    this.scroller.toggleAttribute("data-waits", window.length < places.length);
    this.fresh = false;
    // The browser sends no pointer event when rows move under a pointer at rest, so check its position here. The check
    // comes after drawing, so that the effect of a user's action is drawn before the order freezes.
    this.hold(this.pointer !== null && this.tbody.contains(document.elementFromPoint(...this.pointer)));
    const activeRow = this.active === null ? undefined : this.drawn.get(this.active);
    if (activeRow === undefined) this.table.removeAttribute("aria-activedescendant");
    else this.table.setAttribute("aria-activedescendant", activeRow.tr.id);
  }

  // Returns the rows of the viewport with those that were just deleted, at their last position.
  private withLeaving(window: Entry[], rows: Ordered): readonly Entry[] {
    const now = performance.now();
    for (const [key, l] of this.leaving) if (this.fresh || l.until < now || !rows.gone(key)) this.leaving.delete(key);
    if (this.fresh || rows.held) return window;
    const gone = [...this.drawn.values()].filter(
      (d) => rows.gone(d.entry.key) && !this.leaving.has(d.entry.key) && !d.tr.hasAttribute("data-gone"),
    );
    if (gone.length <= mostParting)
      for (const { entry } of gone) this.leaving.set(entry.key, { entry, until: now + parting });
    if (this.leaving.size === 0) return window;
    setTimeout(() => this.schedule(), parting + 20);
    const all = [...window];
    let at = 0;
    for (const e of this.order) {
      const leaves = this.leaving.get(e.key)?.entry;
      if (leaves !== undefined) all.splice(at++, 0, leaves);
      else at = 1 + all.findIndex((other) => other.key === e.key) || at;
    }
    return all;
  }

  private place(window: readonly Entry[], first: number, shape: Shape, rows: Ordered): void {
    const now = this.now();
    this.order = window;
    const keep = new Set(window.map((e) => e.key));
    const free: HTMLTableRowElement[] = [];
    for (const [key, d] of this.drawn) {
      if (keep.has(key)) continue;
      free.push(d.tr);
      this.drawn.delete(key);
    }
    // If no row element keeps its content, reuse all in document order. Otherwise, move the free elements to the end,
    // and leave the others in place.
    if (this.drawn.size === 0)
      free.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    else this.below.before(...free);
    const next = free.values();
    let after: Element = this.above;
    window.forEach((e, i) => {
      let d = this.drawn.get(e.key);
      if (d === undefined) {
        const tr = next.next().value ?? this.newRow(shape);
        unmark(tr);
        fillRow(tr, shape, e, now);
        d = { tr, entry: e };
        this.drawn.set(e.key, d);
        if (e.added && !this.fresh && now - Date.parse(e.created) < 10_000) setAttr(tr, "data-came", "");
      } else if (d.entry !== e) {
        const differ = fillRow(d.tr, shape, e, now);
        d.entry = e;
        if (!this.fresh) for (const one of differ) mark(one, e, now);
      }
      e.drawn = true;
      if (after.nextElementSibling !== d.tr) after.after(d.tr);
      after = d.tr;
      this.dress(d.tr, e, first + i, rows.gone(e.key));
    });
    for (const tr of next) tr.remove();
  }

  private newRow(shape: Shape): HTMLTableRowElement {
    const tr = emptyRow(shape);
    tr.id = `row-${this.made++}`;
    // The keyboard moves between the rows of the grid, so the Tab key must skip the links in them.
    for (const a of tr.getElementsByTagName("a")) a.tabIndex = -1;
    return tr;
  }

  private dress(tr: HTMLTableRowElement, e: Entry, index: number, gone: boolean): void {
    setAttr(tr, "data-gone", gone ? "" : null);
    setAttr(tr, "aria-rowindex", String(index + 2));
    setAttr(tr, "data-active", e.key === this.active ? "" : null);
    setAttr(tr, "aria-selected", e.key === this.opened ? "true" : null);
    if (e.key === this.active) this.activeIndex = index;
  }
}

// Highlights a changed cell once. Its tooltip shows the previous text and the author of the change.
function mark({ cell, before }: Differs, e: Entry, now: number): void {
  const at = clockTime(e.by?.time || new Date(now).toISOString(), now);
  const who =
    e.by === null ? "" : ` by ${isolated(e.by.manager)}${e.by.subresource === "" ? "" : ` (${e.by.subresource})`}`;
  // Not by setAttr, because it would spell out the isolating characters.
  cell.setAttribute(
    "title",
    `${before === "" ? "" : `${isolated(before)} → ${isolated(cell.textContent ?? "")}\n`}Changed ${at}${who}`,
  );
  flash(cell);
}

function unmark(tr: Element): void {
  tr.removeAttribute("data-came");
  for (const e of [tr, ...tr.querySelectorAll("[title], [data-changed]")]) {
    e.removeAttribute("title");
    if (e.hasAttribute("data-changed")) unflash(e);
  }
}
