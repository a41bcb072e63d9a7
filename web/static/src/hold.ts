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

  /** Notes that an entry came, went (next is null), or is another now; moves: and belongs elsewhere. */
  note(key: string, old: Entry | undefined, next: Entry | null, moves: boolean): void {
    if (old === undefined && !this.gone.delete(key)) this.added.add(key);
    if (next === null && !this.added.delete(key)) this.gone.add(key);
    if (old !== undefined && next !== null && moves && !this.added.has(key)) this.moved.add(key);
  }

  /** How many rows would come, go or move; words for what waits, empty for nothing. */
  get words(): string {
    const parts = [[this.moved.size, "moved"], [this.added.size, "new"], [this.gone.size, "gone"]] as const;
    const some = parts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
    return some.join(", ");
  }
}
