// The column "Last change" of a list: who last changed the specification of each object, and when. The page reads the
// authors from the server's cache. Later changes arrive with the updates of the rows, but not with new rows. After a
// new row, the page reads the authors again. Guests have no such column, because they may see only changes that happen
// during their visit.

import "../shared-code.ts";
import { sharedParts } from "../model/guest.ts";
import { keyOf, withCell } from "../model/row-source.ts";
import type { RowMessage, Rows } from "../model/rows.ts";
import { withBase } from "../net/base-path.ts";
import type { Column, Row, RowEvent } from "../net/wire.ts";
import { byId, setAttr } from "../ui/dom.ts";
import type { ListPage } from "../list/list.ts";
import {
  cellOf,
  isCreation,
  isEdited,
  isSince,
  lastChangeColumn,
  readChanges,
  tooltipOf,
  type SpecChange,
} from "./changes.ts";

const name = lastChangeColumn.name.toLowerCase();
const minInterval = 10_000; // ms; between two reads, for example if objects are added all the time
const retryInterval = 60_000; // ms; after a failed read
const maxRows = 5000; // the server sends the changes of at most this number of objects
const minRoom = 90; // characters; in a narrower table, the column cannot fit

/** Adds the column to the list, and keeps it current. */
export function startLastChange(list: ListPage, now: () => number): void {
  if (sharedParts() !== null) return;
  const column = new LastChange(list, now);
  column.tick();
  setInterval(() => column.tick(), 1000);
  byId("tbody").addEventListener("mouseover", (e) => column.showTooltip(e.target));
}

class LastChange {
  private changes = new Map<string, SpecChange>(); // by the key of the row
  private query = ""; // the resource and the namespaces of `changes`
  private rows: Rows | null = null; // the rows that contain `changes`; null if they must be updated
  private source: Rows | null = null; // the rows for which the page reads the changes
  private isRead = false; // whether a read has succeeded
  private isOutdated = true; // whether the page must read the changes, possibly after a wait
  private nextRead = -Infinity; // ms, as performance.now() returns it
  private pendingRead = new AbortController();

  constructor(
    private readonly list: ListPage,
    private readonly now: () => number,
  ) {}

  tick(): void {
    const { list } = this;
    const { ref, ns } = list.view;
    const query = `${ref}?${ns.map((n) => `ns=${encodeURIComponent(n)}`).join("&")}`;
    if (query !== this.query) {
      this.pendingRead.abort();
      this.changes = new Map();
      this.query = query;
      this.isRead = false;
      this.source = null;
    }
    // While the connection is lost, a request would fail. After a reconnect, the page possibly missed changes.
    if (!list.isConnected) this.isOutdated = true;
    const rows = list.allRows;
    if (rows === null || !rows.isComplete || rows.arriving > 0 || !isEdited(ref)) return;
    if (rows.total > maxRows) return this.remove(rows);
    if (rows !== this.source) {
      // Other labels can show rows whose updates the page did not receive.
      this.source = rows;
      this.isOutdated = true;
      this.nextRead = -Infinity;
    }
    if (rows !== this.rows && !this.isBusy(rows)) this.update(rows);
    const isWide = list.table.room.width >= minRoom || list.view.cols.includes(name);
    const isDue = this.isOutdated && performance.now() >= this.nextRead;
    if (document.hidden || !isWide || !list.isConnected || !isDue) return;
    this.isOutdated = false;
    this.nextRead = performance.now() + minInterval;
    this.pendingRead = new AbortController();
    void this.read(query, this.pendingRead.signal);
  }

  // Ignores a failure, and tries again later.
  private async read(query: string, signal: AbortSignal): Promise<void> {
    try {
      const address = withBase(`/api/v1/last-changes/${query}`);
      const response = await fetch(address, { signal, headers: { accept: "application/json" } });
      if (!response.ok) return this.retryLater();
      const changes = readChanges(await response.json());
      if (signal.aborted || changes === null) return;
      this.isRead = true;
      for (const [key, change] of changes) {
        // The response can be older than a change that arrived with the rows.
        const known = this.changes.get(key);
        if (known === undefined || Date.parse(known.at) < Date.parse(change.at)) this.changes.set(key, change);
      }
      this.rows = null;
      this.tick();
    } catch {
      if (!signal.aborted) this.retryLater(); // Otherwise, the user left the list.
    }
  }

  private retryLater(): void {
    this.isOutdated = true;
    this.nextRead = performance.now() + retryInterval;
  }

  // Removes the column from a list that has become too long.
  private remove(rows: Rows): void {
    if (columnIndex(rows.columns) < 0) return;
    delete rows.decorate;
    rows.columns = rows.columns.filter((c) => c !== lastChangeColumn);
    this.rows = null;
    this.list.showRows();
  }

  // Whether drawing the rows again would disturb the user. While the pointer is over the rows, only the first
  // appearance of the column does not wait.
  private isBusy(rows: Rows): boolean {
    const isNew = columnIndex(rows.columns) < 0 && this.list.view.sort?.column !== name;
    return (rows.isFrozen && !isNew) || String(getSelection() ?? "") !== "";
  }

  private textOf(row: Pick<Row, "ns" | "name" | "created">): string {
    const change = this.changes.get(keyOf(row.ns, row.name));
    return change === undefined || !isSince(change, row.created) ? "" : cellOf(change);
  }

  // Writes the changes into the rows, and draws the table if a cell has changed. Without any known change, the list
  // gets no column.
  private update(rows: Rows): void {
    this.rows = rows;
    rows.decorate = (m) => this.decorate(rows, m);
    const isNew = columnIndex(rows.columns) < 0;
    if (isNew) {
      if (!this.isRead) return;
      if (rows.columns.some((c) => c.name.toLowerCase() === name)) return; // The server's column has this name.
      if (![...rows.all()].some((e) => this.textOf(e) !== "")) return;
      rows.columns = [...rows.columns, lastChangeColumn];
    }
    const hasChanged = rows.setCells(columnIndex(rows.columns), (e) => this.textOf(e));
    if (!hasChanged && !isNew) return;
    const { sort } = this.list.view;
    if (sort?.column === name) rows.setSort(sort);
    this.list.showRows();
  }

  // Reads the changes in a message, and returns the message with the cells of the column, if the list has the column.
  private decorate(rows: Rows, m: RowMessage): RowMessage {
    const at = columnIndex(rows.columns);
    if (m.type === "row-events") {
      for (const e of m.events) this.readEvent(rows, e);
      return at < 0 ? m : { ...m, events: m.events.map((e) => this.withCellOf(rows, e, at)) };
    }
    this.isOutdated = true; // The server sends all rows again if the page missed changes.
    if (at < 0) return m;
    const columns = m.columns === null ? null : [...m.columns, lastChangeColumn];
    const index = columnIndex(columns ?? rows.columns);
    return { ...m, columns, rows: m.rows.map((row) => this.withText(row, index)) };
  }

  private readEvent(rows: Rows, e: RowEvent): void {
    if (e.op === "add") this.isOutdated = true;
    else if (e.op === "delete") this.changes.delete(keyOf(e.ns, e.name));
    else if (e.specBy !== undefined) {
      const key = keyOf(e.ns, e.name);
      const { manager: by, time: at } = e.specBy;
      this.changes.set(key, { at, by, isCreation: isCreation(at, rows.get(key)?.created ?? "") });
      if (columnIndex(rows.columns) < 0) this.rows = null; // The next tick adds the column.
    }
  }

  private withCellOf(rows: Rows, e: RowEvent, at: number): RowEvent {
    if (e.op === "add") return { ...e, row: this.withText(e.row, at) };
    if (e.op === "delete" || e.specBy === undefined) return e;
    const row = rows.get(keyOf(e.ns, e.name));
    return row === undefined ? e : { ...e, cells: new Map([...e.cells, [at, this.textOf(row)]]) };
  }

  private withText(row: Row, at: number): Row {
    return { ...row, cells: withCell(row.cells, at, this.textOf(row)) };
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
