// The past of one object as the wire tells it: how the object was before the
// first change, and the changes. Each patch is applied to what the one before it
// left, so that what stood at a place before is known exactly, never guessed.

import { immutableJSONPatch } from "immutable-json-patch";
import { at } from "./paths.ts";
import type { Change, Tree } from "./wire.ts";

export interface Step {
  readonly number: number; // rises from the oldest on
  readonly change: Change;
  /** The object that an update changed, or that was deleted; null where it was never told. */
  readonly before: Tree | null;
  /** What an update or an add left; null as above. */
  readonly after: Tree | null;
}

const most = 1000; // steps that are kept

export class History {
  /** Oldest first. */
  steps: readonly Step[] = [];
  /** After this time every change is among the steps; empty while nothing is known. */
  since = "";
  private now: Tree | null = null;
  private next = 0;

  /** Begins anew: an object before some changes, null where there was none or it is not known. False: they do not fit each other. */
  begin(object: Tree | null, since: string, changes: readonly Change[]): boolean {
    this.now = object;
    this.since = since;
    this.steps = [];
    return this.add(changes);
  }

  /** Takes what has happened since. False: it does not fit what is held. */
  add(changes: readonly Change[]): boolean {
    const steps = [...this.steps];
    for (const change of changes) {
      const before = this.now !== null && at(this.now, ["metadata", "uid"]) === change.uid ? this.now : null;
      if (change.op === "add") this.now = change.object ?? null;
      else if (change.op === "delete" || before === null) this.now = null;
      else {
        try {
          this.now = immutableJSONPatch(before, change.patch.slice()) as Tree;
        } catch {
          return false;
        }
      }
      steps.push({ number: this.next++, change, before: change.op === "add" ? null : before, after: this.now });
    }
    const gone = steps.splice(0, Math.max(0, steps.length - most));
    if (gone.length > 0) this.since = gone.at(-1)?.change.time ?? this.since;
    this.steps = steps;
    return true;
  }
}
