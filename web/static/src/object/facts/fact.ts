// Facts are the named values in the overview of an object. The pure functions here accept objects of any shape.

/** The level of a value, which selects a color. "quiet" is for a value that is absent or disabled on purpose. */
export type FactLevel = "good" | "warn" | "bad" | "quiet";

/** A link to another object, which possibly does not exist. */
export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
}

export interface Piece {
  readonly text: string;
  /** The tooltip of the text: the raw value, or more details. */
  readonly title?: string | undefined;
  readonly level?: FactLevel | undefined;
  /** If set, the timestamps in `text` are shown as ages. */
  readonly isRelative?: true;
  readonly target?: Target;
  /** Returns a long value, which is shown on request. If this member is set, `text` only describes the value. */
  readonly full?: () => string;
}

export interface Bar {
  readonly actual: number;
  readonly desired: number;
  /** The level of the bar. If missing, it is "good" if `actual` equals `desired`, and otherwise "warn". */
  readonly level?: "good" | "warn";
}

export interface Fact {
  /** Identifies the fact within its list, in all versions of the object. */
  readonly key: string;
  readonly name: string;
  readonly pieces: readonly Piece[];
  readonly bar?: Bar;
}

/** Further facts, which are shown when the user asks for them. */
export interface Group {
  readonly key: string;
  readonly title: string;
  readonly facts: readonly Fact[];
}

/** A repeated part of an object, such as a container. */
export interface Item {
  readonly key: string;
  readonly title: string;
  readonly head: readonly Piece[];
  readonly facts: readonly Fact[];
  readonly groups: readonly Group[];
}

export interface Table {
  readonly columns: readonly string[];
  /** One cell per column. The first two cells identify the row. */
  readonly rows: readonly { readonly key: string; readonly cells: readonly (Piece | null)[] }[];
}

export interface Section {
  readonly key: string;
  readonly title: string; // empty for the first section of an object
  readonly facts: readonly Fact[];
  readonly items: readonly Item[];
  readonly groups: readonly Group[];
  readonly table?: Table;
}

const maxFacts = 200;
const maxItems = 100;
const maxGroupFacts = 100;

type Optional<T> = T | null | undefined;

/** Returns a piece with a text. For an empty text (unknown value), returns null, so that nothing is shown. */
export const piece = (text: string, more: Omit<Piece, "text"> = {}): Piece | null =>
  text === "" ? null : { text, ...more };

/** Returns a piece for a value that is absent on purpose. */
export const absentPiece = (text = "none", more: Omit<Piece, "text"> = {}): Piece => ({
  text,
  level: "quiet",
  ...more,
});

/** Returns a piece that shows a time as an age, such as "5m ago". */
export const since = (time: string, before = "", after = " ago"): Piece | null =>
  time === "" ? null : { text: `${before}${time}${after}`, title: time, isRelative: true };

export const link = (apiVersion: string, kind: string, ns: string, name: string, text = name): Piece | null =>
  name === "" ? null : { text, title: `${kind} ${name}`, target: { apiVersion, kind, ns, name } };

export function fact(name: string, ...pieces: readonly Optional<Piece | string>[]): Fact | null {
  const present = pieces
    .map((p) => (typeof p === "string" ? piece(p) : p))
    .filter((p) => p !== null && p !== undefined);
  return present.length === 0 ? null : { key: name, name, pieces: present };
}

/** Returns at most `limit` pieces, followed by a piece such as "and 5 more" if there are more. */
export function firstPieces(pieces: readonly Optional<Piece | string>[], limit = 20): Optional<Piece | string>[] {
  return pieces.length <= limit
    ? [...pieces]
    : [...pieces.slice(0, limit), absentPiece(`and ${pieces.length - limit} more`)];
}

export const facts = (list: readonly Optional<Fact>[]): Fact[] =>
  unique(list.filter((f) => f !== null && f !== undefined));

/** Returns a group of facts, or null if there are none. */
export function group(title: string, list: readonly Optional<Fact>[]): Group | null {
  const all = list.filter((f) => f !== null && f !== undefined);
  if (all.length === 0) return null;
  return { key: title, title, facts: limited(all, maxGroupFacts, 0) };
}

const groupsOf = (list: readonly Optional<Group>[]): Group[] => list.filter((g) => g !== null && g !== undefined);

export const item = (
  title: string,
  head: readonly Optional<Piece>[],
  list: readonly Optional<Fact>[],
  groups: readonly Optional<Group>[] = [],
): Item => ({
  key: title,
  title,
  head: head.filter((p) => p !== null && p !== undefined),
  facts: facts(list),
  groups: groupsOf(groups),
});

export function section(
  title: string,
  list: readonly Optional<Fact>[],
  items: readonly Item[] = [],
  limit = maxFacts,
  groups: readonly Optional<Group>[] = [],
): Section | null {
  const all = list.filter((f) => f !== null && f !== undefined);
  const shownGroups = groupsOf(groups);
  if (all.length + items.length + shownGroups.length === 0) return null;
  return {
    key: title,
    title,
    facts: limited(all, limit, Math.max(0, items.length - maxItems)),
    items: unique(items.slice(0, maxItems)),
    groups: shownGroups,
  };
}

// Returns at most `limit` facts. If facts or items are omitted, it adds a fact such as "More: 5 more".
function limited(all: readonly Fact[], limit: number, omittedItems: number): Fact[] {
  const omittedCount = Math.max(0, all.length - limit) + omittedItems;
  return facts([
    ...all.slice(0, limit),
    omittedCount === 0 ? null : fact("More", absentPiece(`${omittedCount} more; see the YAML tab`)),
  ]);
}

/** Returns a section with a table. The texts of the first two cells of a row are the row's key. */
export function tableSection(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly (Piece | null)[])[],
): Section | null {
  if (rows.length === 0) return null;
  const omittedCount = Math.max(0, rows.length - maxItems);
  const keyed = rows.slice(0, maxItems).map((cells) => ({
    key: cells
      .slice(0, 2)
      .map((c) => c?.text ?? "")
      .join(" "),
    cells,
  }));
  return {
    key: title,
    title,
    facts: facts([omittedCount === 0 ? null : fact("More", absentPiece(`${omittedCount} more; see the YAML tab`))]),
    items: [],
    groups: [],
    table: { columns, rows: unique(keyed) },
  };
}

// Adds a number to repeated keys, such as "name#2".
function unique<T extends { readonly key: string }>(list: readonly T[]): T[] {
  const seen = new Map<string, number>();
  return list.map((t) => {
    const n = (seen.get(t.key) ?? 0) + 1;
    seen.set(t.key, n);
    return n === 1 ? t : { ...t, key: `${t.key}#${n}` };
  });
}
