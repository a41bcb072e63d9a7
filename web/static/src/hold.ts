// A frozen row order. While the pointer is over the rows, no row moves. Rows keep their position and show their present
// content. Removed rows are struck through. New and moved rows wait until the order is released.

import type { Entry } from "./ordered.ts";

export class Hold {
  private readonly added = new Set<string>();
  private readonly moved = new Set<string>();
  private readonly gone = new Set<string>();

  /** entries are the rows in the order to keep. */
  constructor(readonly entries: readonly Entry[]) {}

  /** Records whether a row was in this order, and whether it is now; moves: its position changes. */
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
   * Describes the waiting rows: how many were added, removed or moved; empty for none. more is how many more rows there
   * are now, if the page does not have all of them.
   */
  words(more = this.added.size - this.gone.size): string {
    const unseen = more - this.added.size + this.gone.size;
    const parts = [
      [this.moved.size, "moved"],
      [this.added.size + Math.max(0, unseen), "new"],
      [this.gone.size + Math.max(0, -unseen), "gone"],
    ] as const;
    const some = parts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
    return some.join(", ");
  }
}
