// The history of one object: its oldest known version, and the changes since. Each change is a patch, which is applied
// to the version before it. So previous values are known exactly, and never guessed.

import { immutableJSONPatch } from "immutable-json-patch";
import { at } from "./paths.ts";
import type { Change, Tree } from "./wire.ts";

export interface Step {
  readonly number: number; // a serial number, higher for newer steps
  readonly change: Change;
  /** The object before an update or a delete; null if the server never sent it. */
  readonly before: Tree | null;
  /** The object after an update or an add; null if the server never sent it. */
  readonly after: Tree | null;
  /**
    * Set if this step stands for any number of missed changes. before and after are the object before and after them.
    * The time of the change is when the object became known again.
   */
  readonly missed?: true;
}

const most = 1000; // the maximum number of steps
const mostBytes = 8 << 20; // the approximate memory limit for all steps, in bytes; the newest step may exceed it

export class History {
  /** The known changes, oldest first. */
  steps: readonly Step[] = [];
  /** The time from which on the steps are complete, except for marked gaps; empty before the first snapshot. */
  since = "";
  private now: Tree | null = null;
  private next = 0;
  private readonly bytes = new WeakMap<Step, number>();

  /**
    * Applies a new snapshot. object: the object before the changes; null if it did not exist or is not known. Steps
    * from before the snapshot stay, because a restarted server does not know that time. Returns false if a change does
    * not match the object.
   */
  begin(object: Tree | null, since: string, changes: readonly Change[]): boolean {
    if (!(Date.parse(since) > Date.parse(this.since))) {
      this.steps = [];
      this.since = since;
    } else this.join(object, since, changes);
    this.now = object;
    return this.add(changes);
  }

  /** Discards all steps. */
  forget(): void {
    this.steps = [];
    this.since = "";
    this.now = null;
  }

  // Joins the steps so far with a snapshot: removes the steps that the snapshot repeats. If changes between the rest
  // and the snapshot were missed, it appends one step for them.
  private join(object: Tree | null, since: string, changes: readonly Change[]): void {
    const { steps } = this;
    const held = new Map(steps.map((s, i) => [s.change.rv, i]));
    held.delete("");
    const base = object === null ? undefined : held.get(version(object));
    const again = changes.map((c) => held.get(c.rv)).find((i) => i !== undefined);
    const cut = base !== undefined ? base + 1 : (again ?? steps.length);
    const kept = steps.slice(0, cut);
    let before = kept.at(-1)?.after ?? (kept.length > 0 ? null : (steps[0]?.before ?? this.now));
    if (object === null ? again !== undefined : before !== null && version(before) === version(object))
      return void (this.steps = kept);
    // If the last step is a gap already, replace it by one longer gap, unless its end is known and that of the new is
    // not.
    const last = kept.at(-1);
    if (last?.missed && (object !== null || last.after === null)) ({ before } = kept.pop() as Step);
    const uid = String(ofObject(object ?? before, "uid") ?? "");
    const change: Change = {
      op: "update",
      ns: "",
      name: "",
      uid,
      rv: "",
      time: since,
      patch: object === null || before === null ? [] : [{ op: "replace", path: "", value: object }],
    };
    const step: Step = { number: this.next++, change, before, after: object, missed: true };
    this.bytes.set(step, object === null ? 0 : taken(object));
    this.steps = [...kept, step];
  }

  /** Appends new changes. Returns false if a change does not match the object. */
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
      const step = { number: this.next++, change, before: change.op === "add" ? null : before, after: this.now };
      this.bytes.set(step, this.now === null ? taken(change.patch) : taken(this.now, before));
      steps.push(step);
    }
    const gone = steps.splice(0, steps.length - this.fitting(steps));
    if (gone.length > 0) this.since = gone.at(-1)?.change.time ?? this.since;
    this.steps = steps;
    return true;
  }

  // Returns how many of the newest steps fit within the limits.
  private fitting(steps: readonly Step[]): number {
    let [n, bytes] = [0, 0];
    for (; n < Math.min(steps.length, most); n++) {
      bytes += this.bytes.get(steps[steps.length - 1 - n] as Step) ?? 0;
      if (n > 0 && bytes > mostBytes) break;
    }
    return n;
  }
}

const ofObject = (object: Tree | null, name: string): unknown => at(object, ["metadata", name]);
const version = (object: Tree): string => String(ofObject(object, "resourceVersion") ?? "");

// Estimates the memory in bytes of a value, without the parts that it shares with before.
function taken(value: unknown, before?: unknown): number {
  if (value === before) return 0;
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 8;
  const old = typeof before === "object" && before !== null ? (before as Tree) : {};
  let bytes = 16;
  for (const [key, v] of Object.entries(value)) bytes += 16 + taken(v, old[key]);
  return bytes;
}
