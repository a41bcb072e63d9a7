// Keeps table rows at their positions while the mouse pointer is over the table. New rows appear, and moved rows move,
// only after the pointer has left the table.

import type { Entry } from "./row-source.ts";

export class FrozenOrder {
  private readonly added = new Set<string>();
  private readonly moved = new Set<string>();
  private readonly removed = new Set<string>();

  constructor(readonly entries: readonly Entry[]) {}

  /**
   * Records that a row changed. `existed` and `exists` state whether the list contains the row before and after the
   * change. `hasMoved` states whether its position changed.
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
   * Returns a text such as "2 moved, 1 new". The parameter totalGrowth is the growth of the complete list in rows
   * (negative if it shrank), including rows that the page has not loaded.
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
