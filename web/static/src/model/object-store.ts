// The client side of a subscription to one object: the object, and how current it is. It draws nothing, and calls a
// function after each change.

import { immutableJSONPatch } from "immutable-json-patch";
import { clockTime } from "../text/age.ts";
import type { Handler, Live, Subscription } from "../net/live.ts";
import { receivedText, type SubscriptionInfo } from "./status.ts";
import type { ObjectName } from "./view.ts";
import type { ChangeAuthor, Health, Message, ObjectEvent, Problem, State, JsonObject } from "../net/wire.ts";

/** The last change of the object, as its event describes it. */
export interface LastChange {
  readonly op: ObjectEvent["op"];
  readonly at: string; // the time in RFC 3339
  readonly by: readonly ChangeAuthor[]; // newest first; empty if the author is unknown
  readonly before: JsonObject | null; // the object before the change
}

/** Describes the last change: when, what, and by whom. */
export function lastChangeText(last: LastChange, now: number): string {
  const verb = { add: "created", update: "changed", delete: "deleted" }[last.op];
  const names = last.by.map((a) => `${a.manager}${a.subresource === "" ? "" : ` (${a.subresource})`}`);
  return `${clockTime(last.at, now)} ${verb}${names.length === 0 ? "" : ` by ${[...new Set(names)].join(", ")}`}`;
}

export class ObjectStore implements Handler {
  /** The newest version, or the last one before the object was deleted; null if none has arrived. */
  object: JsonObject | null = null;
  /** The health of the object; null if the server sends none. */
  health: Health | null = null;
  last: LastChange | null = null;
  /** When the object was deleted, empty if the time is unknown; null while it exists. */
  deletedAt: string | null = null;
  /** Describes how much of a long message has arrived; empty if none is arriving. */
  progress = "";
  private isLoaded = false;
  // Whether the object is being read again, because a patch did not match or the server sent a reset.
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
    /** Called when missed changes could not be replayed, so the object is read again. */
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

  /** Whether the object is known not to exist. */
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

  /** Called when the state of the connection has changed. If it was lost, the server will send the state again. */
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
    if (m.type === "object") this.applySnapshot(m.object, m.health ?? null);
    else if (m.type === "object-events") this.applyEvents(m);
    else if (m.type === "reset") this.noteReset(m.reason);
    else if (m.type === "state") {
      this.state = m;
      // After permission is lost, the object must not stay on the screen.
      if (m.state === "forbidden") this.object = this.last = null;
    } else if (m.type === "error") {
      this.problem = m.problem;
      this.object = this.last = null;
    }
    this.onChange();
  }

  // Notes once, with the reason, that the object has to be loaded again. Does nothing if no object was shown.
  private noteReset(reason: string): void {
    if (this.object === null || this.isReloading) return;
    this.isReloading = true;
    this.live.reset(reason);
    this.onReset();
  }

  private applySnapshot(object: JsonObject | null, health: Health | null): void {
    this.isLoaded = true;
    this.isReloading = false;
    this.problem = null;
    // If the snapshot has another version, the changes in between are not known, and the last change is not either.
    if (object === null ? this.deletedAt === null : version(object) !== version(this.object)) this.last = null;
    if (object !== null) this.deletedAt = null;
    else if (this.object !== null) this.deletedAt ??= "";
    this.object = object ?? this.object;
    if (object !== null) this.health = health;
  }

  private applyEvents(m: Extract<Message, { type: "object-events" }>): void {
    for (const e of m.events) {
      const mismatch = this.applyEvent(e);
      if (mismatch === null) continue;
      this.isReloading = true;
      return this.subscription.resync(mismatch);
    }
  }

  // Applies an event. Returns null, or why the event does not match the present object.
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
          return "a patch is for another object";
        try {
          this.object = immutableJSONPatch(this.object, e.patch.slice()) as JsonObject;
        } catch {
          return "a patch does not apply";
        }
        break;
      case "delete":
        if (this.object === null || (e.uid !== "" && uid(this.object) !== e.uid)) return null;
        this.deletedAt = at;
    }
    if (e.op !== "delete" && e.health !== undefined) this.health = e.health;
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
