// The history of one object: its oldest known version, and the changes since. Each change is a patch, which is applied
// to the version before it. So previous values are known exactly, and never guessed.

import { immutableJSONPatch } from "immutable-json-patch";
import { valueAt } from "./paths.ts";
import type { Change, JsonObject } from "../net/wire.ts";

export interface HistoryStep {
  readonly number: number; // a serial number, higher for newer steps
  readonly change: Change;
  /** The object before an update or a delete; null if the server never sent it. */
  readonly before: JsonObject | null;
  /** The object after an update or an add; null if the server never sent it. */
  readonly after: JsonObject | null;
  /**
   * Set if this step represents any number of missed changes. before and after are the object before and after them.
   * The time of the change is when the object became known again.
   */
  readonly isGap?: true;
}

const maxSteps = 1000; // the maximum number of steps
const maxBytes = 8 << 20; // the approximate memory limit for all steps, in bytes; the newest step may exceed it

export class History {
  /** The known changes, oldest first. */
  steps: readonly HistoryStep[] = [];
  /** The time from which on the steps are complete, except for marked gaps; empty before the first snapshot. */
  since = "";
  private current: JsonObject | null = null;
  private nextNumber = 0;
  private readonly bytes = new WeakMap<HistoryStep, number>();

  /**
   * Applies a new snapshot. object: the object before the changes; null if it did not exist or is not known. Steps
   * from before the snapshot stay, because a restarted server does not know that time. Returns false if a change does
   * not match the object.
   */
  applySnapshot(object: JsonObject | null, since: string, changes: readonly Change[]): boolean {
    if (!(Date.parse(since) > Date.parse(this.since))) {
      this.steps = [];
      this.since = since;
    } else this.join(object, since, changes);
    this.current = object;
    return this.add(changes);
  }

  /** Discards all steps. */
  clear(): void {
    this.steps = [];
    this.since = "";
    this.current = null;
  }

  // Appends a snapshot to the steps. It first removes the steps that the snapshot repeats. If changes between the
  // remaining steps and the snapshot were missed, it appends one step that represents all of them.
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
    // If the last step is a gap already, replace it by one longer gap, unless its end is known and that of the new is
    // not.
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

  /** Appends new changes. Returns false if a change does not match the object. */
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

  // Returns how many of the newest steps fit within the limits.
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

// Estimates the memory in bytes of a value, without the parts that it shares with before.
function estimateBytes(value: unknown, before?: unknown): number {
  if (value === before) return 0;
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 8;
  const old = typeof before === "object" && before !== null ? (before as JsonObject) : {};
  let bytes = 16;
  for (const [key, v] of Object.entries(value)) bytes += 16 + estimateBytes(v, old[key]);
  return bytes;
}
