// The rows of all objects that a label selector selects, and the complete objects of the first rows.

import { Feed, type FeedListener } from "../../model/feed.ts";
import { ObjectStore } from "../../model/object-store.ts";
import { Rows } from "../../model/rows.ts";
import { cellText, type Entry } from "../../model/row-source.ts";
import type { SubscriptionInfo } from "../../model/status.ts";
import type { JsonObject } from "../../net/wire.ts";
import type { TabHost } from "../tab.ts";

interface Selection {
  readonly ref: string;
  readonly ns: string;
  readonly labels: string;
  readonly namePrefix: string;
  /** The maximum number of complete objects. Each one needs its own subscription. */
  readonly maxObjects: number;
  /** The order of the rows. Only the first maxObjects rows in this order get complete objects. */
  readonly compare: (a: Entry, b: Entry) => number;
}

// A list with more rows than this is loaded only in part. The rows of this part are used.
const maxRows = 2000;

export class SelectedObjects implements FeedListener {
  private readonly feed: Feed;
  private readonly stores = new Map<string, ObjectStore>();

  constructor(
    private readonly host: TabHost,
    readonly selection: Selection,
    private readonly onChange: () => void,
  ) {
    const { ref, ns, labels } = selection;
    this.feed = new Feed(host.live, { resource: ref, ns: [ns], labels }, { sort: null, q: "" }, this, maxRows, 0);
  }

  close(): void {
    this.feed.close();
    for (const store of this.stores.values()) store.close();
    this.stores.clear();
  }

  /** Called when the connection is lost, and when it is restored. */
  reconnected(): void {
    this.feed.reconnected();
    for (const store of this.stores.values()) store.reconnected();
  }

  get isComplete(): boolean {
    return this.feed.rows.isComplete;
  }

  /** The number of all rows. If the list is longer than maxRows, `rows` has only some of them. */
  get total(): number {
    const { rows } = this.feed;
    return rows instanceof Rows && this.selection.namePrefix !== "" ? this.rows.length : rows.total;
  }

  get rows(): readonly Entry[] {
    const { namePrefix, compare } = this.selection;
    return [...this.feed.rows.all()].filter((e) => e.name.startsWith(namePrefix)).sort(compare);
  }

  /** Returns the complete object, or null if it is not loaded. */
  object(name: string): JsonObject | null {
    const store = this.stores.get(name);
    return store === undefined || store.deletedAt !== null ? null : store.object;
  }

  /** The loaded objects, in the order of their rows. */
  get objects(): readonly JsonObject[] {
    return this.rows.map((e) => this.object(e.name)).filter((o) => o !== null);
  }

  info(): SubscriptionInfo {
    return this.feed.info();
  }

  /** Returns a function that reads a cell of a row as text, by the column's lower-case name. */
  cellReader(): (row: Entry, column: string) => string {
    const indexes = new Map(this.feed.rows.columns.map((c, i) => [c.name.toLowerCase(), i]));
    return (row, column) => cellText(row.cells[indexes.get(column) ?? -1]);
  }

  snapshotArrived(): void {
    this.follow();
  }
  rowsChanged(): void {
    this.follow();
  }
  rowsDiscarded(): void {
    this.follow();
  }
  statusChanged(): void {
    this.onChange();
  }

  // Loads the objects of the first rows. An object that is already loaded stays loaded as long as its row exists.
  private follow(): void {
    const { ref, ns, maxObjects } = this.selection;
    const { rows } = this;
    const names = new Set(rows.map((e) => e.name));
    for (const [name, store] of this.stores) {
      if (names.has(name)) continue;
      store.close();
      this.stores.delete(name);
    }
    for (const { name } of rows) {
      if (this.stores.size >= maxObjects) break;
      if (!this.stores.has(name)) this.stores.set(name, this.load(ref, { ns, name }));
    }
    this.onChange();
  }

  private load(ref: string, name: { ns: string; name: string }): ObjectStore {
    const { live, now } = this.host;
    return new ObjectStore(live, now, ref, name, this.onChange, () => undefined);
  }
}
