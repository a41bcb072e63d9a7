// The history of one object. It applies the patch of each change, so that it knows the exact object after each change.

import { immutableJSONPatch } from "immutable-json-patch";
import { valueAt } from "./paths.ts";
import type { Change, JsonObject } from "../net/wire.ts";

export interface HistoryStep {
  readonly number: number;
  readonly change: Change;
  /** The object before the change. null if it did not exist or is unknown. */
  readonly before: JsonObject | null;
  /** The object after the change. null if it was deleted or is unknown. */
  readonly after: JsonObject | null;
  /** Set if the step represents changes that the page missed, for example while it was disconnected. */
  readonly isGap?: true;
}

const maxSteps = 1000;
const maxBytes = 8 << 20; // limit of the estimated memory for all steps; the newest step is kept even if it is larger

export class History {
  /** The changes of the object, oldest first. */
  steps: readonly HistoryStep[] = [];
  /** The start of the history. All later changes are known, except those in gaps. Empty before the first snapshot. */
  since = "";
  private current: JsonObject | null = null;
  private nextNumber = 0;
  private readonly bytes = new WeakMap<HistoryStep, number>();

  /**
   * Applies a snapshot: `object` is the state before `changes`, which are then applied. Returns false if a patch does
   * not apply.
   */
  applySnapshot(object: JsonObject | null, since: string, changes: readonly Change[]): boolean {
    // If the server's changes start later than this history, for example after a restart of the server, keep the
    // earlier steps.
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

  // Appends a snapshot to the existing steps, without duplicates. Changes that the page missed become one gap step.
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
    // If the previous step is a gap too, merge both gaps, unless the object is known after the previous gap and unknown
    // after this gap. The merged step would lose the known object.
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

  /** Adds changes. Returns false if a patch does not apply. */
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

// Returns the approximate memory of a value in bytes. Excludes parts that its previous version `before` also contains.
function estimateBytes(value: unknown, before?: unknown): number {
  if (value === before) return 0;
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 8;
  const old = typeof before === "object" && before !== null ? (before as JsonObject) : {};
  let bytes = 16;
  for (const [key, v] of Object.entries(value)) bytes += 16 + estimateBytes(v, old[key]);
  return bytes;
}
