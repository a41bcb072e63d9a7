// Merges the lines of several logs by time.

import type { Line, LineSource } from "./lines.ts";

/**
 * Compares two lines by their times in nanoseconds. Both lines must have a time. The function withSource sets missing
 * times.
 */
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

// Returns a text key whose alphabetical order is the order in time. The key contains milliseconds (13 digits for the
// years 2001 to 2286), and then the 9 digits of the fraction of the second. The fraction is appended as text, because
// Date.parse drops nanoseconds.
function timeKey(at: string): string {
  const seconds = Date.parse(at.replace(/\.\d+/, ""));
  return Number.isNaN(seconds) ? "" : `${seconds}${(/\.(\d+)/.exec(at)?.[1] ?? "").padEnd(9, "0")}`;
}

/**
 * Sets the source of each line. A line without a time gets the time of the line before it. If no earlier line has a
 * time, the line gets the first time in `lines`.
 */
export function withSource(lines: readonly Line[], source: LineSource): Line[] {
  let at = lines.find((line) => line.at !== "")?.at ?? "";
  return lines.map((line) => {
    if (line.at !== "") ({ at } = line);
    return { ...line, at, source };
  });
}

/**
 * Returns a short label: the part of the pod's name that distinguishes the pod from other pods of the workload. If
 * hasSeveral is true, the container's name follows.
 */
export function sourceLabel(workload: string, pod: string, container: string, hasSeveral: boolean): string {
  const own = pod.startsWith(`${workload}-`) ? pod.slice(workload.length + 1) : pod;
  // A pod of a StatefulSet has only a number after the workload's name, so use the pod's complete name as the label.
  if (/^\d+$/.test(own)) return hasSeveral ? `${pod}/${container}` : pod;
  // The name of a Deployment's pod contains the hash of the ReplicaSet before the pod's own suffix.
  const suffix = /^[a-z0-9]{6,10}-([a-z0-9]{5})$/.exec(own)?.[1] ?? own;
  return hasSeveral ? `${suffix}/${container}` : suffix;
}
