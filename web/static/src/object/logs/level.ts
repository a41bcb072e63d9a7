// Finds the level in a log line, in the forms that programs commonly write.

import type { Severity } from "../../model/severity.ts";
import type { Span } from "./search.ts";

export interface Level extends Span {
  readonly severity: Severity;
}

const maxPrefix = 400; // characters; a match further into the line is not the level, but part of the message
const errorWords = "error|err|fatal|panic|critical|crit|severe|alert|emergency";
const warningWords = "warning|warn";
// The recognized forms: level=error, "level":"error", [ERROR], ERROR, and klog's E1121 12:00:00.
const levelField = new RegExp(
  `(?:^|[\\s{,"])(?:level|lvl|severity|log\\.level)"?\\s*[=:]\\s*"?(${errorWords}|${warningWords})\\b`,
  "i",
);
const upperCaseLevel = new RegExp(`(?:^|[^\\w])(${errorWords.toUpperCase()}|${warningWords.toUpperCase()})(?![\\w])`);
const bracketedLevel = new RegExp(`\\[(${errorWords}|${warningWords})\\]`, "i");
const klogPrefix = /^([EFW])\d{4} \d\d:\d\d:\d\d/;
const anyLevelField = /(?:^|[\s{,"])(?:level|lvl|severity|log\.level)"?\s*[=:]\s*"?\w/i;

/** Returns the level of a line; null for a line without a level, and for one below warning. */
export function levelOf(text: string): Level | null {
  const part = text.length > maxPrefix ? text.slice(0, maxPrefix) : text;
  // A line with a level field has that level, whatever its message contains.
  const found =
    klogPrefix.exec(part) ??
    levelField.exec(part) ??
    (anyLevelField.test(part) ? null : (bracketedLevel.exec(part) ?? upperCaseLevel.exec(part)));
  const word = found?.[1];
  if (found === null || word === undefined) return null;
  const start = found.index + found[0].indexOf(word);
  return { severity: /^w/i.test(word) ? "warn" : "bad", start, end: start + word.length };
}
