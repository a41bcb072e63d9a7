// Subscribes to one object, keeps its newest version, and calls a function after each change.

import { immutableJSONPatch } from "immutable-json-patch";
import { clockTime } from "../text/age.ts";
import type { Handler, Live, Subscription } from "../net/live.ts";
import { receivedText, type SubscriptionInfo } from "./status.ts";
import type { ObjectName } from "./view.ts";
import type { ChangeAuthor, Health, Message, ObjectEvent, Problem, State, JsonObject, Verdict } from "../net/wire.ts";
import { readVerdict } from "../net/verdict.ts";

export interface LastChange {
  readonly op: ObjectEvent["op"];
  readonly at: string; // time of the change in RFC 3339 format
  readonly by: readonly ChangeAuthor[]; // authors of the change, newest first; empty if unknown
  readonly before: JsonObject | null; // the object before the change; null if unknown
}

/** Describes the last change of an object, such as "14:03:05 changed by kubelet (status)". */
export function lastChangeText(last: LastChange, now: number): string {
  const verb = { add: "created", update: "changed", delete: "deleted" }[last.op];
  const names = last.by.map((a) => `${a.manager}${a.subresource === "" ? "" : ` (${a.subresource})`}`);
  return `${clockTime(last.at, now)} ${verb}${names.length === 0 ? "" : ` by ${[...new Set(names)].join(", ")}`}`;
}

export class ObjectStore implements Handler {
  /** The newest version that arrived, even if the object was deleted later. */
  object: JsonObject | null = null;
  health: Health | null = null;
  verdict: Verdict = readVerdict(undefined);
  last: LastChange | null = null;
  /** Time of the deletion: "" if it is unknown, null while the object exists. */
  deletedAt: string | null = null;
  /** A text such as "3 of 12 KiB received" while a long message arrives, otherwise empty. */
  progress = "";
  private isLoaded = false;
  private isReloading = false;
  private state: State | null = null;
  private problem: Problem | null = null;
  private readonly subscription: Subscription;

  constructor(
    private readonly live: Live,
    private readonly now: () => number,
    ref: string,
    name: ObjectName,
    private readonly onChange: () => void,
    /** Called when the server sends the object again, because it cannot replay the changes that the page missed. */
    private readonly onReset: () => void,
  ) {
    this.subscription = live.subscribe(
      { resource: ref, ...(name.ns === "" ? {} : { ns: [name.ns] }), name: name.name, view: "object" },
      this,
    );
  }

  close(): void {
    this.subscription.close();
  }

  get isMissing(): boolean {
    return this.isLoaded && this.object === null && this.problem === null;
  }

  info(): SubscriptionInfo {
    const { connection, since, closeReason } = this.live;
    return {
      connection,
      since,
      closeReason,
      state: this.state,
      stale: null,
      isComplete: this.isLoaded,
      arriving: 0,
      expected: 0,
      problem: this.problem,
      isReloading: this.isReloading,
    };
  }

  restart(): void {
    this.isLoaded = false;
    this.progress = "";
    this.onChange();
  }

  /** Called when the connection is lost, and when it is restored. */
  reconnected(): void {
    if (this.live.connection !== "open") this.state = null;
    this.onChange();
  }

  part(received: number, of: number): void {
    this.progress = receivedText(received, of);
    this.onChange();
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    this.progress = "";
    if (m.type === "object") this.applySnapshot(m);
    else if (m.type === "object-events") this.applyEvents(m);
    else if (m.type === "reset") this.noteReset(m.reason);
    else if (m.type === "state") {
      this.state = m;
      // After a loss of permission, the object must not stay on the screen.
      if (m.state === "forbidden") this.object = this.last = null;
    } else if (m.type === "error") {
      this.problem = m.problem;
      this.object = this.last = null;
    }
    this.onChange();
  }

  // Counts a reset (the server sends the object again). Ignores the reset if no object is loaded, or if the page
  // already waits for an object.
  private noteReset(reason: string): void {
    if (this.object === null || this.isReloading) return;
    this.isReloading = true;
    this.live.reset(reason);
    this.onReset();
  }

  private applySnapshot({ object, health, verdict }: Extract<Message, { type: "object" }>): void {
    this.isLoaded = true;
    this.isReloading = false;
    this.problem = null;
    // If the snapshot has another version than the page, the page missed changes. So the latest change is unknown.
    if (object === null ? this.deletedAt === null : version(object) !== version(this.object)) this.last = null;
    if (object !== null) this.deletedAt = null;
    else if (this.object !== null) this.deletedAt ??= "";
    this.object = object ?? this.object;
    if (object !== null) {
      this.health = health ?? null;
      this.verdict = verdict;
    }
  }

  private applyEvents(m: Extract<Message, { type: "object-events" }>): void {
    for (const e of m.events) {
      const mismatch = this.applyEvent(e);
      if (mismatch === null) continue;
      this.isReloading = true;
      return this.subscription.requestSnapshot(mismatch);
    }
  }

  // Applies an event to the object. Returns null if it succeeded, or why the event does not match the page's version of
  // the object.
  private applyEvent(e: ObjectEvent): string | null {
    const at = e.by?.time || new Date(this.now()).toISOString();
    const before = this.object;
    switch (e.op) {
      case "add":
        this.object = e.object;
        this.deletedAt = null;
        break;
      case "update":
        if (this.object === null || this.deletedAt !== null || uid(this.object) !== e.uid)
          return "a received change is for an object that this page has not loaded";
        try {
          this.object = immutableJSONPatch(this.object, e.patch.slice()) as JsonObject;
        } catch {
          return "a received change does not match the loaded object";
        }
        break;
      case "delete":
        if (this.object === null || (e.uid !== "" && uid(this.object) !== e.uid)) return null;
        this.deletedAt = at;
    }
    if (e.op !== "delete" && e.health !== undefined) this.health = e.health;
    if (e.op !== "delete" && e.verdict !== undefined) this.verdict = e.verdict;
    const authors = e.op === "update" ? e.authors : undefined;
    this.last = { op: e.op, at, by: authors ?? (e.by === undefined ? [] : [e.by]), before };
    return null;
  }
}

const uid = (object: JsonObject): string => metadataField(object, "uid");
const version = (object: JsonObject | null): string =>
  object === null ? "" : metadataField(object, "resourceVersion");

function metadataField(object: JsonObject, member: string): string {
  const metadata = object["metadata"];
  const value = typeof metadata === "object" && metadata !== null ? (metadata as JsonObject)[member] : undefined;
  return typeof value === "string" ? value : "";
}
