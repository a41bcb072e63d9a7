// Merges the lines of several logs by time.

import type { Line, LineSource } from "./lines.ts";

/** Orders lines by their time in nanoseconds. A line without a time keeps its place after the line before it. */
export const byTime = (a: Line, b: Line): number => {
  const [left, right] = [keyOf(a), keyOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
};

const keys = new WeakMap<Line, string>();

function keyOf(line: Line): string {
  let key = keys.get(line);
  if (key === undefined) keys.set(line, (key = timeKey(line.at)));
  return key;
}

// Milliseconds have 13 digits from 2001 to 2286, so the keys compare as text. Date.parse drops nanoseconds.
function timeKey(at: string): string {
  const seconds = Date.parse(at.replace(/\.\d+/, ""));
  return Number.isNaN(seconds) ? "" : `${seconds}${(/\.(\d+)/.exec(at)?.[1] ?? "").padEnd(9, "0")}`;
}

/**
 * Gives each line its source. A line without a time gets the time of the line before it. Lines before the first time
 * get that time.
 */
export function withSource(lines: readonly Line[], source: LineSource): Line[] {
  let at = lines.find((line) => line.at !== "")?.at ?? "";
  return lines.map((line) => {
    if (line.at !== "") ({ at } = line);
    return { ...line, at, source };
  });
}

/**
 * Returns a short label: the container's name, and the part of the pod's name that distinguishes it from other pods of
 * the workload.
 */
export function sourceLabel(workload: string, pod: string, container: string, hasSeveral: boolean): string {
  const own = pod.startsWith(`${workload}-`) ? pod.slice(workload.length + 1) : pod;
  // The pods of a StatefulSet differ only in a number, so the label contains the complete name of the pod.
  if (/^\d+$/.test(own)) return hasSeveral ? `${pod}/${container}` : pod;
  // The pods of a Deployment have the hash of the ReplicaSet before their own suffix.
  const suffix = /^[a-z0-9]{6,10}-([a-z0-9]{5})$/.exec(own)?.[1] ?? own;
  return hasSeveral ? `${suffix}/${container}` : suffix;
}
