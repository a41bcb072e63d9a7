// Facts of Kubernetes events, of the core group and of the group events.k8s.io.

import { absentPiece, fact, link, piece, section, since, type Piece, type Section } from "./fact.ts";
import { number, scalar, text, time, valueAt } from "./read.ts";

export function event(o: unknown): (Section | null)[] {
  const isWarning = text(valueAt(o, "type")) === "Warning";
  const regarding = valueAt(o, "involvedObject") ?? valueAt(o, "regarding");
  const source = valueAt(o, "source") ?? valueAt(o, "deprecatedSource");
  const occurrences =
    number(valueAt(o, "series", "count")) ?? number(valueAt(o, "count")) ?? number(valueAt(o, "deprecatedCount"));
  const first =
    time(valueAt(o, "firstTimestamp")) || time(valueAt(o, "deprecatedFirstTimestamp")) || time(valueAt(o, "eventTime"));
  const last =
    time(valueAt(o, "series", "lastObservedTime")) ||
    time(valueAt(o, "lastTimestamp")) ||
    time(valueAt(o, "deprecatedLastTimestamp")) ||
    first;
  return [
    section("", [
      fact("Object", objectLink(regarding), partPiece(regarding)),
      fact("Type", piece(text(valueAt(o, "type")), isWarning ? { level: "warn" } : {})),
      fact("Reason", text(valueAt(o, "reason"))),
      fact("Message", text(valueAt(o, "message")) || text(valueAt(o, "note"))),
      fact("Count", occurrences === null || occurrences < 1 ? "1" : String(occurrences)),
      fact("Last seen", since(last) ?? absentPiece("unknown")),
      first === last ? null : fact("First seen", since(first)),
      fact("Action", text(valueAt(o, "action"))),
      fact("Related object", objectLink(valueAt(o, "related"))),
      fact(
        "Source",
        text(valueAt(source, "component")) ||
          text(valueAt(o, "reportingComponent")) ||
          text(valueAt(o, "reportingController")),
        hostPiece(text(valueAt(source, "host")) || text(valueAt(o, "reportingInstance"))),
      ),
    ]),
  ];
}

function objectLink(v: unknown): Piece | null {
  const [kind, ns, name] = [text(valueAt(v, "kind")), text(valueAt(v, "namespace")), text(valueAt(v, "name"))];
  const where = ns === "" ? "" : `${ns}/`;
  // Some components omit the API version of Pods and Nodes, so use their version v1.
  return link(text(valueAt(v, "apiVersion")) || "v1", kind, ns, name, `${kind} ${where}${name}`.trim());
}

// Returns the part of the object that an event regards. For "spec.containers{web}", the text is "web", and the tooltip
// is the complete path.
function partPiece(v: unknown): Piece | null {
  const path = scalar(valueAt(v, "fieldPath"));
  return piece(/\{(.+)\}$/.exec(path)?.[1] ?? path, { title: path, level: "quiet" });
}

const hostPiece = (host: string): Piece | null => piece(host, { level: "quiet" });
