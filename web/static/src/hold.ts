// A Hold is a frozen order of rows. While the pointer is over the table, rows stay at their positions, and show their
// present content. Removed rows are struck through. New and moved rows wait until the order is no longer frozen.

import type { Entry } from "./ordered.ts";

export class Hold {
  private readonly added = new Set<string>();
  private readonly moved = new Set<string>();
  private readonly gone = new Set<string>();

  /** entries: the rows in the frozen order. */
  constructor(readonly entries: readonly Entry[]) {}

  /** Records a change of a row. was, is: whether it existed before and exists now. moves: its position has changed. */
  note(key: string, was: boolean, is: boolean, moves: boolean): void {
    const back = is && this.gone.delete(key);
    if (!was && is && !back) this.added.add(key);
    if (was && !is) {
      this.moved.delete(key);
      if (!this.added.delete(key)) this.gone.add(key);
    }
    if (was && is && moves && !this.added.has(key)) this.moved.add(key);
  }

  /**
    * Describes the changes that wait: how many rows were added, removed or moved; empty for none. more: by how much the
    * total has grown, for a list of which the page does not have all rows.
   */
  words(more = this.added.size - this.gone.size): string {
    const unseen = more - this.added.size + this.gone.size;
    const parts = [
      [this.moved.size, "moved"],
      [this.added.size + Math.max(0, unseen), "new"],
      [this.gone.size + Math.max(0, -unseen), "removed"],
    ] as const;
    const some = parts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
    return some.join(", ");
  }
}
