// The types of the messages on the WebSocket /api/v1/live, after decode.ts has checked them.

import type { ListedKind, ProblemCounts } from "./kinds.ts";

export type Cell = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
  /** Whether the cells contain RFC 3339 timestamps, which the page shows as ages. */
  readonly relative: boolean;
  /** For a column that Glasshouse computes: the index of its cells in `extra` of a row. */
  readonly extraAt?: number;
}

export type Severity = "none" | "ok" | "progressing" | "degraded" | "failed";

/** The health of an object. If the object has no problem and is not progressing, `reason` and `sentence` are empty. */
export interface Verdict {
  readonly severity: Severity;
  /** A code such as "CrashLoopBackOff". It can be empty although the verdict has a sentence. */
  readonly reason: string;
  readonly sentence: string;
  /** The object that explains the verdict, as the server sent it. Only in the view "object". */
  readonly cause?: unknown;
}

export interface Row {
  readonly ns: string;
  readonly name: string;
  readonly uid: string; // empty in complete lists (the view "table"), for which the server does not send it
  readonly rv: string;
  readonly created: string;
  readonly verdict: Verdict;
  readonly cells: readonly Cell[];
  readonly extra?: readonly Cell[]; // the cells of the columns that Glasshouse computes
}

/** The author of a change: the field manager, its operation (Apply or Update), the subresource and the time. */
export interface ChangeAuthor {
  readonly manager: string;
  readonly operation: string;
  readonly subresource: string;
  readonly time: string;
}

/** One of several authors of a change. `ops` contains the indexes of the patch operations that this author made. */
export interface PatchAuthor extends ChangeAuthor {
  readonly ops: readonly number[];
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const healthStatuses = ["Current", "InProgress", "Failed", "Terminating", "Unknown"] as const;
type HealthStatus = (typeof healthStatuses)[number];

/** The health of an object, with the reason. The texts do not end with a period. */
export interface Health {
  readonly status: HealthStatus;
  readonly summary: string;
  readonly details: readonly string[];
}

export type PatchOp =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string };

export type RowEvent =
  | { readonly op: "add"; readonly row: Row; readonly by?: ChangeAuthor }
  | {
      readonly op: "update";
      readonly ns: string;
      readonly name: string;
      readonly rv: string;
      readonly cells: ReadonlyMap<number, Cell>;
      readonly extra?: readonly Cell[]; // missing if no extra cell has changed
      readonly verdict?: Verdict; // missing if the verdict has not changed
      readonly by?: ChangeAuthor;
    }
  | { readonly op: "delete"; readonly ns: string; readonly name: string; readonly by?: ChangeAuthor };

/** A change in a window (the loaded part of a list). `at` is the row's index after the message's earlier events. */
export type WindowEvent =
  | { readonly op: "insert"; readonly at: number; readonly row: Row; readonly by?: ChangeAuthor }
  | {
      readonly op: "update";
      readonly at: number;
      readonly uid: string;
      readonly rv: string;
      readonly cells: ReadonlyMap<number, Cell>;
      readonly extra?: readonly Cell[]; // missing if no extra cell has changed
      readonly verdict?: Verdict; // missing if the verdict has not changed
      readonly by?: ChangeAuthor;
    }
  /** A removed row. `why` is missing if other rows pushed it out of the window. `now`: its new content, if changed. */
  | {
      readonly op: "remove";
      readonly at: number;
      readonly why?: "gone" | "filtered" | "moved";
      readonly now?: {
        readonly rv: string;
        readonly cells: ReadonlyMap<number, Cell>;
        readonly extra?: readonly Cell[];
        readonly verdict?: Verdict;
        readonly by?: ChangeAuthor;
      };
    };

/** Numbers of rows. `failing` counts failed and degraded rows, and `waiting` counts progressing rows. */
export interface Counts {
  /** The number of all rows with the requested namespaces and labels. */
  readonly total: number;
  /** The number of rows that match the text filter `q`. */
  readonly matching: number;
  readonly failing: number;
  readonly degraded: number;
  readonly waiting: number;
}

/** A summary of all changes of the list's rows since the previous message, including rows outside the window. */
export interface ChangeSummary {
  readonly changes: number;
  readonly newest: NewestChange | null;
}

/** The newest change that the viewer may see. `before` has the old texts of changed cells, and `cells` the new ones. */
export interface NewestChange {
  readonly op: "add" | "update" | "delete";
  readonly ns: string;
  readonly name: string;
  readonly before: ReadonlyMap<number, Cell>;
  readonly cells: ReadonlyMap<number, Cell>;
  readonly by?: ChangeAuthor;
}

export type ObjectEvent =
  | {
      readonly op: "add";
      readonly object: JsonObject;
      readonly health?: Health;
      readonly verdict?: Verdict;
      readonly by?: ChangeAuthor;
    }
  /** An update of an object. A missing `health` or `verdict` means that this value has not changed. */
  | {
      readonly op: "update";
      readonly uid: string;
      readonly rv: string;
      readonly patch: readonly PatchOp[];
      readonly health?: Health;
      readonly verdict?: Verdict;
      readonly by?: ChangeAuthor;
      readonly authors?: readonly PatchAuthor[];
    }
  | { readonly op: "delete"; readonly uid: string; readonly by?: ChangeAuthor };

/** A change of one object, in the view "changes". */
export interface Change {
  readonly op: "add" | "update" | "delete";
  readonly ns: string;
  readonly name: string;
  readonly uid: string;
  readonly rv: string;
  readonly time: string;
  /** "failed" or "degraded" for the op "add" of an object with a problem, such as a Warning event. */
  readonly severity?: string;
  /** The patch operations of an update. Empty for other changes. */
  readonly patch: readonly PatchOp[];
  /** The added object. Only set for the op "add", and only if the subscription names one object (`name`). */
  readonly object?: JsonObject;
  readonly by?: ChangeAuthor;
  /** All authors of the change, if there are several. A single author is in the field `by` instead. */
  readonly authors?: readonly PatchAuthor[];
  /**
   * The previous values that the patch replaced or removed, by the index of the patch operation. Long values are
   * missing.
   */
  readonly was?: ReadonlyMap<number, unknown>;
}

export const states = ["syncing", "live", "stale", "forbidden", "absent", "failed"] as const;
export type StateName = (typeof states)[number];

export interface State {
  readonly state: StateName;
  readonly since: string;
  readonly reason: string;
  /**
   * While the list loads, `count` is the number of objects that have arrived, and `total` is the approximate number of
   * objects in the list. Both are null if unknown.
   */
  readonly count: number | null;
  readonly total: number | null;
  /**
   * The namespaces that the rows include, if the viewer is not permitted to list all requested ones. Otherwise empty.
   */
  readonly namespaces: readonly string[];
}

export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

export type Message =
  | {
      readonly id: number;
      readonly type: "rows";
      readonly cursor: string;
      readonly columns: readonly Column[] | null;
      readonly rows: readonly Row[];
      readonly last: boolean;
    }
  | {
      readonly id: number;
      readonly type: "object";
      readonly cursor: string;
      readonly object: JsonObject | null;
      readonly health?: Health;
      readonly verdict: Verdict;
    }
  | { readonly id: number; readonly type: "row-events"; readonly cursor: string; readonly events: readonly RowEvent[] }
  | {
      readonly id: number;
      readonly type: "object-events";
      readonly cursor: string;
      readonly events: readonly ObjectEvent[];
    }
  | {
      readonly id: number;
      readonly type: "changes";
      readonly cursor: string;
      readonly since: string;
      readonly object: JsonObject | null;
      readonly events: readonly Change[];
    }
  | { readonly id: number; readonly type: "change-events"; readonly cursor: string; readonly events: readonly Change[] }
  | ({
      readonly id: number;
      readonly type: "window";
      readonly cursor: string;
      readonly columns: readonly Column[] | null;
      readonly offset: number;
      readonly count: number;
      readonly rows: readonly Row[];
    } & Counts &
      ChangeSummary)
  | ({
      readonly id: number;
      readonly type: "window-events";
      readonly cursor: string;
      readonly events: readonly WindowEvent[];
    } & Counts &
      ChangeSummary)
  | {
      readonly id: number;
      readonly type: "resources";
      readonly build: string;
      readonly kinds: readonly ListedKind[];
      /** The resources in API versions that are not preferred. */
      readonly versions: readonly ListedKind[];
      readonly problems: ReadonlyMap<string, string>;
    }
  | {
      readonly id: number;
      readonly type: "counts";
      readonly counts: ReadonlyMap<string, number>;
      readonly problems: ReadonlyMap<string, ProblemCounts>;
    }
  /** decode.ts does not check the content of `members`. The code that shows the content checks it. */
  | { readonly id: number; readonly type: "overview" | "explanation" | "rates"; readonly members: JsonObject }
  | {
      readonly id: number;
      readonly type: "digest";
      readonly cursor: string;
      readonly count: number;
      readonly digest: string;
    }
  | ({ readonly id: number; readonly type: "state" } & State)
  | { readonly id: number; readonly type: "reset"; readonly reason: string }
  /** A chunk of a long message. `told` is the number of bytes sent so far, and `of` is the total number. */
  | { readonly id: number; readonly type: "part"; readonly told: number; readonly of: number; readonly text: string }
  /** A chunk of a log, which can end within a line. `waiting`: the API server has not responded yet. */
  | { readonly id: number; readonly type: "log"; readonly text: string; readonly waiting: boolean }
  | { readonly id: number; readonly type: "log-end" }
  | { readonly id: number; readonly type: "heartbeat"; readonly cursor: string }
  | { readonly id: number; readonly type: "pong" }
  | { readonly id: number | null; readonly type: "error"; readonly problem: Problem };

/** The parameters of a subscription. The member `view` selects which messages the server sends. */
export interface SubscriptionSpec {
  /** The ref of a resource. Empty for the views "resources" and "overview", which cover all resources. */
  readonly resource: string;
  readonly ns?: readonly string[];
  readonly labels?: string;
  /** A field selector for the objects. The server starts a separate watch for it. */
  readonly fields?: string;
  readonly name?: string;
  /** The minimum time in ms between two messages with changes. A change after a longer pause is sent immediately. */
  readonly every?: number;
  readonly view: "table" | "object" | "changes" | "resources" | "window" | "log" | "overview" | "explanation" | "rates";
  /**
   * If true, this subscription starts no watch. It gets data only while the server watches the resource for other
   * subscriptions.
   */
  readonly watched?: boolean;
  /**
   * `q` is the text filter, `sort` is the order, and `offset` and `count` are the range of rows. These members are only
   * for the view "window", except that the view "rates" has `q` too.
   */
  readonly q?: string;
  readonly sort?: string;
  readonly offset?: number;
  readonly count?: number;
  /** Only for the view "log". The class Live reads it for each request, because the position to resume from changes. */
  readonly log?: LogSpec;
}

/** Selects one log of a pod and the part of it to read. */
export interface LogSpec {
  readonly container: string;
  readonly tail: number;
  /** The start of the log: a duration before now, such as 10m, or a time. Empty for no limit. */
  readonly since: string;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly follow: boolean;
}
