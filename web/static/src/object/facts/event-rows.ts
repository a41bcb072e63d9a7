// Converts table rows of the resource "events" to Kubernetes events.

import type { Entry } from "../../model/row-source.ts";
import type { Cell, Column } from "../../net/wire.ts";

export interface EventRow {
  readonly key: string;
  readonly warning: boolean;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  // The name of the part of the object that the event regards, such as a container. Empty if the event regards the
  // object itself.
  readonly part: string;
  readonly object: string; // the object that the event regards, such as "pod/web-1"
  readonly source: string;
  readonly count: number | null;
  readonly last: string; // RFC 3339 time of the newest occurrence, or another text that the server sent
  readonly first: string;
}

export function eventSelector(kind: string, name: string, uid: string): string {
  // Select events about nodes by the node's name, because kubelets write this name, instead of the UID, into the field
  // uid of these events.
  return kind === "Node" ? `involvedObject.kind=Node,involvedObject.name=${name}` : `involvedObject.uid=${uid}`;
}

/** Returns the events in the order of the rows. If warningsFirst is true, warnings precede the other events. */
export function eventsFrom(columns: readonly Column[], rows: readonly Entry[], warningsFirst: boolean): EventRow[] {
  const columnIndex = new Map(columns.map((c, i) => [c.name.toLowerCase(), i]));
  const all = rows.map((r): EventRow => {
    const cell = (name: string): Cell => r.cells[columnIndex.get(name) ?? -1] ?? null;
    const text = (name: string): string => knownText(cell(name));
    const count = cell("count");
    return {
      key: r.uid === "" ? r.key : r.uid,
      warning: text("type") === "Warning",
      type: text("type") || "Unknown",
      reason: text("reason"),
      message: text("message").trim(),
      part: text("subobject"),
      object: text("object"),
      source: text("source").replace(/,\s*$/, ""),
      count: typeof count === "number" ? count : null,
      last: text("last seen") || r.created,
      first: text("first seen"),
    };
  });
  return warningsFirst ? [...all.filter((e) => e.warning), ...all.filter((e) => !e.warning)] : all;
}

const knownText = (cell: Cell): string =>
  cell === null || cell === "<unknown>" || cell === "<none>" ? "" : String(cell);
