// Facts of the kinds without facts of their own: all scalar values in readable form, the status first.

import { fact, none, piece, section, since, type Fact, type Piece, type Section } from "./fact.ts";
import { at, isScalar, isTree, list, members, scalar, time } from "./read.ts";

const most = 40; // facts in a section
const longest = 300; // characters of a value
const told = new Set(["apiVersion", "kind", "metadata", "status", "spec"]);
const elsewhere = new Set(["conditions", "observedGeneration"]);

export function other(o: unknown): (Section | null)[] {
  const rest = members(o).filter(([k]) => !told.has(k));
  return [
    section(
      "",
      rest.filter(([, v]) => !isTree(v)).flatMap(([k, v]) => flat(k, v)),
      [],
      most,
    ),
    section(
      "Status",
      members(at(o, "status"))
        .filter(([k]) => !elsewhere.has(k))
        .flatMap(([k, v]) => flat(k, v)),
      [],
      most,
    ),
    section(
      "Spec",
      members(at(o, "spec")).flatMap(([k, v]) => flat(k, v)),
      [],
      most,
    ),
    ...rest
      .filter(([, v]) => isTree(v))
      .slice(0, 10)
      .map(([k, v]) =>
        section(
          k,
          members(v).flatMap(([name, value]) => flat(name, value)),
          [],
          most,
        ),
      ),
  ];
}

// Returns the facts of a member. Each nested scalar has its path as a name, down to two levels.
function flat(name: string, v: unknown, deep = 0): Fact[] {
  if (isTree(v) && deep < 2)
    return Object.keys(v).length === 0
      ? []
      : members(v)
          .slice(0, most)
          .flatMap(([k, inner]) => flat(`${name}.${k}`, inner, deep + 1));
  const all = list(v);
  const f = Array.isArray(v)
    ? fact(name, ...all.slice(0, 10).map(one), all.length > 10 ? none(`and ${all.length - 10} more`) : null)
    : fact(name, one(v));
  return f === null ? [] : [f];
}

function one(v: unknown): Piece | null {
  const at = time(v);
  if (at !== "") return since(at);
  if (isScalar(v)) return v === "" ? none('""') : cut(scalar(v));
  return v === null || v === undefined ? null : cut(brief(v));
}

const cut = (text: string): Piece | null =>
  (
    text.length <= longest
      ? piece(text)
      : { text: `${text.slice(0, longest)}…`, title: `${text.length} characters; see the YAML tab` }
  );

/** Formats an object or a list on one line. */
export function brief(v: unknown, deep = 0): string {
  if (isScalar(v)) return v === "" ? '""' : scalar(v).slice(0, longest);
  if (v === null || v === undefined) return "";
  if (deep > 3) return "…";
  if (Array.isArray(v))
    return v.slice(0, 20).map((i) => brief(i, deep + 1)).join(", ") + (v.length > 20 ? ", …" : "");
  const inner = members(v)
    .slice(0, 20)
    .map(([k, i]) => `${k}: ${Array.isArray(i) || isTree(i) ? `[${brief(i, deep + 1)}]` : brief(i, deep + 1)}`);
  return inner.join("; ");
}
