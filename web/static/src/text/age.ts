const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Formats a duration in ms as HumanDuration in k8s.io/apimachinery/pkg/util/duration does. */
export function humanDuration(ms: number): string {
  // Clocks differ, so a time less than two seconds in the future counts as now.
  const seconds = Math.trunc(ms / second);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 60 * 2) return `${seconds}s`;
  const minutes = Math.trunc(ms / minute);
  if (minutes < 10) return twoUnits(minutes, "m", seconds % 60, "s");
  if (minutes < 60 * 3) return `${minutes}m`;
  const hours = Math.trunc(ms / hour);
  const days = Math.trunc(hours / 24);
  const years = Math.trunc(days / 365);
  if (hours < 8) return twoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (hours < 24 * 8) return twoUnits(days, "d", hours % 24, "h");
  if (hours < 24 * 365 * 2) return `${days}d`;
  if (hours < 24 * 365 * 8) return twoUnits(years, "y", days % 365, "d");
  return `${years}y`;
}

function twoUnits(a: number, unitA: string, b: number, unitB: string): string {
  return b === 0 ? `${a}${unitA}` : `${a}${unitA}${b}${unitB}`;
}

const agoPattern = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ago/g;
const timestamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

export function formatAges(wire: string, now: number): string {
  return wire.replace(timestamp, (at) => {
    const ms = Date.parse(at);
    return Number.isNaN(ms) ? at : humanDuration(now - ms);
  });
}

/**
 * Replaces timestamps with ages. If a timestamp is in the future, and the word "ago" follows it, replaces the timestamp
 * and the word by a text such as "in 5m".
 */
export function formatAgesInSentence(wire: string, now: number): string {
  const future = wire.replace(agoPattern, (match: string, at: string) => {
    const ms = Date.parse(at) - now;
    return ms > 2 * second ? `in ${humanDuration(ms)}` : match;
  });
  return formatAges(future, now);
}

/** Returns the first timestamp of a text in ms since 1970, or NaN if the text contains none. */
export function firstTimestamp(wire: string): number {
  timestamp.lastIndex = 0;
  const found = timestamp.exec(wire);
  return found === null ? NaN : Date.parse(found[0]);
}

/** Returns a local time such as 14:03:22, with the date if it is not today. */
export function clockTime(rfc3339: string, now: number): string {
  const at = new Date(rfc3339);
  if (Number.isNaN(at.getTime())) return "";
  const pad2 = (n: number): string => String(n).padStart(2, "0");
  const time = `${pad2(at.getHours())}:${pad2(at.getMinutes())}:${pad2(at.getSeconds())}`;
  if (at.toDateString() === new Date(now).toDateString()) return time;
  return `${at.getFullYear()}-${pad2(at.getMonth() + 1)}-${pad2(at.getDate())} ${time}`;
}
