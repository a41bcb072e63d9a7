// Decodes and formats the watch status. internal/web/page/status.go creates the same texts for the server-rendered
// page; tests compare both with internal/web/testdata/watchstatus.json.

import { plural } from "../net/kinds.ts";
import { text } from "../net/text.ts";
import { bytesText } from "../text/bytes.ts";
import { formatInteger } from "../text/format.ts";

/** One row of the status page, which describes one watch of the server. */
export interface WatchScope {
  readonly key: string;
  readonly href: string;
  readonly resource: string;
  readonly group: string;
  readonly scope: string;
  readonly state: string;
  readonly status: string;
  readonly reason: string;
  readonly cells: readonly string[];
}

export interface WatchStatus {
  readonly memoryText: string;
  readonly scopes: readonly WatchScope[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Decodes the body of a response. Returns null if it is not a watch status. */
export function readWatchStatus(body: unknown): WatchStatus | null {
  if (!isFields(body) || !Array.isArray(body["resources"])) return null;
  const scopes = body["resources"].filter(isFields).map(readScope);
  return { memoryText: memoryUseText(number(body["held"]), number(body["limit"]), scopes.length), scopes };
}

function readScope(c: Fields): WatchScope {
  const [ref, fields, metadata, shared] = [
    text(c["resource"]),
    text(c["fields"]),
    c["metadata"] === true,
    c["shared"] === true,
  ];
  const ns = Array.isArray(c["namespaces"]) ? c["namespaces"].map(text).join(", ") : "";
  const slash = ref.lastIndexOf("/");
  return {
    key: [ref, metadata, shared, fields].join(" "),
    href: `/r/${ref}`,
    resource: plural({ kind: text(c["kind"]), resource: ref.slice(slash + 1) }),
    group: ref.slice(0, Math.max(0, slash)),
    scope: `${ns || "all"}${metadata ? ", metadata only" : ""}${shared ? ", masked for guests" : ""}${
      fields === "" ? "" : ` where ${fields}`
    }`,
    state: text(c["state"]),
    status: stateText(c),
    reason: text(c["reason"]),
    cells: cells(c),
  };
}

// The text for an unknown number. To show 0 instead would be wrong.
const unknownText = "–";

// Returns the texts of a row's cells that follow the cell with the state.
function cells(c: Fields): string[] {
  const listed = c["state"] === "live" || c["state"] === "stale";
  const [objects, cache, lists] = [number(c["objects"]), number(c["cacheBytes"]), number(c["lists"])];
  // Keep the timestamp in the text. When the page shows the text, it replaces timestamps with ages.
  const last = timestampText(c["lastEvent"]);
  // Formats a number that the server counts from the first successful list on. Until then, the number is unknown.
  const since = (n: number): string => (lists > 0 ? formatInteger(n) : unknownText);
  return [
    listed ? formatInteger(objects) : unknownText,
    formatInteger(number(c["readers"])),
    cache > 0 || (listed && objects === 0) ? bytesText(cache) : unknownText,
    historyText(c),
    last === "" ? unknownText : `${last} ago`,
    since(lists - 1),
    since(number(c["drops"])),
    since(number(c["resets"])),
    lists > 0 ? interruptionText(c) : unknownText,
  ];
}

function stateText(c: Fields): string {
  const state = text(c["state"]);
  const word =
    {
      syncing: "Loading",
      live: "Live",
      stale: "Stale",
      forbidden: "Forbidden",
      absent: "Not available",
      failed: "Failed",
    }[state] ?? "";
  const since = timestampText(c["since"]);
  return `${word}${since === "" ? "" : ` for ${since}`}${
    typeof c["count"] === "number" ? `, ${formatInteger(c["count"])} so far` : ""
  }`;
}

function historyText(c: Fields): string {
  const [bytes, since] = [number(c["ringBytes"]), timestampText(c["ringSince"])];
  if (bytes === 0) return "none";
  return `${bytesText(bytes)}${since === "" ? "" : ` over ${since}`}`;
}

function interruptionText(c: Fields): string {
  const [count, since] = [number(c["blind"]), timestampText(c["blindSince"])];
  if (count === 0) return "none";
  return `${count === 1 ? "1 time" : `${formatInteger(count)} times`}, ${durationText(number(c["blindSeconds"]))}${
    since === "" ? "" : `, ongoing for ${since}`
  }`;
}

function memoryUseText(usedBytes: number, limit: number, scopes: number): string {
  const amount = usedBytes > 0 || scopes === 0 ? `${bytesText(usedBytes)} cached` : "memory not measured";
  return limit > 0 ? `${amount}, limit ${bytesText(limit)}` : `${amount}, no limit`;
}

// Formats a duration in seconds, such as "9.5 s" or "3 min".
function durationText(seconds: number): string {
  const tenths = Math.floor(seconds * 10);
  if (tenths < 100) return `${Math.floor(tenths / 10)}.${tenths % 10} s`;
  if (tenths < 1200) return `${Math.floor(tenths / 10)} s`;
  return tenths < 72_000 ? `${Math.floor(tenths / 600)} min` : `${formatInteger(Math.floor(tenths / 36_000))} h`;
}

// Formats a time without fractions of a second. Returns "" if the value is not a time.
function timestampText(v: unknown): string {
  const at = new Date(text(v));
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().replace(/\.\d+/, "");
}

const number = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) ? v : 0);
const isFields = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);
