// An order that stands still. While the pointer is over the rows nothing may
// move under it: rows stay where they are, each as it is now, those that went
// are struck, and what came, or belongs elsewhere, waits to be let in.

import type { Entry } from "./ordered.ts";

export class Hold {
  private readonly added = new Set<string>();
  private readonly moved = new Set<string>();
  private readonly gone = new Set<string>();

  /** entries are the rows in the order to be kept. */
  constructor(readonly entries: readonly Entry[]) {}

  /** Notes whether a row was, and is, among those in this order; moves: its place is another. */
  note(key: string, was: boolean, is: boolean, moves: boolean): void {
    const back = is && this.gone.delete(key);
    if (!was && is && !back) this.added.add(key);
    if (was && !is) {
      this.moved.delete(key);
      if (!this.added.delete(key)) this.gone.add(key);
    }
    if (was && is && moves && !this.added.has(key)) this.moved.add(key);
  }

  /** How many rows would come, go or move; words for what waits, empty for nothing. more: how many rows more there are now, where not all are seen. */
  words(more = this.added.size - this.gone.size): string {
    const unseen = more - this.added.size + this.gone.size;
    const parts = [[this.moved.size, "moved"], [this.added.size + Math.max(0, unseen), "new"], [this.gone.size + Math.max(0, -unseen), "gone"]] as const;
    const some = parts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
    return some.join(", ");
  }
}
