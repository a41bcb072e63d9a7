// Defines facts, the named values in the overview of an object. A fact has a text and its meaning, such as a link or
// a color. All functions that create facts are pure, and accept objects of any shape.

/** The color of a fact. good: healthy. warn: not healthy yet. bad: failed. quiet: absent or disabled on purpose. */
export type FactTone = "good" | "warn" | "bad" | "quiet";

/** A reference to another object. That object possibly does not exist. */
export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly ns: string; // ignored for cluster-scoped kinds
  readonly name: string;
}

/** One part of the value of a fact. */
export interface Piece {
  readonly text: string;
  /** The tooltip: the raw value, or more details. */
  readonly title?: string | undefined;
  readonly tone?: FactTone | undefined;
  /** Set if the timestamps in text are shown as ages. */
  readonly isRelative?: true;
  readonly target?: Target;
}

/** A bar that shows a count in relation to the desired count. */
export interface Bar {
  readonly actual: number;
  readonly desired: number;
}

export interface Fact {
  /** Identifies the fact within its list. It is the same for all versions of the object. */
  readonly key: string;
  readonly name: string;
  readonly pieces: readonly Piece[];
  readonly bar?: Bar;
}

/** A repeated part of an object, such as a container. */
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

const maxFacts = 200;
const maxItems = 100;

type Optional<T> = T | null | undefined;

/** Returns a piece with this text. Returns null if the text is empty, because the value is then unknown. */
export const piece = (text: string, more: Omit<Piece, "text"> = {}): Piece | null =>
  (text === "" ? null : { text, ...more });

/** Returns a piece for a value that is absent on purpose. */
export const absentPiece = (text = "none"): Piece => ({ text, tone: "quiet" });

/** Returns a piece that shows a time as an age, such as "5m ago". The tooltip is the time itself. */
export const since = (time: string, before = "", after = " ago"): Piece | null =>
  (time === "" ? null : { text: `${before}${time}${after}`, title: time, isRelative: true });

export const link = (apiVersion: string, kind: string, ns: string, name: string, text = name): Piece | null =>
  (name === "" ? null : { text, title: `${kind} ${name}`, target: { apiVersion, kind, ns, name } });

/** Returns a fact with the given pieces. Returns null if there are none. */
export function fact(name: string, ...pieces: readonly Optional<Piece | string>[]): Fact | null {
  const present = pieces
    .map((p) => (typeof p === "string" ? piece(p) : p))
    .filter((p) => p !== null && p !== undefined);
  return present.length === 0 ? null : { key: name, name, pieces: present };
}

/**
 * Returns at most the given number of pieces. If there are more, they are followed by a text such as "and 5 more".
 */
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

/** Returns a section with at most limit facts. Returns null if it would be empty. */
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

// Makes the keys in a list unique. If two parts of an object have the same name, the later one gets a key such as
// "name#2".
function unique<T extends { readonly key: string }>(list: readonly T[]): T[] {
  const seen = new Map<string, number>();
  return list.map((t) => {
    const n = (seen.get(t.key) ?? 0) + 1;
    seen.set(t.key, n);
    return n === 1 ? t : { ...t, key: `${t.key}#${n}` };
  });
}
