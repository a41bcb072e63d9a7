// Finds the level in a log line, in the forms that programs commonly write.

import type { Tone } from "../tone.ts";
import type { Span } from "./search.ts";

export interface Level extends Span {
  readonly tone: Tone;
}

const within = 400; // characters; a match further into the line is not the level, but part of the message
const bad = "error|err|fatal|panic|critical|crit|severe|alert|emergency";
const warn = "warning|warn";
// The recognized forms: level=error, "level":"error", [ERROR], ERROR, and klog's E1121 12:00:00.
const named = new RegExp(`(?:^|[\\s{,"])(?:level|lvl|severity|log\\.level)"?\\s*[=:]\\s*"?(${bad}|${warn})\\b`, "i");
const shouted = new RegExp(`(?:^|[^\\w])(${bad.toUpperCase()}|${warn.toUpperCase()})(?![\\w])`);
const bracketed = new RegExp(`\\[(${bad}|${warn})\\]`, "i");
const klog = /^([EFW])\d{4} \d\d:\d\d:\d\d/;
const any = /(?:^|[\s{,"])(?:level|lvl|severity|log\.level)"?\s*[=:]\s*"?\w/i;

/** Returns the level of a line; null for a line without a level, and for one below warning. */
export function levelOf(text: string): Level | null {
  const part = text.length > within ? text.slice(0, within) : text;
  // A line with a level field has that level, whatever its message contains.
  const found =
    klog.exec(part) ?? named.exec(part) ?? (any.test(part) ? null : (bracketed.exec(part) ?? shouted.exec(part)));
  const word = found?.[1];
  if (found === null || word === undefined) return null;
  const start = found.index + found[0].indexOf(word);
  return { tone: /^w/i.test(word) ? "warn" : "bad", start, end: start + word.length };
}
