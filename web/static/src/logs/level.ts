// The word of a line that says how bad it is, as programs usually write it.

import type { Tone } from "../tone.ts";
import type { Span } from "./search.ts";

export interface Level extends Span {
  readonly tone: Tone;
}

const within = 400; // characters: behind them it is what somebody said
const bad = "error|err|fatal|panic|critical|crit|severe|alert|emergency";
const warn = "warning|warn";
// level=error, "level":"error", [ERROR], ERROR, and klog's E1121 12:00:00.
const named = new RegExp(`(?:^|[\\s{,"])(?:level|lvl|severity|log\\.level)"?\\s*[=:]\\s*"?(${bad}|${warn})\\b`, "i");
const shouted = new RegExp(`(?:^|[^\\w])(${bad.toUpperCase()}|${warn.toUpperCase()})(?![\\w])`);
const bracketed = new RegExp(`\\[(${bad}|${warn})\\]`, "i");
const klog = /^([EFW])\d{4} \d\d:\d\d:\d\d/;
const any = /(?:^|[\s{,"])(?:level|lvl|severity|log\.level)"?\s*[=:]\s*"?\w/i;

/** The level of a line; null where it is calm, or tells none. */
export function levelOf(text: string): Level | null {
  const part = text.length > within ? text.slice(0, within) : text;
  // What names its level means that, whatever is said behind it.
  const found = klog.exec(part) ?? named.exec(part) ?? (any.test(part) ? null : (bracketed.exec(part) ?? shouted.exec(part)));
  const word = found?.[1];
  if (found === null || word === undefined) return null;
  const start = found.index + found[0].indexOf(word);
  return { tone: /^w/i.test(word) ? "warn" : "bad", start, end: start + word.length };
}
