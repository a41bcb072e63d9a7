// How a cell that tells a state stands out, by the word in it; the same as tone
// in templates/words.go. testdata/tones.json holds both to it.

export type Tone = "bad" | "warn";

const columns = new Set(["status", "phase", "state", "health", "type", "sync status", "health status"]);
const bad = ["backoff", "error", "errimage", "fail", "oomkilled", "evicted", "notready", "lost", "degraded", "exceeded", "invalid", "cannot", "outofcpu", "outofmemory", "outofpods", "unhealthy", "denied", "signal:", "exitcode:"];
const warn = ["pending", "terminating", "creating", "deleting", "initializing", "init:", "progressing", "warning", "schedulingdisabled", "outofsync", "missing", "unknown", "released", "waiting"];

/** Whether the cells of a column tell a state. */
export const tells = (column: string): boolean => columns.has(column.toLowerCase());

/** The tone of a cell in such a column; null is calm. */
export function tone(text: string): Tone | null {
  const word = text.toLowerCase().split(" ", 1)[0] ?? "";
  const has = (parts: readonly string[]): boolean => parts.some((p) => word.includes(p));
  if (has(bad)) return "bad";
  return has(warn) ? "warn" : null;
}
