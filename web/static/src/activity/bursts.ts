// Groups the updates of the status of one object, so that a controller that reports its progress in many steps does not
// fill the activity feed.

import type { LogEntry } from "./change-log.ts";

/** The entries that the feed shows as one line, newest first. */
export type EntryGroup = readonly [LogEntry, ...LogEntry[]];

const maxPause = 60_000; // ms; after a longer pause between two updates, the newer one starts another group

/**
 * Groups entries, which are sorted, newest first. Changes of other objects can be between two entries of a group, and
 * so can minor changes. Any other change of the same object ends its group.
 */
export function groupBursts(entries: readonly LogEntry[]): EntryGroup[] {
  const groups: [LogEntry, ...LogEntry[]][] = [];
  const growing = new Map<string, [LogEntry, ...LogEntry[]]>(); // by object
  for (const entry of entries) {
    const object = `${entry.kind.ref} ${entry.ns}/${entry.name}`;
    const group = growing.get(object);
    if (entry.isStatus && group !== undefined && (group.at(-1)?.timeMs ?? 0) - entry.timeMs <= maxPause) {
      group.push(entry);
      continue;
    }
    const created: [LogEntry] = [entry];
    groups.push(created);
    if (entry.isStatus) growing.set(object, created);
    else if (!entry.isMinor) growing.delete(object);
  }
  return groups;
}
