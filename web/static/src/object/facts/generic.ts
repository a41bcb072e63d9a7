// Facts for kinds without specific facts: all scalar values of the object.

import { fact, absentPiece, piece, section, since, type Fact, type Piece, type Section } from "./fact.ts";
import { valueAt, isScalar, isTree, list, members, scalar, time } from "./read.ts";

const maxFacts = 40;
const maxTextLength = 300; // characters; longer values are truncated
const handledMembers = new Set(["apiVersion", "kind", "metadata", "status", "spec"]);
const shownElsewhere = new Set(["conditions", "observedGeneration"]);

export function genericFacts(o: unknown): (Section | null)[] {
  const rest = members(o).filter(([k]) => !handledMembers.has(k));
  return [
    section(
      "",
      rest.filter(([, v]) => !isTree(v)).flatMap(([k, v]) => flatFacts(k, v)),
      [],
      maxFacts,
    ),
    section(
      "Status",
      members(valueAt(o, "status"))
        .filter(([k]) => !shownElsewhere.has(k))
        .flatMap(([k, v]) => flatFacts(k, v)),
      [],
      maxFacts,
    ),
    section(
      "Spec",
      members(valueAt(o, "spec")).flatMap(([k, v]) => flatFacts(k, v)),
      [],
      maxFacts,
    ),
    ...rest
      .filter(([, v]) => isTree(v))
      .slice(0, 10)
      .map(([k, v]) =>
        section(
          k,
          members(v).flatMap(([name, value]) => flatFacts(name, value)),
          [],
          maxFacts,
        ),
      ),
  ];
}

// Returns the scalars in a nested object as facts, down to two levels. The name of each fact is the path of the scalar.
function flatFacts(name: string, v: unknown, depth = 0): Fact[] {
  if (isTree(v) && depth < 2)
    return Object.keys(v).length === 0
      ? []
      : members(v)
          .slice(0, maxFacts)
          .flatMap(([k, inner]) => flatFacts(`${name}.${k}`, inner, depth + 1));
  const all = list(v);
  const f = Array.isArray(v)
    ? fact(
        name,
        ...all.slice(0, 10).map(scalarPiece),
        all.length > 10 ? absentPiece(`and ${all.length - 10} more`) : null,
      )
    : fact(name, scalarPiece(v));
  return f === null ? [] : [f];
}

function scalarPiece(v: unknown): Piece | null {
  const at = time(v);
  if (at !== "") return since(at);
  if (isScalar(v)) return v === "" ? absentPiece('""') : truncatedPiece(scalar(v));
  return v === null || v === undefined ? null : truncatedPiece(inlineText(v));
}

const truncatedPiece = (text: string): Piece | null =>
  text.length <= maxTextLength
    ? piece(text)
    : { text: `${text.slice(0, maxTextLength)}…`, title: `${text.length} characters; see the YAML tab` };

function inlineText(v: unknown, depth = 0): string {
  if (isScalar(v)) return v === "" ? '""' : scalar(v).slice(0, maxTextLength);
  if (v === null || v === undefined) return "";
  if (depth > 3) return "…";
  if (Array.isArray(v))
    return (
      v
        .slice(0, 20)
        .map((i) => inlineText(i, depth + 1))
        .join(", ") + (v.length > 20 ? ", …" : "")
    );
  const inner = members(v)
    .slice(0, 20)
    .map(
      ([k, i]) => `${k}: ${Array.isArray(i) || isTree(i) ? `[${inlineText(i, depth + 1)}]` : inlineText(i, depth + 1)}`,
    );
  return inner.join("; ");
}
