// The column "Last change" of a list: who last changed the specification of each object, and when. The server reads
// the authors from the API server. Later changes arrive with the updates of the rows. Guests have no such column,
// because they may see only changes that happen during their visit.

import "../shared-code.ts";
import { sharedParts } from "../model/guest.ts";
import { keyOf, type Entry } from "../model/row-source.ts";
import type { Rows } from "../model/rows.ts";
import { withBase } from "../net/base-path.ts";
import type { Cell, Column, Message, Row } from "../net/wire.ts";
import { byId, setAttr } from "../ui/dom.ts";
import type { ListPage } from "../list/list.ts";
import { cellOf, isEdited, isSince, lastChangeColumn, readChanges, tooltipOf, type SpecChange } from "./changes.ts";

const name = lastChangeColumn.name.toLowerCase();
const readInterval = 300_000; // ms; the program cannot see the author of some changes, such as those that a list found
const visibleInterval = 60_000; // ms; the interval after the user returns to the page, and after a row was added
const retryDelay = 30_000; // ms; after a failed read
const maxRows = 5000; // the server reads the changes of at most this number of objects
const minRoom = 90; // characters; in a narrower table, the column cannot fit

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Adds the column to the list, and keeps it current. */
export function startLastChange(list: ListPage, now: () => number): void {
  if (sharedParts() !== null) return;
  const column = new LastChange(list, now);
  setInterval(() => column.tick(), 1000);
  document.addEventListener("visibilitychange", () => column.outdate());
  byId("tbody").addEventListener("mouseover", (e) => column.showTooltip(e.target));
}

class LastChange {
  private changes = new Map<string, SpecChange>(); // by the key of the row
  private query = ""; // the resource and the namespaces of `changes`
  private rows: Rows | null = null; // the rows that contain `changes`; null if they must be updated
  private nextRead = 0; // ms, as performance.now() returns it
  private lastRead = 0;
  private pendingRead = new AbortController();

  constructor(
    private readonly list: ListPage,
    private readonly now: () => number,
  ) {}

  /** Reads the changes again soon, but not more often than once a minute, which is how long the server keeps them. */
  outdate(): void {
    this.nextRead = Math.min(this.nextRead, this.lastRead + visibleInterval);
  }

  tick(): void {
    const { list } = this;
    const { ref, ns } = list.view;
    const query = `${ref}?${ns.map((n) => `ns=${encodeURIComponent(n)}`).join("&")}`;
    if (query !== this.query) {
      this.pendingRead.abort();
      this.changes = new Map();
      this.query = query;
      this.nextRead = this.lastRead = 0;
    }
    const rows = list.allRows;
    if (rows === null || !rows.isComplete || rows.arriving > 0 || rows.total > maxRows || !isEdited(ref)) return;
    if (rows !== this.rows && !this.isBusy(rows)) this.update(rows);
    const isWide = list.table.room.width >= minRoom || list.view.cols.includes(name);
    const isLive = byId("status").getAttribute("data-state") === "live";
    if (document.hidden || !isWide || !isLive || performance.now() < this.nextRead) return;
    this.lastRead = performance.now();
    this.nextRead = this.lastRead + readInterval;
    this.pendingRead = new AbortController();
    void this.read(query, this.pendingRead.signal);
  }

  private async read(query: string, signal: AbortSignal): Promise<void> {
    try {
      const address = withBase(`/api/v1/last-changes/${query}`);
      const response = await fetch(address, { signal, headers: { accept: "application/json" } });
      // Other errors are permanent, such as a missing permission.
      if (response.status === 429 || response.status >= 500) this.nextRead = performance.now() + retryDelay;
      if (!response.ok) return;
      const changes = readChanges(await response.json());
      if (signal.aborted) return;
      // The response can be older than the changes that arrived with the rows.
      for (const [key, change] of changes) this.record(key, change);
      this.rows = null;
      this.tick();
    } catch {
      if (!signal.aborted) this.nextRead = performance.now() + retryDelay;
    }
  }

  // Whether drawing the rows again would disturb the user.
  private isBusy(rows: Rows): boolean {
    return (rows.isFrozen && this.list.view.sort?.column === name) || String(getSelection() ?? "") !== "";
  }

  private record(key: string, change: SpecChange): void {
    const known = this.changes.get(key);
    if (known === undefined || Date.parse(known.at) < Date.parse(change.at)) this.changes.set(key, change);
  }

  private textOf(row: Pick<Row, "ns" | "name" | "created">): string {
    const change = this.changes.get(keyOf(row.ns, row.name));
    return change === undefined || !isSince(change, row.created) ? "" : cellOf(change);
  }

  // Writes the changes into the rows, and draws the table if a cell has changed. Without any known change, the list
  // gets no column.
  private update(rows: Rows): void {
    this.rows = rows;
    const texts = new Map<Entry, string>();
    for (const e of rows.all()) texts.set(e, this.textOf(e));
    const index = columnIndex(rows.columns);
    if (index < 0) {
      if (rows.columns.some((c) => c.name.toLowerCase() === name)) return; // The server's column has this name.
      if (![...texts.values()].some((text) => text !== "")) return;
      rows.columns = [...rows.columns, lastChangeColumn];
    }
    const at = columnIndex(rows.columns);
    let hasChanged = index < 0;
    for (const [e, text] of texts) {
      if (e.cells[at] === text) continue;
      (e as Writable<Entry>).cells = withCell(e.cells, at, text);
      hasChanged = true;
    }
    rows.decorate = (m) => this.decorate(rows, m);
    if (!hasChanged) return;
    const { sort } = this.list.view;
    if (sort?.column === name) rows.setSort(sort);
    this.list.showRows();
  }

  // Adds the cells of the column to a message before it is applied to the rows.
  private decorate(rows: Rows, m: Extract<Message, { type: "rows" | "row-events" }>): void {
    if (m.type === "rows") {
      if (m.columns !== null) (m as Writable<typeof m>).columns = [...m.columns, lastChangeColumn];
      const at = columnIndex(m.columns ?? rows.columns);
      (m as Writable<typeof m>).rows = m.rows.map((row) => ({
        ...row,
        cells: withCell(row.cells, at, this.textOf(row)),
      }));
      return;
    }
    const at = columnIndex(rows.columns);
    for (const e of m.events) {
      if (e.op === "add") {
        const text = this.textOf(e.row);
        (e.row as Writable<Row>).cells = withCell(e.row.cells, at, text);
        if (text === "") this.outdate();
      } else if (e.op === "update" && e.specBy !== undefined) {
        const { manager, time } = e.specBy;
        if (time !== "") this.record(keyOf(e.ns, e.name), { by: manager, at: time, isCreation: false });
        const row = rows.get(keyOf(e.ns, e.name));
        if (row !== undefined) (e.cells as Map<number, Cell>).set(at, this.textOf(row));
      }
    }
  }

  /** Shows the exact time and the complete name of the field manager as the tooltip of a cell of the column. */
  showTooltip(target: EventTarget | null): void {
    const td = target instanceof Element ? target.closest("#tbody td") : null;
    const tr = td?.closest<HTMLElement>("tr[data-name]");
    if (td === null || tr === null || tr === undefined) return;
    const head = document.querySelectorAll("#table thead th")[[...tr.children].indexOf(td)];
    if (head?.getAttribute("data-column") !== String(columnIndex(this.list.columns))) return;
    const change = this.changes.get(keyOf(tr.dataset["ns"] ?? "", tr.dataset["name"] ?? ""));
    if (change !== undefined && td.textContent !== "") setAttr(td, "title", tooltipOf(change, this.now()));
  }
}

const columnIndex = (columns: readonly Column[]): number => columns.indexOf(lastChangeColumn);

// Returns the cells with a further one. Rows can have fewer cells than columns.
function withCell(cells: readonly Cell[], at: number, text: string): Cell[] {
  const all = [...cells];
  while (all.length < at) all.push(null);
  all[at] = text;
  return all;
}
