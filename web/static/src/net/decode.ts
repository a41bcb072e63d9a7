// Decodes and checks the messages of the server, so that other code need not handle invalid messages.

import { readBuild, readCounts, readKinds, readProblemCounts, readProblems } from "./kinds.ts";
import { readChangedVerdict, readVerdict } from "./verdict.ts";
import {
  states,
  healthStatuses,
  type PatchAuthor,
  type ChangeAuthor,
  type Cell,
  type Change,
  type Column,
  type Counts,
  type Health,
  type Message,
  type NewestChange,
  type ChangeSummary,
  type ObjectEvent,
  type PatchOp,
  type Problem,
  type Row,
  type RowEvent,
  type SubscriptionSpec,
  type JsonObject,
  type WindowEvent,
} from "./wire.ts";

/** A message that could not be decoded. `id` is the id of its subscription, or null if unknown. */
export interface DecodeFault {
  readonly id: number | null;
  readonly message: string;
}

interface Decoded {
  readonly messages: readonly Message[];
  readonly faults: readonly DecodeFault[];
}

class MalformedError extends Error {}

/**
 * Decodes a text with one message or an array of messages. viewOf returns the view of a subscription, or null if the
 * subscription is unknown. Messages of unknown subscriptions are dropped.
 */
export function decode(text: string, viewOf: (id: number) => SubscriptionSpec["view"] | null): Decoded {
  let frame: unknown;
  try {
    frame = parse(text);
  } catch {
    return { messages: [], faults: [{ id: null, message: "a received message is not JSON" }] };
  }
  const messages: Message[] = [];
  const faults: DecodeFault[] = [];
  for (const item of Array.isArray(frame) ? frame : [frame]) {
    let id: number | null = null;
    try {
      const m = tree(item, "message");
      id = typeof m["id"] === "number" ? m["id"] : null;
      const read = message(m, id, viewOf);
      if (read !== null) messages.push(read);
    } catch (err) {
      if (!(err instanceof MalformedError)) throw err;
      faults.push({ id, message: `a received message is malformed: ${err.message}` });
    }
  }
  return { messages, faults };
}

// Matches JSON integers of 16 or more digits, which can lose digits as JavaScript numbers.
const longInteger = /[:[,]\s*-?\d{16,}\s*[,}\]]/;

export function parse(text: string): unknown {
  if (!longInteger.test(text)) return JSON.parse(text);
  // Parse with a reviver function only if the text contains long integers, because a reviver is slow.
  return JSON.parse(text, function (this: unknown, _key: string, value: unknown, context?: { source?: string }) {
    const source = context?.source;
    // Some browsers do not provide the source text of a number here. For these, keep the rounded number.
    if (typeof value !== "number" || Number.isSafeInteger(value) || source === undefined || !/^-?\d+$/.test(source))
      return value;
    return BigInt(source);
  } as (key: string, value: unknown) => unknown);
}

function message(
  m: JsonObject,
  id: number | null,
  viewOf: (id: number) => SubscriptionSpec["view"] | null,
): Message | null {
  const type = string(m["type"], "type");
  if (type === "error") return { id, type, problem: problem(m["problem"]) };
  if (id === null) throw new MalformedError(`a message of the type ${type} has no id`);
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
          object: isAbsent(m["object"]) ? null : tree(m["object"], "object"),
          ...health(m["health"]),
          verdict: readVerdict(m["verdict"]),
        };
      }
      if (view === "changes") {
        return {
          id,
          type: "changes",
          cursor: string(m["cursor"], "cursor"),
          since: optional(m["since"], "since"),
          object: isAbsent(m["object"]) ? null : tree(m["object"], "object"),
          events: isAbsent(m["events"]) ? [] : list(m["events"], "events").map(change),
        };
      }
      return {
        id,
        type: "rows",
        cursor: optional(m["cursor"], "cursor"),
        columns: decodeColumns(m),
        rows: isAbsent(m["table"]) ? [] : table(m["table"]),
        last: m["last"] === true,
      };
    case "events": {
      const cursor = string(m["cursor"], "cursor");
      const events = isAbsent(m["events"]) ? [] : list(m["events"], "events");
      if (view === "changes") return { id, type: "change-events", cursor, events: events.map(change) };
      return view === "object"
        ? { id, type: "object-events", cursor, events: events.map(objectEvent) }
        : { id, type: "row-events", cursor, events: events.map(tableEvent) };
    }
    case "window": {
      if (view !== "window") return null;
      const count = nonNegativeInteger(m["count"], "count");
      const rows = list(m["rows"], "rows").map(row);
      if (rows.length > count) throw new MalformedError("it has more rows than requested");
      return {
        id,
        type,
        cursor: string(m["cursor"], "cursor"),
        columns: decodeColumns(m),
        ...counts(m),
        ...decodeChangeSummary(m),
        offset: nonNegativeInteger(m["offset"], "offset"),
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
        ...decodeChangeSummary(m),
        events: list(m["events"], "events").map(windowEvent),
      };
    case "state": {
      const state = states.find((s) => s === m["state"]);
      if (state === undefined) throw new MalformedError("it contains an unknown watch state");
      return {
        id,
        type,
        state,
        since: optional(m["since"], "since"),
        reason: optional(m["reason"], "reason"),
        count: isAbsent(m["count"]) ? null : number(m["count"], "count"),
        total: isAbsent(m["total"]) ? null : number(m["total"], "total"),
        namespaces: isAbsent(m["namespaces"])
          ? []
          : list(m["namespaces"], "namespaces").map((ns) => string(ns, "namespace")),
      };
    }
    case "resources":
      if (view !== "resources") return null;
      list(m["resources"], "resources");
      return {
        id,
        type,
        build: readBuild(m),
        kinds: readKinds(m),
        versions: readKinds(m, false),
        problems: readProblems(m),
      };
    case "counts":
      return view === "resources" ? { id, type, counts: readCounts(m), problems: readProblemCounts(m) } : null;
    case "overview":
    case "rates":
    case "explanation":
      return view === type ? { id, type, members: m } : null;
    case "digest": {
      if (view !== "table" && view !== "window") return null;
      const digest = string(m["digest"], "digest");
      if (!/^[0-9a-f]{8}$/.test(digest)) throw new MalformedError("a digest is not 8 hex digits");
      return { id, type, cursor: string(m["cursor"], "cursor"), count: number(m["count"], "count"), digest };
    }
    case "part":
      return {
        id,
        type,
        told: nonNegativeInteger(m["told"], "told"),
        of: nonNegativeInteger(m["of"], "of"),
        text: string(m["text"], "text"),
      };
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
        ...decodeExtra(e["extra"]),
        ...readChangedVerdict(e["verdict"]),
        ...decodeTableAuthor(e["by"]),
      };
    case "delete":
      return { op: "delete", ns: optional(e["ns"], "ns"), name: string(e["name"], "name") };
    default:
      // An unknown op is an error, because the page does not know what the event has changed.
      throw new MalformedError("a change has an unknown operation (op)");
  }
}

function windowEvent(v: unknown): WindowEvent {
  const e = tree(v, "event");
  const at = nonNegativeInteger(e["at"], "an event's place");
  switch (e["op"]) {
    case "insert":
      return { op: "insert", at, row: row(e["row"]), ...decodeAuthor(e["by"]) };
    case "update":
      return {
        op: "update",
        at,
        uid: optional(e["uid"], "uid"),
        rv: optional(e["rv"], "rv"),
        cells: cells(e["cells"]),
        ...decodeExtra(e["extra"]),
        ...readChangedVerdict(e["verdict"]),
        ...decodeAuthor(e["by"]),
      };
    case "remove":
      return {
        op: "remove",
        at,
        ...decodeRemovalReason(e["why"]),
        ...(isAbsent(e["cells"])
          ? {}
          : {
              now: {
                rv: optional(e["rv"], "rv"),
                cells: cells(e["cells"]),
                ...decodeExtra(e["extra"]),
                ...readChangedVerdict(e["verdict"]),
                ...decodeAuthor(e["by"]),
              },
            }),
      };
    default:
      throw new MalformedError("a change has an unknown operation (op)");
  }
}

// Decodes why the server removed a row from a window. An unknown reason counts as no reason.
function decodeRemovalReason(v: unknown): { why?: "gone" | "filtered" | "moved" } {
  const known = (["gone", "filtered", "moved"] as const).find((w) => w === v);
  return known === undefined ? {} : { why: known };
}

function counts(m: JsonObject): Counts {
  return {
    total: nonNegativeInteger(m["total"], "total"),
    matching: nonNegativeInteger(m["matching"], "matching"),
    failing: nonNegativeInteger(m["failing"], "failing"),
    degraded: nonNegativeInteger(m["degraded"], "degraded"),
    waiting: nonNegativeInteger(m["waiting"], "waiting"),
  };
}

function decodeChangeSummary(m: JsonObject): ChangeSummary {
  return {
    changes: isAbsent(m["changes"]) ? 0 : nonNegativeInteger(m["changes"], "changes"),
    newest: isAbsent(m["newest"]) ? null : decodeNewest(tree(m["newest"], "newest")),
  };
}

function decodeNewest(e: JsonObject): NewestChange | null {
  const op = (["add", "update", "delete"] as const).find((o) => o === e["op"]);
  return op === undefined
    ? null
    : {
        op,
        ns: optional(e["ns"], "ns"),
        name: string(e["name"], "name"),
        before: cells(e["before"]),
        cells: cells(e["cells"]),
        ...decodeAuthor(e["by"]),
      };
}

function objectEvent(v: unknown): ObjectEvent {
  const e = tree(v, "event");
  const changedBy = decodeAuthor(e["by"]);
  switch (e["op"]) {
    case "add":
      return {
        op: "add",
        object: tree(e["object"], "object"),
        ...health(e["health"]),
        verdict: readVerdict(e["verdict"]),
        ...changedBy,
      };
    case "update":
      return {
        op: "update",
        uid: string(e["uid"], "uid"),
        rv: optional(e["rv"], "rv"),
        ...decodePatch(e),
        ...health(e["health"]),
        ...readChangedVerdict(e["verdict"]),
        ...changedBy,
      };
    case "delete":
      return { op: "delete", uid: optional(e["uid"], "uid"), ...changedBy };
    default:
      throw new MalformedError("a change has an unknown operation (op)");
  }
}

// Decodes the health of an object. An unknown status becomes "Unknown".
function health(v: unknown): { health?: Health } {
  if (isAbsent(v)) return {};
  const h = tree(v, "health");
  const status = string(h["status"], "health status");
  return {
    health: {
      status: healthStatuses.find((known) => known === status) ?? "Unknown",
      summary: string(h["summary"], "health summary"),
      details: isAbsent(h["details"])
        ? []
        : list(h["details"], "health details").map((d) => string(d, "a detail of health")),
    },
  };
}

function change(v: unknown): Change {
  const e = tree(v, "event");
  const op = (["add", "update", "delete"] as const).find((o) => o === e["op"]);
  if (op === undefined) throw new MalformedError("a change has an unknown operation (op)");
  return {
    op,
    ns: optional(e["ns"], "ns"),
    name: string(e["name"], "name"),
    uid: optional(e["uid"], "uid"),
    rv: optional(e["rv"], "rv"),
    time: optional(e["time"], "time"),
    severity: optional(e["severity"], "severity"),
    ...(op === "update" ? { ...decodePatch(e), ...decodePreviousValues(e["was"]) } : { patch: [] }),
    ...(op === "add" && !isAbsent(e["object"]) ? { object: tree(e["object"], "object") } : {}),
    ...decodeAuthor(e["by"]),
  };
}

function decodePreviousValues(v: unknown): { was?: ReadonlyMap<number, unknown> } {
  return isAbsent(v)
    ? {}
    : { was: new Map(Object.entries(tree(v, "was")).map(([index, value]) => [Number(index), value])) };
}

function decodePatch(e: JsonObject): { patch: PatchOp[]; authors?: PatchAuthor[] } {
  const patch = list(e["patch"], "patch").map(patchOp);
  if (isAbsent(e["authors"])) return { patch };
  return { patch, authors: list(e["authors"], "authors").map((a) => author(a, patch.length)) };
}

function author(v: unknown, operations: number): PatchAuthor {
  const a = tree(v, "author");
  const ops = list(a["ops"], "ops").map((op) => number(op, "an operation's index"));
  if (ops.some((op) => !Number.isInteger(op) || op < 0 || op >= operations))
    throw new MalformedError("an author refers to a patch operation that does not exist");
  return { ...decodeFieldManager(a), ops };
}

function patchOp(v: unknown): PatchOp {
  const o = tree(v, "patch");
  const path = string(o["path"], "path");
  if (path !== "" && !path.startsWith("/")) throw new MalformedError("a patch's path is not a JSON pointer");
  switch (o["op"]) {
    case "add":
    case "replace":
    case "test":
      if (o["value"] === undefined) throw new MalformedError("a patch operation has no value");
      return { op: o["op"], path, value: o["value"] };
    case "remove":
      return { op: "remove", path };
    case "move":
    case "copy":
      return { op: o["op"], path, from: string(o["from"], "from") };
    default:
      throw new MalformedError("a patch has an unknown op");
  }
}

function decodeColumns(m: JsonObject): Column[] | null {
  if (isAbsent(m["columns"])) return null;
  const extra = isAbsent(m["extraColumns"]) ? [] : list(m["extraColumns"], "extraColumns");
  return [...list(m["columns"], "columns").map(column), ...extra.map((c, extraAt) => ({ ...column(c), extraAt }))];
}

const decodeExtra = (v: unknown): { extra?: readonly Cell[] } =>
  isAbsent(v) ? {} : { extra: list(v, "extra").map(cell) };

function column(v: unknown): Column {
  const c = tree(v, "column");
  return {
    name: string(c["name"], "column name"),
    type: optional(c["type"], "column type"),
    format: optional(c["format"], "column format"),
    priority: isAbsent(c["priority"]) ? 0 : number(c["priority"], "priority"),
    relative: c["relative"] === true,
  };
}

// Decodes rows that the server sends column by column.
function table(v: unknown): Row[] {
  const t = tree(v, "table");
  const names = list(t["name"], "name");
  const columnOf = (member: string): readonly unknown[] => checkLength(list(t[member], member), member);
  const checkLength = <T>(column: readonly T[], name: string): readonly T[] => {
    if (column.length !== names.length)
      throw new MalformedError(`“${name}” has ${column.length} values for ${names.length} rows`);
    return column;
  };
  const [ns, rv, created] = [columnOf("ns"), columnOf("rv"), columnOf("created")];
  // Usually, the verdicts are a list with one element per row. If all are the same, the server sends only one word.
  const verdicts = Array.isArray(t["verdict"]) ? columnOf("verdict") : null;
  // Instead of a column with the names or creation times of the rows, the server sends the word "name" or "created".
  const columnsOf = (member: string): (readonly unknown[])[] =>
    list(t[member], member).map((c) =>
      c === "name" ? names : c === "created" ? created : checkLength(list(c, "a column"), "a column"),
    );
  const columns = columnsOf("cells");
  const extra = isAbsent(t["extra"]) ? null : columnsOf("extra");
  return names.map((name, i) => ({
    ns: string(ns[i], "ns"),
    name: string(name, "name"),
    uid: "",
    rv: string(rv[i], "rv"),
    created: string(created[i], "created"),
    verdict: readVerdict(verdicts?.[i] ?? t["verdict"]),
    cells: columns.map((c) => cell(c[i])),
    ...(extra === null ? {} : { extra: extra.map((c) => cell(c[i])) }),
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
    verdict: readVerdict(r["verdict"]),
    cells: list(r["cells"], "cells").map(cell),
    ...decodeExtra(r["extra"]),
  };
}

function cells(v: unknown): Map<number, Cell> {
  const out = new Map<number, Cell>();
  if (isAbsent(v)) return out;
  for (const [key, value] of Object.entries(tree(v, "cells"))) {
    if (!/^\d{1,4}$/.test(key)) throw new MalformedError("a cell's index is not a number");
    out.set(Number(key), cell(value));
  }
  return out;
}

function cell(v: unknown): Cell {
  if (v === null || typeof v === "string" || typeof v === "number" || typeof v === "boolean") return v;
  if (v === undefined) return null;
  // Convert all other values to text. Tables of aggregated API servers can contain arrays, objects and integers beyond
  // 2^53.
  return typeof v === "bigint"
    ? v.toString()
    : JSON.stringify(v, (_k, x: unknown) => (typeof x === "bigint" ? x.toString() : x));
}

function decodeAuthor(v: unknown): { by?: ChangeAuthor } {
  if (isAbsent(v)) return {};
  return { by: decodeFieldManager(tree(v, "by")) };
}

// Decodes the author of a change in the view "table". There, an author is an array, not an object as in other views.
function decodeTableAuthor(v: unknown): { by?: ChangeAuthor } {
  if (isAbsent(v)) return {};
  const [manager, operation, subresource, time] = list(v, "by");
  return { by: decodeFieldManager({ manager, operation, subresource, time }) };
}

function decodeFieldManager(b: JsonObject): ChangeAuthor {
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

function tree(v: unknown, name: string): JsonObject {
  if (typeof v !== "object" || v === null || Array.isArray(v)) throw new MalformedError(`“${name}” is not an object`);
  return v as JsonObject;
}

function list(v: unknown, name: string): unknown[] {
  if (!Array.isArray(v)) throw new MalformedError(`“${name}” is not a list`);
  return v;
}

function string(v: unknown, name: string): string {
  if (typeof v !== "string") throw new MalformedError(`“${name}” is not a string`);
  return v;
}

function number(v: unknown, name: string): number {
  if (typeof v !== "number" || !Number.isFinite(v)) throw new MalformedError(`“${name}” is not a number`);
  return v;
}

function nonNegativeInteger(v: unknown, name: string): number {
  const n = number(v, name);
  if (!Number.isSafeInteger(n) || n < 0) throw new MalformedError(`“${name}” is not a non-negative integer`);
  return n;
}

function optional(v: unknown, name: string): string {
  return isAbsent(v) ? "" : string(v, name);
}

function isAbsent(v: unknown): v is null | undefined {
  return v === undefined || v === null;
}
