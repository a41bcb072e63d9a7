// Facts from the metadata of an object: labels, annotations, owners and dates.

import { fact, facts, link, piece, since, type Fact } from "./fact.ts";
import { at, members, number, scalar, text, texts, time, trees } from "./read.ts";

/** Returns the facts of an object's metadata. */
export function metaFacts(o: unknown): Fact[] {
  const m = at(o, "metadata");
  const deleted = time(at(m, "deletionTimestamp"));
  const finalizers = texts(at(m, "finalizers"));
  return facts([
    fact("Name", text(at(m, "name"))),
    fact("Namespace", link("v1", "Namespace", "", text(at(m, "namespace")))),
    fact("Created", since(time(at(m, "creationTimestamp")))),
    fact(
      "Deletion",
      deleted === "" ? null : { text: `requested ${deleted} ago`, title: deleted, passing: true, tone: "warn" },
    ),
    fact("Finalizers", ...finalizers.map((f) => piece(f, deleted === "" ? {} : { tone: "warn" }))),
    generation(o),
    fact("Kind", [text(at(o, "kind")), text(at(o, "apiVersion"))].filter((t) => t !== "").join(", ")),
    fact("UID", text(at(m, "uid"))),
  ]);
}

function generation(o: unknown): Fact | null {
  const now = number(at(o, "metadata", "generation"));
  const seen = number(at(o, "status", "observedGeneration"));
  if (now === null) return null;
  if (seen === null) return fact("Generation", String(now));
  return fact(
    "Generation",
    String(now),
    seen >= now ? { text: "observed", tone: "good" } : { text: `controller observed ${seen}`, tone: "warn" },
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

export const labelsOf = (o: unknown): Pair[] => pairs(at(o, "metadata", "labels"));
export const annotationsOf = (o: unknown): Pair[] => pairs(at(o, "metadata", "annotations"));

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Returns the owners of an object, its controller first. */
export function ownersOf(o: unknown): Owner[] {
  const all = trees(at(o, "metadata", "ownerReferences")).filter(
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
