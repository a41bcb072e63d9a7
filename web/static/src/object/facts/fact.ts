// A fact is a named value of an object for the overview, as text with its meaning, such as a link or a severity. All
// functions that create facts are pure, and accept objects of any shape.

/** good is healthy, warn is not yet healthy, bad is failed. quiet is absent or disabled by intent. */
export type FactTone = "good" | "warn" | "bad" | "quiet";

/** A reference to another object, which may not exist. */
export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly ns: string; // ignored for a cluster-scoped kind
  readonly name: string;
}

/** A part of a fact's value. */
export interface Piece {
  readonly text: string;
  /** The tooltip: the raw value, or more details. */
  readonly title?: string | undefined;
  readonly tone?: FactTone | undefined;
  /** Set if timestamps in the text are shown as the time that has passed since. */
  readonly isRelative?: true;
  readonly target?: Target;
}

/** A count and the wanted count, shown as a bar. */
export interface Bar {
  readonly actual: number;
  readonly desired: number;
}

export interface Fact {
  /** Identifies the fact within its list. It is the same in other versions of the object. */
  readonly key: string;
  readonly name: string;
  readonly pieces: readonly Piece[];
  readonly bar?: Bar;
}

/** One of several parts of an object, such as a container. */
export interface Item {
  readonly key: string;
  readonly title: string;
  readonly head: readonly Piece[];
  readonly facts: readonly Fact[];
}

export interface Section {
  readonly key: string;
  readonly title: string; // empty for the first section of an object
  readonly facts: readonly Fact[];
  readonly items: readonly Item[];
}

const maxFacts = 200; // the maximum number of facts in a section
const maxItems = 100;

type Optional<T> = T | null | undefined;

/** Returns a piece with this text; null if the text is empty, because then the value is unknown. */
export const piece = (text: string, more: Omit<Piece, "text"> = {}): Piece | null =>
  (text === "" ? null : { text, ...more });

/** Returns the piece which shows that a value is not set or not wanted. */
export const absentPiece = (text = "none"): Piece => ({ text, tone: "quiet" });

/** Returns a piece that shows how long ago time is, with time itself as the tooltip. */
export const since = (time: string, before = "", after = " ago"): Piece | null =>
  (time === "" ? null : { text: `${before}${time}${after}`, title: time, isRelative: true });

/** Returns a link to another object. */
export const link = (apiVersion: string, kind: string, ns: string, name: string, text = name): Piece | null =>
  (name === "" ? null : { text, title: `${kind} ${name}`, target: { apiVersion, kind, ns, name } });

/** Returns a fact; null if it has no pieces. */
export function fact(name: string, ...pieces: readonly Optional<Piece | string>[]): Fact | null {
  const present = pieces
    .map((p) => (typeof p === "string" ? piece(p) : p))
    .filter((p) => p !== null && p !== undefined);
  return present.length === 0 ? null : { key: name, name, pieces: present };
}

/** Returns the first pieces of a long list, and how many more there are. */
export function firstPieces(pieces: readonly Optional<Piece | string>[], limit = 20): Optional<Piece | string>[] {
  return pieces.length <= limit
    ? [...pieces]
    : [...pieces.slice(0, limit), absentPiece(`and ${pieces.length - limit} more`)];
}

export const facts = (list: readonly Optional<Fact>[]): Fact[] =>
  unique(list.filter((f) => f !== null && f !== undefined));

export const item = (title: string, head: readonly Optional<Piece>[], list: readonly Optional<Fact>[]): Item => ({
  key: title,
  title,
  head: head.filter((p) => p !== null && p !== undefined),
  facts: facts(list),
});

/** Returns a section of limited length; null if it would be empty. */
export function section(
  title: string,
  list: readonly Optional<Fact>[],
  items: readonly Item[] = [],
  limit = maxFacts,
): Section | null {
  const all = list.filter((f) => f !== null && f !== undefined);
  if (all.length + items.length === 0) return null;
  const omittedCount = Math.max(0, all.length - limit) + Math.max(0, items.length - maxItems);
  return {
    key: title,
    title,
    facts: facts([
      ...all.slice(0, limit),
      omittedCount === 0 ? null : fact("More", absentPiece(`${omittedCount} more; see the YAML tab`)),
    ]),
    items: unique(items.slice(0, maxItems)),
  };
}

// Makes the keys in a list unique. An object may have two parts with the same name; the later one gets another key.
function unique<T extends { readonly key: string }>(list: readonly T[]): T[] {
  const seen = new Map<string, number>();
  return list.map((t) => {
    const n = (seen.get(t.key) ?? 0) + 1;
    seen.set(t.key, n);
    return n === 1 ? t : { ...t, key: `${t.key}#${n}` };
  });
}
