// The severity of cells that show a state, derived from the words in them. It is the same as Tones in
// internal/watch/tone.go. Tests compare both with testdata/tones.json there.

import type { Cell } from "./wire.ts";

export type Tone = "bad" | "warn";

const columns = new Set(["status", "phase", "state", "health", "type", "sync status", "health status"]);
const bad = [
  "backoff",
  "error",
  "errimage",
  "fail",
  "oomkilled",
  "evicted",
  "notready",
  "lost",
  "degraded",
  "exceeded",
  "invalid",
  "cannot",
  "outofcpu",
  "outofmemory",
  "outofpods",
  "unhealthy",
  "denied",
  "signal:",
  "exitcode:",
];
const warn = [
  "pending",
  "terminating",
  "creating",
  "deleting",
  "initializing",
  "init:",
  "progressing",
  "warning",
  "schedulingdisabled",
  "outofsync",
  "missing",
  "unknown",
  "released",
  "waiting",
];
const ends = ["Completed", "Succeeded", "Complete"];

/** Returns the severity that a word of the text filter selects; null for any other word. */
export const toneOf = (word: string): Tone | null =>
  word === "is:failing" ? "bad" : word === "is:waiting" ? "warn" : null;

/** A column of which the cells have a severity: it shows a state, or how many of something are ready. */
export interface Telling {
  readonly index: number;
  readonly ready: boolean;
  /** For a ready column: the index of the column with the desired number; -1 for none. */
  readonly desired: number;
}

/** Finds the columns of which the cells have a severity, by the names of all columns. */
export function telling(names: readonly string[]): Telling[] {
  const lower = names.map((name) => name.toLowerCase());
  const desired = lower.indexOf("desired");
  return lower
    .map((name, index) => ({ index, name }))
    .filter(({ name }) => name === "ready" || columns.has(name))
    .map(({ index, name }) => ({ index, ready: name === "ready", desired }));
}

/** Returns the severity of a cell in one of these columns. */
export function toneIn(
  told: readonly Telling[],
  cells: readonly Cell[],
  { index, ready, desired }: Telling,
): Tone | null {
  const text = textIn(cells, index);
  const tone = ready ? readyTone(text, textIn(cells, desired)) : stateTone(text);
  // A completed object is no longer ready, and need not be.
  return ready && tone === "warn" && told.some((t) => !t.ready && ends.includes(textIn(cells, t.index))) ? null : tone;
}

const textIn = (cells: readonly Cell[], index: number): string => String(cells[index] ?? "");

// A cache of the severity by text. In a long list, most texts occur many times.
const known = new Map<string, Tone | null>();
const mostKnown = 5000;

function stateTone(text: string): Tone | null {
  let tone = known.get(text);
  if (tone !== undefined) return tone;
  tone = readState(text);
  if (known.size < mostKnown) known.set(text, tone);
  return tone;
}

function readState(text: string): Tone | null {
  const word = text.toLowerCase().split(" ", 1)[0] ?? "";
  const has = (parts: readonly string[]): boolean => parts.some((p) => word.includes(p));
  if (has(bad)) return "bad";
  return has(warn) ? "warn" : null;
}

// Returns the severity of a cell in a ready column. The text is "1/2" (ready out of desired), the status of a
// condition, or a number, which is compared with desired, the text of another column.
function readyTone(text: string, desired: string): Tone | null {
  if (text === "False") return "bad";
  if (text === "Unknown") return "warn";
  if (text === "1/1") return null; // The most common value.
  const found = /^(\d+)\/(\d+)$/.exec(text.includes("/") ? text : `${text}/${desired}`);
  return found !== null && BigInt(found[1] ?? 0) < BigInt(found[2] ?? 0) ? "warn" : null;
}
