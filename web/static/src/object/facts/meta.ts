import { fact, facts, link, piece, since, type Fact } from "./fact.ts";
import { valueAt, members, number, scalar, text, texts, time, trees } from "./read.ts";

export function metaFacts(o: unknown): Fact[] {
  const m = valueAt(o, "metadata");
  const deleted = deletionRequestedAt(m);
  const finalizers = texts(valueAt(m, "finalizers"));
  return facts([
    fact("Name", text(valueAt(m, "name"))),
    fact("Namespace", link("v1", "Namespace", "", text(valueAt(m, "namespace")))),
    fact("Created", since(time(valueAt(m, "creationTimestamp")))),
    fact(
      "Deletion",
      deleted === "" ? null : { text: `requested ${deleted} ago`, title: deleted, isRelative: true, level: "warn" },
    ),
    fact("Finalizers", ...finalizers.map((f) => piece(f, deleted === "" ? {} : { level: "warn" }))),
    generation(o),
    fact("Kind", [text(valueAt(o, "kind")), text(valueAt(o, "apiVersion"))].filter((t) => t !== "").join(", ")),
    fact("UID", text(valueAt(m, "uid"))),
  ]);
}

// The deletionTimestamp is the time at which the grace period ends, so subtract this period.
function deletionRequestedAt(m: unknown): string {
  const deadline = Date.parse(time(valueAt(m, "deletionTimestamp")));
  const gracePeriod = number(valueAt(m, "deletionGracePeriodSeconds")) ?? 0;
  return Number.isNaN(deadline) ? "" : new Date(deadline - gracePeriod * 1000).toISOString().replace(".000Z", "Z");
}

function generation(o: unknown): Fact | null {
  const current = number(valueAt(o, "metadata", "generation"));
  const observed = number(valueAt(o, "status", "observedGeneration"));
  if (current === null) return null;
  if (observed === null) return fact("Generation", String(current));
  return fact(
    "Generation",
    String(current),
    observed >= current
      ? { text: "observed", level: "good" }
      : { text: `controller observed ${observed}`, level: "warn" },
  );
}

export interface Pair {
  readonly key: string;
  readonly value: string;
}

const pairs = (v: unknown): Pair[] =>
  members(v)
    .map(([key, value]) => ({ key, value: scalar(value) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));

export const labelsOf = (o: unknown): Pair[] => pairs(valueAt(o, "metadata", "labels"));
export const annotationsOf = (o: unknown): Pair[] => pairs(valueAt(o, "metadata", "annotations"));

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Returns the owners of an object, the controller first. */
export function ownersOf(o: unknown): Owner[] {
  const all = trees(valueAt(o, "metadata", "ownerReferences")).filter(
    (r) => text(r["name"]) !== "" && text(r["kind"]) !== "",
  );
  all.sort((a, b) => Number(b["controller"] === true) - Number(a["controller"] === true));
  return all.map((r) => ({
    apiVersion: text(r["apiVersion"]),
    kind: text(r["kind"]),
    name: text(r["name"]),
    uid: text(r["uid"]),
  }));
}
