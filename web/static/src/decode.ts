// Decodes and checks server messages. Only this file must expect invalid messages. All other code relies on the types
// in wire.ts.

import { readBuild, readCounts, readKinds, readProblems } from "./kinds.ts";
import {
  states,
  verdicts,
  type Author,
  type By,
  type Cell,
  type Change,
  type Column,
  type Counts,
  type Health,
  type Message,
  type Newest,
  type News,
  type ObjectEvent,
  type PatchOp,
  type Problem,
  type Row,
  type RowEvent,
  type Spec,
  type Tree,
  type WindowEvent,
} from "./wire.ts";

/** A message that could not be decoded, with the id of its subscription if that is known. */
export interface Fault {
  readonly id: number | null;
  readonly what: string;
}

export interface Decoded {
  readonly messages: readonly Message[];
  readonly faults: readonly Fault[];
}

class Malformed extends Error {}

/**
 * Decodes the text of one message, or of an array of messages. viewOf returns the view of a subscription. It returns
 * null if there is no such subscription (any more); messages for that one are dropped without a check. Messages of an
 * unknown type are dropped, because the protocol may gain types and fields.
 */
export function decode(text: string, viewOf: (id: number) => Spec["view"] | null): Decoded {
  let frame: unknown;
  try {
    frame = parse(text);
  } catch {
    return { messages: [], faults: [{ id: null, what: "a frame is not JSON" }] };
  }
  const messages: Message[] = [];
  const faults: Fault[] = [];
  for (const item of Array.isArray(frame) ? frame : [frame]) {
    let id: number | null = null;
    try {
      const m = tree(item, "message");
      id = typeof m["id"] === "number" ? m["id"] : null;
      const read = message(m, id, viewOf);
      if (read !== null) messages.push(read);
    } catch (err) {
      if (!(err instanceof Malformed)) throw err;
      faults.push({ id, what: err.message });
    }
  }
  return { messages, faults };
}

// JSON integers beyond 2^53 would lose digits. If the browser provides the source text, they become bigint. The regular
// expression avoids the slow reviver for messages without such integers.
const long = /[:[,]\s*-?\d{16,}\s*[,}\]]/;

export function parse(text: string): unknown {
  if (!long.test(text)) return JSON.parse(text);
  return JSON.parse(text, function (this: unknown, _key: string, value: unknown, context?: { source?: string }) {
    const source = context?.source;
    if (typeof value !== "number" || Number.isSafeInteger(value) || source === undefined || !/^-?\d+$/.test(source))
      return value;
    return BigInt(source);
  } as (key: string, value: unknown) => unknown);
}

function message(m: Tree, id: number | null, viewOf: (id: number) => Spec["view"] | null): Message | null {
  const type = string(m["type"], "type");
  if (type === "error") return { id, type, problem: problem(m["problem"]) };
  if (id === null) throw new Malformed(`${type} without an id`);
  if (type === "pong") return { id, type };
  const view = viewOf(id);
  if (view === null) return null;
  switch (type) {
    case "snapshot":
      if (view === "object") {
        return {
          id,
          type: "object",
          cursor: optional(m["cursor"], "cursor"),
          object: absent(m["object"]) ? null : tree(m["object"], "object"),
          ...health(m["health"]),
        };
      }
      if (view === "changes") {
        return {
          id,
          type: "changes",
          cursor: string(m["cursor"], "cursor"),
          since: optional(m["since"], "since"),
          object: absent(m["object"]) ? null : tree(m["object"], "object"),
          events: absent(m["events"]) ? [] : list(m["events"], "events").map(change),
        };
      }
      return {
        id,
        type: "rows",
        cursor: optional(m["cursor"], "cursor"),
        columns: absent(m["columns"]) ? null : list(m["columns"], "columns").map(column),
        rows: absent(m["table"]) ? [] : table(m["table"]),
        last: m["last"] === true,
      };
    case "events": {
      const cursor = string(m["cursor"], "cursor");
      const events = absent(m["events"]) ? [] : list(m["events"], "events");
      if (view === "changes") return { id, type: "change-events", cursor, events: events.map(change) };
      return view === "object"
        ? { id, type: "object-events", cursor, events: events.map(objectEvent) }
        : { id, type: "row-events", cursor, events: events.map(tableEvent) };
    }
    case "window": {
      if (view !== "window") return null;
      const count = whole(m["count"], "count");
      const rows = list(m["rows"], "rows").map(row);
      if (rows.length > count) throw new Malformed("a window has more rows than requested");
      return {
        id,
        type,
        cursor: string(m["cursor"], "cursor"),
        columns: absent(m["columns"]) ? null : list(m["columns"], "columns").map(column),
        ...counts(m),
        ...news(m),
        offset: whole(m["offset"], "offset"),
        count,
        rows,
      };
    }
    case "window-events":
      if (view !== "window") return null;
      return {
        id,
        type,
        cursor: string(m["cursor"], "cursor"),
        ...counts(m),
        ...news(m),
        events: list(m["events"], "events").map(windowEvent),
      };
    case "state": {
      const state = states.find((s) => s === m["state"]);
      if (state === undefined) throw new Malformed("state is unknown");
      return {
        id,
        type,
        state,
        since: optional(m["since"], "since"),
        reason: optional(m["reason"], "reason"),
        count: absent(m["count"]) ? null : number(m["count"], "count"),
        total: absent(m["total"]) ? null : number(m["total"], "total"),
        namespaces: absent(m["namespaces"])
          ? []
          : list(m["namespaces"], "namespaces").map((ns) => string(ns, "namespace")),
      };
    }
    case "resources":
      if (view !== "resources") return null;
      list(m["resources"], "resources");
      return { id, type, build: readBuild(m), kinds: readKinds(m), problems: readProblems(m) };
    case "counts":
      return view === "resources" ? { id, type, counts: readCounts(m) } : null;
    case "digest": {
      if (view !== "table" && view !== "window") return null;
      const digest = string(m["digest"], "digest");
      if (!/^[0-9a-f]{8}$/.test(digest)) throw new Malformed("a digest is not 8 hex digits");
      return { id, type, cursor: string(m["cursor"], "cursor"), count: number(m["count"], "count"), digest };
    }
    case "part":
      return { id, type, told: whole(m["told"], "told"), of: whole(m["of"], "of"), text: string(m["text"], "text") };
    case "log":
      return view === "log" ? { id, type, text: string(m["text"], "text"), waiting: m["waiting"] === true } : null;
    case "log-end":
      return view === "log" ? { id, type } : null;
    case "reset":
      return { id, type, reason: optional(m["reason"], "reason") };
    case "heartbeat":
      return { id, type, cursor: optional(m["cursor"], "cursor") };
    default:
      return null;
  }
}

function tableEvent(v: unknown): RowEvent {
  const e = tree(v, "event");
  switch (e["op"]) {
    case "add":
      return { op: "add", row: row(e["row"]) };
    case "update":
      return {
        op: "update",
        ns: optional(e["ns"], "ns"),
        name: string(e["name"], "name"),
        rv: optional(e["rv"], "rv"),
        cells: cells(e["cells"]),
        ...tableBy(e["by"]),
      };
    case "delete":
      return { op: "delete", ns: optional(e["ns"], "ns"), name: string(e["name"], "name") };
    default:
      // An unknown op is an error, because the event may have changed anything.
      throw new Malformed("an event's op is unknown");
  }
}

function windowEvent(v: unknown): WindowEvent {
  const e = tree(v, "event");
  const at = whole(e["at"], "an event's place");
  switch (e["op"]) {
    case "insert":
      return { op: "insert", at, row: row(e["row"]), ...by(e["by"]) };
    case "update":
      return {
        op: "update",
        at,
        uid: optional(e["uid"], "uid"),
        rv: optional(e["rv"], "rv"),
        cells: cells(e["cells"]),
        ...by(e["by"]),
      };
    case "remove":
      return {
        op: "remove",
        at,
        ...why(e["why"]),
        ...(absent(e["cells"])
          ? {}
          : { now: { rv: optional(e["rv"], "rv"), cells: cells(e["cells"]), ...by(e["by"]) } }),
      };
    default:
      throw new Malformed("an event's op is unknown");
  }
}

// Decodes why a row was removed. An unknown reason counts as no reason.
function why(v: unknown): { why?: "gone" | "filtered" | "moved" } {
  const known = (["gone", "filtered", "moved"] as const).find((w) => w === v);
  return known === undefined ? {} : { why: known };
}

function counts(m: Tree): Counts {
  return {
    total: whole(m["total"], "total"),
    matching: whole(m["matching"], "matching"),
    failing: whole(m["failing"], "failing"),
    waiting: whole(m["waiting"], "waiting"),
  };
}

function news(m: Tree): News {
  return {
    changes: absent(m["changes"]) ? 0 : whole(m["changes"], "changes"),
    newest: absent(m["newest"]) ? null : newest(tree(m["newest"], "newest")),
  };
}

function newest(e: Tree): Newest | null {
  const op = (["add", "update", "delete"] as const).find((o) => o === e["op"]);
  return op === undefined
    ? null
    : {
        op,
        ns: optional(e["ns"], "ns"),
        name: string(e["name"], "name"),
        before: cells(e["before"]),
        cells: cells(e["cells"]),
        ...by(e["by"]),
      };
}

function objectEvent(v: unknown): ObjectEvent {
  const e = tree(v, "event");
  const who = by(e["by"]);
  switch (e["op"]) {
    case "add":
      return { op: "add", object: tree(e["object"], "object"), ...health(e["health"]), ...who };
    case "update":
      return {
        op: "update",
        uid: string(e["uid"], "uid"),
        rv: optional(e["rv"], "rv"),
        ...patched(e),
        ...health(e["health"]),
        ...who,
      };
    case "delete":
      return { op: "delete", uid: optional(e["uid"], "uid"), ...who };
    default:
      throw new Malformed("an event's op is unknown");
  }
}

// Decodes a health. An unknown status becomes "Unknown".
function health(v: unknown): { health?: Health } {
  if (absent(v)) return {};
  const h = tree(v, "health");
  const status = string(h["status"], "health status");
  return {
    health: {
      status: verdicts.find((known) => known === status) ?? "Unknown",
      summary: string(h["summary"], "health summary"),
      details: absent(h["details"])
        ? []
        : list(h["details"], "health details").map((d) => string(d, "a detail of health")),
    },
  };
}

function change(v: unknown): Change {
  const e = tree(v, "event");
  const op = (["add", "update", "delete"] as const).find((o) => o === e["op"]);
  if (op === undefined) throw new Malformed("an event's op is unknown");
  return {
    op,
    ns: optional(e["ns"], "ns"),
    name: string(e["name"], "name"),
    uid: optional(e["uid"], "uid"),
    rv: optional(e["rv"], "rv"),
    time: optional(e["time"], "time"),
    ...(op === "update" ? { ...patched(e), ...was(e["was"]) } : { patch: [] }),
    ...(op === "add" && !absent(e["object"]) ? { object: tree(e["object"], "object") } : {}),
    ...by(e["by"]),
  };
}

function was(v: unknown): { was?: ReadonlyMap<number, unknown> } {
  return absent(v)
    ? {}
    : { was: new Map(Object.entries(tree(v, "the previous values")).map(([index, value]) => [Number(index), value])) };
}

// Decodes the patch of an event, and the authors of the patch operations.
function patched(e: Tree): { patch: PatchOp[]; authors?: Author[] } {
  const patch = list(e["patch"], "patch").map(patchOp);
  if (absent(e["authors"])) return { patch };
  return { patch, authors: list(e["authors"], "authors").map((a) => author(a, patch.length)) };
}

function author(v: unknown, operations: number): Author {
  const a = tree(v, "author");
  const ops = list(a["ops"], "ops").map((op) => number(op, "an operation's index"));
  if (ops.some((op) => !Number.isInteger(op) || op < 0 || op >= operations))
    throw new Malformed("an author's operation is not in the patch");
  return { ...writer(a), ops };
}

function patchOp(v: unknown): PatchOp {
  const o = tree(v, "patch");
  const path = string(o["path"], "path");
  if (path !== "" && !path.startsWith("/")) throw new Malformed("a patch's path is not a JSON pointer");
  switch (o["op"]) {
    case "add":
    case "replace":
    case "test":
      if (o["value"] === undefined) throw new Malformed("a patch has no value");
      return { op: o["op"], path, value: o["value"] };
    case "remove":
      return { op: "remove", path };
    case "move":
    case "copy":
      return { op: o["op"], path, from: string(o["from"], "from") };
    default:
      throw new Malformed("a patch's op is unknown");
  }
}

function column(v: unknown): Column {
  const c = tree(v, "column");
  return {
    name: string(c["name"], "column name"),
    type: optional(c["type"], "column type"),
    format: optional(c["format"], "column format"),
    priority: absent(c["priority"]) ? 0 : number(c["priority"], "priority"),
    relative: c["relative"] === true,
  };
}

// Decodes rows that are sent column by column. If a column of cells equals the names or creation times of the rows, the
// server sends only the string "name" or "created" for it.
function table(v: unknown): Row[] {
  const t = tree(v, "table");
  const names = list(t["name"], "name");
  const texts = (member: string): readonly unknown[] => same(list(t[member], member), member);
  const same = <T>(column: readonly T[], what: string): readonly T[] => {
    if (column.length !== names.length) throw new Malformed(`${what} has ${column.length} of ${names.length} rows`);
    return column;
  };
  const [ns, rv, created] = [texts("ns"), texts("rv"), texts("created")];
  const columns = list(t["cells"], "cells").map((c) =>
    (c === "name" ? names : c === "created" ? created : same(list(c, "a column"), "a column")),
  );
  return names.map((name, i) => ({
    ns: string(ns[i], "ns"),
    name: string(name, "name"),
    uid: "",
    rv: string(rv[i], "rv"),
    created: string(created[i], "created"),
    cells: columns.map((c) => cell(c[i])),
  }));
}

function row(v: unknown): Row {
  const r = tree(v, "row");
  return {
    ns: optional(r["ns"], "ns"),
    name: string(r["name"], "name"),
    uid: optional(r["uid"], "uid"),
    rv: optional(r["rv"], "rv"),
    created: optional(r["created"], "created"),
    cells: list(r["cells"], "cells").map(cell),
  };
}

function cells(v: unknown): Map<number, Cell> {
  const out = new Map<number, Cell>();
  if (absent(v)) return out;
  for (const [key, value] of Object.entries(tree(v, "cells"))) {
    if (!/^\d{1,4}$/.test(key)) throw new Malformed("a cell's index is not a number");
    out.set(Number(key), cell(value));
  }
  return out;
}

function cell(v: unknown): Cell {
  if (v === null || typeof v === "string" || typeof v === "number" || typeof v === "boolean") return v;
  if (v === undefined) return null;
  // Convert other cells to text: Tables of aggregated APIs contain arrays, objects and integers beyond 2^53.
  return typeof v === "bigint"
    ? v.toString()
    : JSON.stringify(v, (_k, x: unknown) => (typeof x === "bigint" ? x.toString() : x));
}

function by(v: unknown): { by?: By } {
  if (absent(v)) return {};
  return { by: writer(tree(v, "by")) };
}

// In the view table, an author is an array without member names.
function tableBy(v: unknown): { by?: By } {
  if (absent(v)) return {};
  const [manager, operation, subresource, time] = list(v, "by");
  return { by: writer({ manager, operation, subresource, time }) };
}

function writer(b: Tree): By {
  return {
    manager: optional(b["manager"], "manager"),
    operation: optional(b["operation"], "operation"),
    subresource: optional(b["subresource"], "subresource"),
    time: optional(b["time"], "time"),
  };
}

function problem(v: unknown): Problem {
  const p = tree(v, "problem");
  return {
    title: optional(p["title"], "title"),
    status: typeof p["status"] === "number" ? p["status"] : 0,
    detail: optional(p["detail"], "detail"),
  };
}

function tree(v: unknown, what: string): Tree {
  if (typeof v !== "object" || v === null || Array.isArray(v)) throw new Malformed(`${what} is not an object`);
  return v as Tree;
}

function list(v: unknown, what: string): unknown[] {
  if (!Array.isArray(v)) throw new Malformed(`${what} is not a list`);
  return v;
}

function string(v: unknown, what: string): string {
  if (typeof v !== "string") throw new Malformed(`${what} is not a string`);
  return v;
}

function number(v: unknown, what: string): number {
  if (typeof v !== "number" || !Number.isFinite(v)) throw new Malformed(`${what} is not a number`);
  return v;
}

function whole(v: unknown, what: string): number {
  const n = number(v, what);
  if (!Number.isSafeInteger(n) || n < 0) throw new Malformed(`${what} is not a non-negative integer`);
  return n;
}

function optional(v: unknown, what: string): string {
  return absent(v) ? "" : string(v, what);
}

function absent(v: unknown): v is null | undefined {
  return v === undefined || v === null;
}
