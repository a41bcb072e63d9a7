// A FrozenOrder keeps the order of rows. While the pointer is over the table, rows stay at their positions, and show
// their present content. Removed rows are struck through. New and moved rows wait until the order is no longer frozen.

import type { Entry } from "./row-source.ts";

export class FrozenOrder {
  private readonly added = new Set<string>();
  private readonly moved = new Set<string>();
  private readonly removed = new Set<string>();

  /** entries: the rows in the frozen order. */
  constructor(readonly entries: readonly Entry[]) {}

  /**
   * Records a change of a row. existed, exists: whether it existed before and exists now. hasMoved: its position has
   * changed.
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
   * Describes the changes that wait: how many rows were added, removed or moved; empty for none. totalGrowth: by how
   * much the total has grown, for a list of which the page does not have all rows.
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
