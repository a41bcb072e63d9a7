// How the cells of a row stand out that tell a state, by the words in them; the
// same as Tones in internal/watch/tone.go. testdata/tones.json there holds both to it.

import type { Cell } from "./wire.ts";

export type Tone = "bad" | "warn";

const columns = new Set(["status", "phase", "state", "health", "type", "sync status", "health status"]);
const bad = ["backoff", "error", "errimage", "fail", "oomkilled", "evicted", "notready", "lost", "degraded", "exceeded", "invalid", "cannot", "outofcpu", "outofmemory", "outofpods", "unhealthy", "denied", "signal:", "exitcode:"];
const warn = ["pending", "terminating", "creating", "deleting", "initializing", "init:", "progressing", "warning", "schedulingdisabled", "outofsync", "missing", "unknown", "released", "waiting"];
const ends = ["Completed", "Succeeded", "Complete"];

/** The tone that a word of the text filter asks for; null for any other word. */
export const toneOf = (word: string): Tone | null => (word === "is:failing" ? "bad" : word === "is:waiting" ? "warn" : null);

/** A column whose cells tell a state, or how much is ready. */
export interface Telling {
  readonly index: number;
  readonly ready: boolean;
  /** Of what is ready: the column of how many there are to be; -1 for none. */
  readonly desired: number;
}

/** The columns that tell, of those with these names. */
export function telling(names: readonly string[]): Telling[] {
  const lower = names.map((name) => name.toLowerCase());
  const desired = lower.indexOf("desired");
  return lower.map((name, index) => ({ index, name })).filter(({ name }) => name === "ready" || columns.has(name)).map(({ index, name }) => ({ index, ready: name === "ready", desired }));
}

/** The tone of a cell of a row, one of those that tell. */
export function toneIn(told: readonly Telling[], cells: readonly Cell[], { index, ready, desired }: Telling): Tone | null {
  const text = textIn(cells, index);
  const tone = ready ? readyTone(text, textIn(cells, desired)) : stateTone(text);
  // What has run to its end is not ready any more, and need not be.
  return ready && tone === "warn" && told.some((t) => !t.ready && ends.includes(textIn(cells, t.index))) ? null : tone;
}

const textIn = (cells: readonly Cell[], index: number): string => String(cells[index] ?? "");

// Of many rows few tell something that no other does.
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

// "1/2", how many of how many are ready, or a condition; a number alone is of as
// many as are desired, where another column has that.
function readyTone(text: string, desired: string): Tone | null {
  if (text === "False") return "bad";
  if (text === "Unknown") return "warn";
  if (text === "1/1") return null; // As most are.
  const found = /^(\d+)\/(\d+)$/.exec(text.includes("/") ? text : `${text}/${desired}`);
  return found !== null && BigInt(found[1] ?? 0) < BigInt(found[2] ?? 0) ? "warn" : null;
}
