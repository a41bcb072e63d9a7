// The history of one object: its oldest known version, and all later changes. Each change is a patch, which is
// applied to the version before it. Therefore, previous values are exact and never guessed.

import { immutableJSONPatch } from "immutable-json-patch";
import { valueAt } from "./paths.ts";
import type { Change, JsonObject } from "../net/wire.ts";

export interface HistoryStep {
  readonly number: number; // serial number of the step (change), higher for newer steps
  readonly change: Change;
  /** The object before an update or a delete. null if the server has not sent it. */
  readonly before: JsonObject | null;
  /** The object after an add or an update. null if the server has not sent it. */
  readonly after: JsonObject | null;
  /**
   * Set if this step represents changes that the page has missed. before and after are the object before and after
   * all of these changes. The time of the change is the time when the page received the object again.
   */
  readonly isGap?: true;
}

const maxSteps = 1000;
const maxBytes = 8 << 20; // approximate memory limit of all steps (changes) in bytes; the newest is always kept

export class History {
  /** The known changes, oldest first. */
  steps: readonly HistoryStep[] = [];
  /** The time since which the steps are complete, except for marked gaps. Empty before the first snapshot. */
  since = "";
  private current: JsonObject | null = null;
  private nextNumber = 0;
  private readonly bytes = new WeakMap<HistoryStep, number>();

  /**
   * Applies a new snapshot, which the server sends at the start and after a reconnect. The parameter object is the
   * object before the given changes, or null if it did not exist or is unknown. Earlier steps stay, because a
   * restarted server does not know them. Returns false if a change cannot be applied to the object.
   */
  applySnapshot(object: JsonObject | null, since: string, changes: readonly Change[]): boolean {
    if (!(Date.parse(since) > Date.parse(this.since))) {
      this.steps = [];
      this.since = since;
    } else this.join(object, since, changes);
    this.current = object;
    return this.add(changes);
  }

  clear(): void {
    this.steps = [];
    this.since = "";
    this.current = null;
  }

  // Adds a new snapshot to the existing steps (changes of the object). Steps that the snapshot contains too are
  // removed first. If the page missed changes before the snapshot, one step, which is marked as a gap, represents all
  // of them.
  private join(object: JsonObject | null, since: string, changes: readonly Change[]): void {
    const { steps } = this;
    const indexByVersion = new Map(steps.map((s, i) => [s.change.rv, i]));
    indexByVersion.delete("");
    const baseIndex = object === null ? undefined : indexByVersion.get(version(object));
    const repeatedIndex = changes.map((c) => indexByVersion.get(c.rv)).find((i) => i !== undefined);
    const keepCount = baseIndex !== undefined ? baseIndex + 1 : (repeatedIndex ?? steps.length);
    const keptSteps = steps.slice(0, keepCount);
    let before = keptSteps.at(-1)?.after ?? (keptSteps.length > 0 ? null : (steps[0]?.before ?? this.current));
    if (object === null ? repeatedIndex !== undefined : before !== null && version(before) === version(object))
      return void (this.steps = keptSteps);
    // If the last step is a gap (missed changes) too, merge both gaps into one. Keep them separate if the object is
    // known after the first gap, but not after the second one.
    const last = keptSteps.at(-1);
    if (last?.isGap && (object !== null || last.after === null)) ({ before } = keptSteps.pop() as HistoryStep);
    const uid = String(metadataField(object ?? before, "uid") ?? "");
    const change: Change = {
      op: "update",
      ns: "",
      name: "",
      uid,
      rv: "",
      time: since,
      patch: object === null || before === null ? [] : [{ op: "replace", path: "", value: object }],
    };
    const step: HistoryStep = { number: this.nextNumber++, change, before, after: object, isGap: true };
    this.bytes.set(step, object === null ? 0 : estimateBytes(object));
    this.steps = [...keptSteps, step];
  }

  /** Appends new changes. Returns false if a change cannot be applied to the object. */
  add(changes: readonly Change[]): boolean {
    const steps = [...this.steps];
    for (const change of changes) {
      const before =
        this.current !== null && valueAt(this.current, ["metadata", "uid"]) === change.uid ? this.current : null;
      if (change.op === "add") this.current = change.object ?? null;
      else if (change.op === "delete" || before === null) this.current = null;
      else {
        try {
          this.current = immutableJSONPatch(before, change.patch.slice()) as JsonObject;
        } catch {
          return false;
        }
      }
      const step = {
        number: this.nextNumber++,
        change,
        before: change.op === "add" ? null : before,
        after: this.current,
      };
      this.bytes.set(step, this.current === null ? estimateBytes(change.patch) : estimateBytes(this.current, before));
      steps.push(step);
    }
    const dropped = steps.splice(0, steps.length - this.countWithinLimits(steps));
    if (dropped.length > 0) this.since = dropped.at(-1)?.change.time ?? this.since;
    this.steps = steps;
    return true;
  }

  // Returns how many of the newest steps fit into maxSteps and maxBytes.
  private countWithinLimits(steps: readonly HistoryStep[]): number {
    let [n, bytes] = [0, 0];
    for (; n < Math.min(steps.length, maxSteps); n++) {
      bytes += this.bytes.get(steps[steps.length - 1 - n] as HistoryStep) ?? 0;
      if (n > 0 && bytes > maxBytes) break;
    }
    return n;
  }
}

const metadataField = (object: JsonObject | null, name: string): unknown => valueAt(object, ["metadata", name]);
const version = (object: JsonObject): string => String(metadataField(object, "resourceVersion") ?? "");

// Estimates the memory of a value in bytes. Parts that are shared with the previous value (before) are not counted.
function estimateBytes(value: unknown, before?: unknown): number {
  if (value === before) return 0;
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 8;
  const old = typeof before === "object" && before !== null ? (before as JsonObject) : {};
  let bytes = 16;
  for (const [key, v] of Object.entries(value)) bytes += 16 + estimateBytes(v, old[key]);
  return bytes;
}
