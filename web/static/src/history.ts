// The history of one object: the object before the first change, and the changes. Each patch is applied to the result
// of the one before it. So previous values are known exactly, and never guessed.

import { immutableJSONPatch } from "immutable-json-patch";
import { at } from "./paths.ts";
import type { Change, Tree } from "./wire.ts";

export interface Step {
  readonly number: number; // increases from the oldest on
  readonly change: Change;
  /** The object before an update or a delete; null if the server never sent it. */
  readonly before: Tree | null;
  /** The object after an update or an add; null as above. */
  readonly after: Tree | null;
  /**
   * This step replaces any number of missed changes. before and after are the object on both sides of the gap. The time
   * of the change is when the object was known again.
   */
  readonly missed?: true;
}

const most = 1000; // the most steps that are kept
const mostBytes = 8 << 20; // bytes, about how much the steps may take together; the newest one is always kept

export class History {
  /** Oldest first. */
  steps: readonly Step[] = [];
  /** Every change after this time is among the steps, except for missed ones; empty while nothing is known. */
  since = "";
  private now: Tree | null = null;
  private next = 0;
  private readonly bytes = new WeakMap<Step, number>();

  /**
   * Starts from a new snapshot: the object before the given changes, null if it did not exist or is not known. Steps
   * from before the snapshot stay, because a restarted server knows nothing of that time. Returns false if a change
   * does not match the object.
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

  // Removes the steps that the snapshot repeats, and adds one for the missed changes behind the rest.
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
    // Two gaps with nothing between become one, unless the new one knows less.
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

  /** Adds changes that happened since. Returns false if a change does not match the object. */
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

// Estimates the bytes of a value that it does not share with the one before it.
function taken(value: unknown, before?: unknown): number {
  if (value === before) return 0;
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 8;
  const old = typeof before === "object" && before !== null ? (before as Tree) : {};
  let bytes = 16;
  for (const [key, v] of Object.entries(value)) bytes += 16 + taken(v, old[key]);
  return bytes;
}
