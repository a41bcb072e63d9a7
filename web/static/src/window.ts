// The rows of a table that are looked at, of more than a page should hold: the
// server keeps all of them in order, and tells those of a window and what
// changes in it.

import { Hold } from "./hold.ts";
import { entryOf, withCells, type Entry, type Ordered } from "./ordered.ts";
import type { Column, Message } from "./wire.ts";

/** How many rows a window has: some screens, so that a scroll finds them there. */
export const windowRows = 400;

type Whole = Extract<Message, { type: "window" }>;
type Events = Extract<Message, { type: "window-events" }>;

export class Window implements Ordered {
  readonly whole = false;
  readonly arriving = 0;
  columns: readonly Column[] = [];
  version = 0;
  complete = false;
  total = 0;
  matching = 0;
  private offset = 0;
  private entries: Entry[] = [];
  private byKey = new Map<string, Entry>();
  private order: Hold | null = null;
  private asked = 0; // the offset that was asked for last
  private wanted: readonly [number, number] = [0, 0];
  private waits = false; // for what was asked for

  /** move asks the server for the rows from an offset on. */
  constructor(private readonly move: (offset: number) => void) {}

  get length(): number {
    return this.matching;
  }

  get held(): boolean {
    return this.order !== null;
  }

  get waiting(): string {
    return this.order?.words ?? "";
  }

  indexOf(key: string): number {
    const at = (this.order?.entries ?? this.entries).findIndex((e) => e.key === key);
    return at < 0 ? -1 : this.offset + at;
  }

  get(key: string): Entry | undefined {
    return this.byKey.get(key);
  }

  all(): Iterable<Entry> {
    return this.entries;
  }

  slice(from: number, to: number): readonly (Entry | undefined)[] {
    this.want(from, to);
    const kept = this.order?.entries ?? this.entries;
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => {
      const e = kept[from + i - this.offset];
      return e === undefined ? undefined : (this.byKey.get(e.key) ?? e);
    });
  }

  /** Only some of the rows are here. */
  count(): null {
    return null;
  }

  /** The order is the server's. */
  compare(a: Entry, b: Entry): number {
    return this.entries.indexOf(a) - this.entries.indexOf(b);
  }

  hold(on: boolean): void {
    if (on === this.held) return;
    this.order = on ? new Hold([...this.entries]) : null;
    this.version++;
  }

  /** Asks for what is wanted where it is not held, one request at a time. */
  private want(from: number, to: number): void {
    this.wanted = [from, to];
    const end = Math.min(to, this.matching);
    if (this.waits || (from >= this.asked && end <= this.asked + windowRows)) return;
    const offset = Math.max(0, Math.floor((from + to - windowRows) / 2));
    if (offset === this.asked) return;
    this.asked = offset;
    this.waits = true;
    this.order = null; // What is looked at is elsewhere.
    this.move(offset);
  }

  /** Takes a message. False: it does not fit what is held, so all must be asked for anew. */
  apply(m: Whole | Events): boolean {
    this.version++;
    return m.type === "window" ? this.replace(m) : this.change(m);
  }

  private replace(m: Whole): boolean {
    if (m.columns !== null) this.columns = m.columns;
    else if (!this.complete) return false;
    const old = this.byKey;
    this.entries = m.rows.map((r) => {
      const e = entryOf(r, false, null);
      const before = old.get(e.key);
      return before !== undefined && before.uid === e.uid && before.rv === e.rv ? before : e;
    });
    this.offset = this.asked = m.offset;
    this.take(m);
    this.waits = false;
    this.order = null;
    this.complete = true;
    this.want(...this.wanted);
    return true;
  }

  private change(m: Events): boolean {
    if (!this.complete) return false;
    const before = this.byKey;
    for (const e of m.events) {
      switch (e.op) {
        case "insert":
          if (e.at > this.entries.length) return false;
          this.entries.splice(e.at, 0, entryOf(e.row, true, e.by ?? null));
          break;
        case "remove":
          if (this.entries.splice(e.at, 1).length === 0) return false;
          break;
        case "update": {
          const old = this.entries[e.at];
          if (old === undefined || old.uid !== e.uid) return false;
          const cells = withCells(old, e.cells);
          if (cells === null) return false;
          this.entries[e.at] = entryOf({ ...old, rv: e.rv, cells }, false, e.by ?? null);
        }
      }
    }
    this.take(m);
    this.note(before);
    return true;
  }

  private take({ total, matching }: Whole | Events): void {
    this.total = total;
    this.matching = matching;
    this.byKey = new Map(this.entries.map((e) => [e.key, e]));
  }

  // Tells the kept order what came into the window, went out of it, or is elsewhere in it.
  private note(before: ReadonlyMap<string, Entry>): void {
    const { order } = this;
    if (order === null) return;
    for (const [key, old] of before) if (!this.byKey.has(key)) order.note(key, old, null, true);
    for (const e of this.entries) if (!before.has(e.key)) order.note(e.key, undefined, e, false);
  }
}
