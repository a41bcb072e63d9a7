// A FrozenOrder keeps the order of rows while the mouse pointer is over the table. Rows stay at their positions and
// show their current content. Deleted rows are struck through. New and moved rows wait until the order is unfrozen.

import type { Entry } from "./row-source.ts";

export class FrozenOrder {
  private readonly added = new Set<string>();
  private readonly moved = new Set<string>();
  private readonly removed = new Set<string>();

  /** entries are the rows in the frozen order. */
  constructor(readonly entries: readonly Entry[]) {}

  /**
   * Records a change of a row. existed and exists report whether the row was in the list before and after the change.
   * hasMoved reports whether its position has changed.
   */
  recordChange(key: string, existed: boolean, exists: boolean, hasMoved: boolean): void {
    const returned = exists && this.removed.delete(key);
    if (!existed && exists && !returned) this.added.add(key);
    if (existed && !exists) {
      this.moved.delete(key);
      if (!this.added.delete(key)) this.removed.add(key);
    }
    if (existed && exists && hasMoved && !this.added.has(key)) this.moved.add(key);
  }

  /**
   * Describes the waiting changes, such as "2 moved, 1 new", or returns an empty text. `totalGrowth` is the change in
   * the list's total number of rows, if the page has only a part of the list.
   */
  pendingText(totalGrowth = this.added.size - this.removed.size): string {
    const notLoaded = totalGrowth - this.added.size + this.removed.size;
    const parts = [
      [this.moved.size, "moved"],
      [this.added.size + Math.max(0, notLoaded), "new"],
      [this.removed.size + Math.max(0, -notLoaded), "removed"],
    ] as const;
    const nonEmpty = parts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
    return nonEmpty.join(", ");
  }
}
