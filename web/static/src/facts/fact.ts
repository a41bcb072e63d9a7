// What there is to know of an object, ready to be shown: text, and what it
// means. Everything that makes facts is pure, and takes any object.

/** good is well, warn not yet, bad not; quiet is what is left out by intent. */
export type Tone = "good" | "warn" | "bad" | "quiet";

/** An object that is named; whether it exists is not known. */
export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly ns: string; // ignored for a kind without namespaces
  readonly name: string;
}

/** A part of a value. */
export interface Piece {
  readonly text: string;
  /** The raw value, or what else there is to say, for the pointer. */
  readonly title?: string | undefined;
  readonly tone?: Tone | undefined;
  /** The timestamps in the text are to be shown as the time passed since. */
  readonly passing?: true;
  readonly to?: Target;
}

/** How many there are of those that are wanted. */
export interface Bar {
  readonly have: number;
  readonly want: number;
}

export interface Fact {
  /** The same fact in another version of the object has the same key, and no other of its place has. */
  readonly key: string;
  readonly name: string;
  readonly pieces: readonly Piece[];
  readonly bar?: Bar;
}

/** One of several things of a kind that an object has, as a container. */
export interface Item {
  readonly key: string;
  readonly title: string;
  readonly head: readonly Piece[];
  readonly facts: readonly Fact[];
}

export interface Section {
  readonly key: string;
  readonly title: string; // empty for the first
  readonly facts: readonly Fact[];
  readonly items: readonly Item[];
}

const mostFacts = 200; // of a section
const mostItems = 100;

type Some<T> = T | null | undefined;

/** A piece; null for empty text, which is nothing known. */
export const piece = (text: string, more: Omit<Piece, "text"> = {}): Piece | null => (text === "" ? null : { text, ...more });

/** What is left out: not wanted, or not set. */
export const none = (text = "none"): Piece => ({ text, tone: "quiet" });

/** The time passed since, with the time for the pointer. */
export const since = (time: string, before = "", after = " ago"): Piece | null => (time === "" ? null : { text: `${before}${time}${after}`, title: time, passing: true });

/** Another object, by its name. */
export const link = (apiVersion: string, kind: string, ns: string, name: string, text = name): Piece | null => (name === "" ? null : { text, title: `${kind} ${name}`, to: { apiVersion, kind, ns, name } });

/** A fact; null where there is nothing to say. */
export function fact(name: string, ...pieces: readonly Some<Piece | string>[]): Fact | null {
  const said = pieces.map((p) => (typeof p === "string" ? piece(p) : p)).filter((p) => p !== null && p !== undefined);
  return said.length === 0 ? null : { key: name, name, pieces: said };
}

/** The first several of what may be very many, and how many more there are. */
export function few(pieces: readonly Some<Piece | string>[], most = 20): Some<Piece | string>[] {
  return pieces.length <= most ? [...pieces] : [...pieces.slice(0, most), none(`and ${pieces.length - most} more`)];
}

export const facts = (list: readonly Some<Fact>[]): Fact[] => unique(list.filter((f) => f !== null && f !== undefined));

export const item = (title: string, head: readonly Some<Piece>[], list: readonly Some<Fact>[]): Item => ({ key: title, title, head: head.filter((p) => p !== null && p !== undefined), facts: facts(list) });

/** A section, of bounded length; null where it would be empty. */
export function section(title: string, list: readonly Some<Fact>[], items: readonly Item[] = [], most = mostFacts): Section | null {
  const all = list.filter((f) => f !== null && f !== undefined);
  if (all.length + items.length === 0) return null;
  const over = Math.max(0, all.length - most) + Math.max(0, items.length - mostItems);
  return { key: title, title, facts: facts([...all.slice(0, most), over === 0 ? null : fact("More", none(`${over} more: see YAML`))]), items: unique(items.slice(0, mostItems)) };
}

// An object may name two things alike; each then has a key of its own.
function unique<T extends { readonly key: string }>(list: readonly T[]): T[] {
  const seen = new Map<string, number>();
  return list.map((t) => {
    const n = (seen.get(t.key) ?? 0) + 1;
    seen.set(t.key, n);
    return n === 1 ? t : { ...t, key: `${t.key}#${n}` };
  });
}
