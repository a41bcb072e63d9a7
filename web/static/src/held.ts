// The client side of a subscription to one object: the object, and how current it is. It draws nothing, and calls a
// function after each change.

import { immutableJSONPatch } from "immutable-json-patch";
import { clockTime } from "./age.ts";
import type { Handler, Live, Subscription } from "./live.ts";
import { partWords, type Known } from "./status.ts";
import type { ObjectName } from "./view.ts";
import type { By, Health, Message, ObjectEvent, Problem, State, Tree } from "./wire.ts";

/** The last change of the object, as its event describes it. */
export interface LastChange {
  readonly op: ObjectEvent["op"];
  readonly at: string; // RFC 3339
  readonly by: readonly By[]; // newest first; empty if the author is unknown
  readonly before: Tree | null; // the object before the change
}

/** Describes the last change: when, what, and by whom. */
export function lastWords(last: LastChange, now: number): string {
  const words = { add: "created", update: "changed", delete: "deleted" }[last.op];
  const names = last.by.map((a) => `${a.manager}${a.subresource === "" ? "" : ` (${a.subresource})`}`);
  return `${clockTime(last.at, now)} ${words}${names.length === 0 ? "" : ` by ${[...new Set(names)].join(", ")}`}`;
}

export class Held implements Handler {
  /** The newest version, or the last one before the object was deleted; null if none has arrived. */
  object: Tree | null = null;
  /** The health of the object; null if the server sends none. */
  health: Health | null = null;
  last: LastChange | null = null;
  /** When the object was deleted, empty if the time is unknown; null while it exists. */
  gone: string | null = null;
  /** Describes how much of a long message has arrived; empty if none is arriving. */
  far = "";
  private complete = false;
  // Whether the object is being read again, because a patch did not match or the server sent a reset.
  private anew = false;
  private state: State | null = null;
  private problem: Problem | null = null;
  private readonly subscription: Subscription;

  constructor(
    private readonly live: Live,
    private readonly now: () => number,
    ref: string,
    name: ObjectName,
    private readonly changed: () => void,
    /** Called when missed changes could not be replayed, so the object is read again. */
    private readonly wasReset: () => void,
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
  get missing(): boolean {
    return this.complete && this.object === null && this.problem === null;
  }

  known(): Known {
    const { connection, since, said } = this.live;
    return {
      connection,
      since,
      said,
      state: this.state,
      stale: null,
      complete: this.complete,
      arriving: 0,
      expected: 0,
      problem: this.problem,
      anew: this.anew,
    };
  }

  restart(): void {
    this.complete = false;
    this.far = "";
    this.changed();
  }

  /** Called when the state of the connection has changed. If it was lost, the server will send the state again. */
  reconnected(): void {
    if (this.live.connection !== "open") this.state = null;
    this.changed();
  }

  part(told: number, of: number): void {
    this.far = partWords(told, of);
    this.changed();
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    this.far = "";
    if (m.type === "object") this.snapshot(m.object, m.health ?? null);
    else if (m.type === "object-events") this.events(m);
    else if (m.type === "reset") this.reset(m.reason);
    else if (m.type === "state") {
      this.state = m;
      // After permission is lost, the object must not stay on the screen.
      if (m.state === "forbidden") this.object = this.last = null;
    } else if (m.type === "error") {
      this.problem = m.problem;
      this.object = this.last = null;
    }
    this.changed();
  }

  // Notes once, with the reason, that the object has to be loaded again. Does nothing if no object was shown.
  private reset(reason: string): void {
    if (this.object === null || this.anew) return;
    this.anew = true;
    this.live.reset(reason);
    this.wasReset();
  }

  private snapshot(object: Tree | null, health: Health | null): void {
    this.complete = true;
    this.anew = false;
    this.problem = null;
    // If the snapshot has another version, the changes in between are not known, and the last change is not either.
    if (object === null ? this.gone === null : version(object) !== version(this.object)) this.last = null;
    if (object !== null) this.gone = null;
    else if (this.object !== null) this.gone ??= "";
    this.object = object ?? this.object;
    if (object !== null) this.health = health;
  }

  private events(m: Extract<Message, { type: "object-events" }>): void {
    for (const e of m.events) {
      const why = this.event(e);
      if (why === null) continue;
      this.anew = true;
      return this.subscription.resync(why);
    }
  }

  // Applies an event. Returns null, or why the event does not match the present object.
  private event(e: ObjectEvent): string | null {
    const at = e.by?.time || new Date(this.now()).toISOString();
    const before = this.object;
    switch (e.op) {
      case "add":
        this.object = e.object;
        this.gone = null;
        break;
      case "update":
        if (this.object === null || this.gone !== null || uid(this.object) !== e.uid)
          return "a patch is for another object";
        try {
          this.object = immutableJSONPatch(this.object, e.patch.slice()) as Tree;
        } catch {
          return "a patch does not apply";
        }
        break;
      case "delete":
        if (this.object === null || (e.uid !== "" && uid(this.object) !== e.uid)) return null;
        this.gone = at;
    }
    if (e.op !== "delete" && e.health !== undefined) this.health = e.health;
    const authors = e.op === "update" ? e.authors : undefined;
    this.last = { op: e.op, at, by: authors ?? (e.by === undefined ? [] : [e.by]), before };
    return null;
  }
}

const uid = (object: Tree): string => named(object, "uid");
const version = (object: Tree | null): string => (object === null ? "" : named(object, "resourceVersion"));

function named(object: Tree, member: string): string {
  const metadata = object["metadata"];
  const value = typeof metadata === "object" && metadata !== null ? (metadata as Tree)[member] : undefined;
  return typeof value === "string" ? value : "";
}
