// Finds the log level (error or warning) in the forms that programs commonly write.

import type { Span } from "./search.ts";

interface Level extends Span {
  readonly severity: "bad" | "warn";
}

const maxPrefix = 400; // only this many characters at the start of a line are searched for a level
const errorWords = "error|err|fatal|panic|critical|crit|severe|alert|emergency";
const warningWords = "warning|warn";
// The recognized forms are level=error, "level":"error", [error], ERROR, and klog's E1121 12:00:00.
const levelField = new RegExp(
  `(?:^|[\\s{,"])(?:level|lvl|severity|log\\.level)"?\\s*[=:]\\s*"?(${errorWords}|${warningWords})\\b`,
  "i",
);
const upperCaseLevel = new RegExp(`(?:^|[^\\w])(${errorWords.toUpperCase()}|${warningWords.toUpperCase()})(?![\\w])`);
const bracketedLevel = new RegExp(`\\[(${errorWords}|${warningWords})\\]`, "i");
const klogPrefix = /^([EFW])\d{4} \d\d:\d\d:\d\d/;
const anyLevelField = /(?:^|[\s{,"])(?:level|lvl|severity|log\.level)"?\s*[=:]\s*"?\w/i;

/** Returns the log level of a line. Returns null for lines without a level, and for levels below warning. */
export function levelOf(text: string): Level | null {
  const part = text.length > maxPrefix ? text.slice(0, maxPrefix) : text;
  // A level field has priority over words such as ERROR in the message.
  const found =
    klogPrefix.exec(part) ??
    levelField.exec(part) ??
    (anyLevelField.test(part) ? null : (bracketedLevel.exec(part) ?? upperCaseLevel.exec(part)));
  const word = found?.[1];
  if (found === null || word === undefined) return null;
  const start = found.index + found[0].indexOf(word);
  return { severity: /^w/i.test(word) ? "warn" : "bad", start, end: start + word.length };
}
