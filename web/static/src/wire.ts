// The messages of /api/v1/live, as decode.ts has checked them.

import type { Listed } from "./kinds.ts";

export type Cell = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
  /** The cells hold RFC 3339 timestamps, to be shown as the time passed since. */
  readonly relative: boolean;
}

export interface Row {
  readonly ns: string;
  readonly name: string;
  readonly uid: string; // Empty in the view table, which does not tell it.
  readonly rv: string;
  readonly created: string;
  readonly cells: readonly Cell[];
}

/** Who wrote a change. */
export interface By {
  readonly manager: string;
  readonly operation: string;
  readonly subresource: string;
  readonly time: string;
}

/** Who owns which operations of a patch, by their index. */
export interface Author extends By {
  readonly ops: readonly number[];
}

export type Tree = Readonly<Record<string, unknown>>;

export const verdicts = ["Current", "InProgress", "Failed", "Terminating", "Unknown"] as const;
export type Verdict = (typeof verdicts)[number];

/** Whether an object is well, and why. Sentences have no full stop. */
export interface Health {
  readonly status: Verdict;
  readonly summary: string;
  readonly details: readonly string[];
}

export type PatchOp =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string };

export type RowEvent =
  | { readonly op: "add"; readonly row: Row; readonly by?: By }
  | { readonly op: "update"; readonly ns: string; readonly name: string; readonly rv: string; readonly cells: ReadonlyMap<number, Cell>; readonly by?: By }
  | { readonly op: "delete"; readonly ns: string; readonly name: string; readonly by?: By };

/** What happens to the rows of a window, each at its place when its turn comes. */
export type WindowEvent =
  | { readonly op: "insert"; readonly at: number; readonly row: Row; readonly by?: By }
  | { readonly op: "update"; readonly at: number; readonly uid: string; readonly rv: string; readonly cells: ReadonlyMap<number, Cell>; readonly by?: By }
  /** why: what of the row itself is the reason; without it others pushed it out. now: how a row that is still somewhere is other. */
  | { readonly op: "remove"; readonly at: number; readonly why?: "gone" | "filtered" | "moved"; readonly now?: { readonly rv: string; readonly cells: ReadonlyMap<number, Cell>; readonly by?: By } };

/** How many rows there are: all that the namespaces and labels let through; of those the ones with the words of q, and those that are not well. */
export interface Counts {
  readonly total: number;
  readonly matching: number;
  readonly failing: number;
  readonly waiting: number;
}

/** What has happened since the last message, in a window or not. */
export interface News {
  readonly changes: number;
  readonly newest: Newest | null;
}

/** The newest change that a row shows: of an update the cells that changed, as they were and as they are. */
export interface Newest {
  readonly op: "add" | "update" | "delete";
  readonly ns: string;
  readonly name: string;
  readonly before: ReadonlyMap<number, Cell>;
  readonly cells: ReadonlyMap<number, Cell>;
  readonly by?: By;
}

export type ObjectEvent =
  | { readonly op: "add"; readonly object: Tree; readonly health?: Health; readonly by?: By }
  /** Without health that is as it was before. */
  | { readonly op: "update"; readonly uid: string; readonly rv: string; readonly patch: readonly PatchOp[]; readonly health?: Health; readonly by?: By; readonly authors?: readonly Author[] }
  | { readonly op: "delete"; readonly uid: string; readonly by?: By };

/** What happened to one object, in the view changes. */
export interface Change {
  readonly op: "add" | "update" | "delete";
  readonly ns: string;
  readonly name: string;
  readonly uid: string;
  readonly rv: string;
  readonly time: string;
  /** Of an update: how the object changed; empty for other changes. */
  readonly patch: readonly PatchOp[];
  /** Of an add, where one object is asked for. */
  readonly object?: Tree;
  readonly by?: By;
  /** Left out where by alone made the whole change. */
  readonly authors?: readonly Author[];
  /** What stood where an operation of the patch, by its index, replaced or removed it, but for long values. */
  readonly was?: ReadonlyMap<number, unknown>;
}

export const states = ["syncing", "live", "stale", "forbidden", "absent", "failed"] as const;
export type StateName = (typeof states)[number];

export interface State {
  readonly state: StateName;
  readonly since: string;
  readonly reason: string;
  /** While syncing: how many have come, and about how many there are; null where that is not known. */
  readonly count: number | null;
  readonly total: number | null;
  /** The namespaces that are covered, where the viewer may not list all that were asked for; else empty. */
  readonly namespaces: readonly string[];
}

export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

export type Message =
  | { readonly id: number; readonly type: "rows"; readonly cursor: string; readonly columns: readonly Column[] | null; readonly rows: readonly Row[]; readonly last: boolean }
  | { readonly id: number; readonly type: "object"; readonly cursor: string; readonly object: Tree | null; readonly health?: Health }
  | { readonly id: number; readonly type: "row-events"; readonly cursor: string; readonly events: readonly RowEvent[] }
  | { readonly id: number; readonly type: "object-events"; readonly cursor: string; readonly events: readonly ObjectEvent[] }
  | { readonly id: number; readonly type: "changes"; readonly cursor: string; readonly since: string; readonly object: Tree | null; readonly events: readonly Change[] }
  | { readonly id: number; readonly type: "change-events"; readonly cursor: string; readonly events: readonly Change[] }
  | ({ readonly id: number; readonly type: "window"; readonly cursor: string; readonly columns: readonly Column[] | null; readonly offset: number; readonly count: number; readonly rows: readonly Row[] } & Counts & News)
  | ({ readonly id: number; readonly type: "window-events"; readonly cursor: string; readonly events: readonly WindowEvent[] } & Counts & News)
  | { readonly id: number; readonly type: "resources"; readonly build: string; readonly kinds: readonly Listed[]; readonly problems: ReadonlyMap<string, string> }
  | { readonly id: number; readonly type: "counts"; readonly counts: ReadonlyMap<string, number> }
  | { readonly id: number; readonly type: "digest"; readonly cursor: string; readonly count: number; readonly digest: string }
  | ({ readonly id: number; readonly type: "state" } & State)
  | { readonly id: number; readonly type: "reset"; readonly reason: string }
  /** More of a long message: text of it, with which so many bytes were told. */
  | { readonly id: number; readonly type: "part"; readonly told: number; readonly of: number; readonly text: string }
  /** More of a log, cut anywhere but in a character; waiting: the API server has not answered yet. */
  | { readonly id: number; readonly type: "log"; readonly text: string; readonly waiting: boolean }
  | { readonly id: number; readonly type: "log-end" }
  | { readonly id: number; readonly type: "heartbeat"; readonly cursor: string }
  | { readonly id: number; readonly type: "pong" }
  | { readonly id: number | null; readonly type: "error"; readonly problem: Problem };

/** What a client asks for. Its view decides which messages come. */
export interface Spec {
  /** Empty for the view resources, which is of all. */
  readonly resource: string;
  readonly ns?: readonly string[];
  readonly labels?: string;
  /** A field selector, which costs the server a watch of its own. */
  readonly fields?: string;
  readonly name?: string;
  /** Changes come together at most so often, in milliseconds; those after a pause at once. */
  readonly every?: number;
  readonly view: "table" | "object" | "changes" | "resources" | "window" | "log";
  /** To be told only while it is watched anyway: it starts no watch and keeps none. */
  readonly watched?: boolean;
  /** Of the view window alone: the words and the order, and which rows are held. */
  readonly q?: string;
  readonly sort?: string;
  readonly offset?: number;
  readonly count?: number;
  /** Of the view log alone; read each time that it is asked for, as a log that was cut goes on from its last line. */
  readonly log?: LogSpec;
}

/** What of a log is wanted. */
export interface LogSpec {
  readonly container: string;
  readonly tail: number;
  /** As in 10m, or a time; empty for any. */
  readonly since: string;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly follow: boolean;
}
