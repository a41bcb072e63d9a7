// The rows of a window, the loaded part of a list that is too long for the page. The server sorts and filters all rows.
// It sends the rows of the window, and their changes.

import { Hold } from "./hold.ts";
import { changedEntry, entryOf, keyOf, namedFor, type Entry, type Ordered } from "./ordered.ts";
import type { Tone } from "./tone.ts";
import type { Column, Message, WindowEvent } from "./wire.ts";

/** The number of rows in a window. It is several screens, so that the rows are loaded already for short scrolls. */
export const windowRows = 400;

/**
  * Returns the offset of the window to request for a scroll position place: half of its rows are before that position,
  * and half after it.
 */
export const windowAt = (place: number): number => Math.max(0, place - windowRows / 2);

type Whole = Extract<Message, { type: "window" }>;
type Events = Extract<Message, { type: "window-events" }>;
type Removed = Extract<WindowEvent, { op: "remove" }>["why"];

// The state of the rows while their order is frozen: the loaded rows, and the total count when it froze.
interface Kept {
  readonly hold: Hold;
  readonly keys: ReadonlySet<string>;
  readonly matching: number;
  readonly left: Map<string, Entry>; // rows that have since left the window, in their version at that time
}

export class Window implements Ordered {
  readonly arriving = 0;
  columns: readonly Column[] = [];
  version = 0;
  complete = false;
  total = 0;
  matching = 0;
  private offset = 0;
  private entries: Entry[] = [];
  private byKey = new Map<string, Entry>();
  private readonly went = new Set<string>(); // keys of the rows that were deleted most recently
  private trouble = { bad: 0, warn: 0 };
  private order: Kept | null = null;
  private asked = 0; // the offset that was requested last
  private wanted: readonly [number, number] = [0, 0];
  private waits = false; // whether a request is pending
  private seeks = false; // whether the pending request is for the position of an object

  /** move: requests the rows from an offset on, or the rows around an object, from the server. */
  constructor(private readonly move: (offset: number, around?: { ns: string; name: string }) => void) {}

  get length(): number {
    return this.order?.matching ?? this.matching;
  }

  get held(): boolean {
    return this.order !== null;
  }

  get waiting(): string {
    return this.order?.hold.words(this.matching - this.order.matching) ?? "";
  }

  indexOf(key: string): number {
    const at = this.places.findIndex((e) => e.key === key);
    return at < 0 ? -1 : this.offset + at;
  }

  get(key: string): Entry | undefined {
    return this.byKey.get(key);
  }

  seek(ns: string, name: string): boolean {
    if (!this.complete) return false;
    this.waits = this.seeks = true;
    this.order = null;
    this.move(this.offset, { ns, name });
    return true;
  }

  gone(key: string): boolean {
    return this.went.has(key);
  }

  all(): Iterable<Entry> {
    return this.entries;
  }

  private get places(): readonly Entry[] {
    return this.order?.hold.entries ?? this.entries;
  }

  slice(from: number, to: number): readonly (Entry | undefined)[] {
    this.want(from, to);
    const kept = this.places;
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => {
      const e = kept[from + i - this.offset];
      return e === undefined ? undefined : (this.byKey.get(e.key) ?? this.order?.left.get(e.key) ?? e);
    });
  }

  count(tone: Tone): number {
    return this.trouble[tone];
  }

  hold(on: boolean): void {
    if (on === this.held) return;
    this.order = on
      ? {
          hold: new Hold([...this.entries]),
          keys: new Set(this.byKey.keys()),
          matching: this.matching,
          left: new Map(),
        }
      : null;
    if (!on) this.version++; // Freezing changes nothing that is visible.
  }

  /** Requests the rows from from to to if they are not loaded. Only one request is sent at a time. */
  private want(from: number, to: number): void {
    this.wanted = [from, to];
    const end = Math.min(to, this.matching);
    if (this.waits || from === to || (from >= this.asked && end <= this.asked + windowRows)) return;
    const offset = Math.max(0, Math.floor((from + to - windowRows) / 2));
    if (offset === this.asked) return;
    this.asked = offset;
    this.waits = true;
    this.order = null; // Unfreeze the order, because the user has scrolled to another part of the list.
    this.move(offset);
  }

  /** Applies a message. Returns false if it contradicts the present rows, so that all must be requested again. */
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
    // Unfreeze the order if this is another window. It stays if the server sends all rows of the same window again,
    // because most have changed.
    if (m.columns !== null || m.offset !== this.offset) this.order = null;
    this.offset = this.asked = m.offset;
    this.take(m);
    this.waits = false;
    this.complete = true;
    // This may be the answer to seek, the request for an object's position. Then the table requests what it still
    // needs.
    if (!this.seeks) this.want(...this.wanted);
    this.seeks = false;
    return true;
  }

  private change(m: Events): boolean {
    if (!this.complete) return false;
    const removed = new Map<string, Removed>();
    const all = this.matching === this.total && m.matching === m.total;
    for (const e of m.events) {
      switch (e.op) {
        case "insert": {
          if (e.at > this.entries.length) return false;
          const next = entryOf(e.row, true, namedFor(this.byKey.get(keyOf(e.row.ns, e.row.name)), e.by ?? null));
          this.entries.splice(e.at, 0, next);
          // If there is no filter, an inserted row that has an author was changed, and so moved here from elsewhere.
          this.order?.hold.note(
            next.key,
            true,
            true,
            removed.has(next.key) ? removed.get(next.key) === "moved" : all && e.by !== undefined,
          );
          break;
        }
        case "remove": {
          const [old] = this.entries.splice(e.at, 1);
          if (old === undefined) return false;
          removed.set(old.key, e.why);
          const now =
            e.now === undefined
              ? null
              : changedEntry({ ...old, added: false }, e.now.rv, e.now.cells, e.now.by ?? null);
          if (now !== null) this.order?.left.set(old.key, now);
          break;
        }
        case "update": {
          const old = this.entries[e.at];
          if (old === undefined || old.uid !== e.uid) return false;
          const next = changedEntry(old, e.rv, e.cells, e.by ?? null);
          if (next === null) return false;
          this.entries[e.at] = next;
        }
      }
    }
    this.take(m);
    for (const [key, why] of removed) if (!this.byKey.has(key)) this.goes(key, why);
    return true;
  }

  private take({ total, matching, failing, waiting }: Whole | Events): void {
    this.total = total;
    this.matching = matching;
    this.trouble = { bad: failing, warn: waiting };
    this.byKey = new Map(this.entries.map((e) => [e.key, e]));
    for (const key of this.went) if (this.byKey.has(key)) this.went.delete(key);
  }

  private goes(key: string, why: Removed): void {
    if (why === "gone") this.went.add(key);
    for (const oldest of this.went) if (this.went.size > windowRows) this.went.delete(oldest);
    // Count a removed row as a pending change, unless other rows only pushed it out of the window. A row that came
    // after the order was frozen is counted already.
    if (why !== undefined && (why === "moved" || this.order?.keys.has(key) === true))
      this.order?.hold.note(key, true, why === "moved", true);
  }
}
