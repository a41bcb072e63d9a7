// Explains why a filter or a label selector selects nothing: it has a form that other programs know.

import { severityMatcher } from "./severity.ts";

/** The filter words that severityMatcher knows, the most useful first. */
export const severityFilterWords: readonly string[] = [
  "is:failing",
  "is:failed",
  "is:degraded",
  "is:progressing",
  "is:waiting",
  "is:ok",
  "is:none",
];

const plainWords = "The filter searches for each word as typed.";

/**
 * A hint about the first word of a filter that is not supported, with what works instead. Empty if each word is a plain
 * text or a known filter word. The parameter `hasLabels` is false on pages without a label selector.
 */
export function filterHint(q: string, hasLabels = true): string {
  const words = q.split(/\s+/).filter((w) => w !== "");
  for (const word of words) {
    const hint = wordHint(word, hasLabels);
    if (hint !== "") return hint;
  }
  return "";
}

function wordHint(word: string, hasLabels: boolean): string {
  const not = `The filter does not support “${word}”.`;
  const inList = (text: string): string => (hasLabels ? ` ${text}` : "");
  if (/^is:/i.test(word))
    return severityMatcher(word.toLowerCase()) !== null
      ? ""
      : `“${word}” is not a known filter word. Known: ${severityFilterWords.join(", ")}.`;
  if (/["*?]/.test(word)) return `${plainWords} Quotes and wildcards have no special meaning.`;
  if (/^[-!]./.test(word))
    return `${not} It cannot exclude words.${inList("To exclude a label, type app!=web into the field “Labels”.")}`;
  if (word === "OR" || word === "AND" || /^[|&]+$/.test(word))
    return `${not} Each result contains all words of the filter, in any order.`;
  if (/^[\w.-]+[<>]/.test(word))
    return `${not} It cannot compare values.${inList("To sort by a value, click the header of its column.")}`;
  const [, key = "", value = ""] = /^([a-z][\w./-]*):(\S+)$/i.exec(word) ?? [];
  if (/^(ns|namespace)$/i.test(key)) {
    const other = hasLabels ? "select the namespace in the header" : `search for :ns ${value}`;
    return `${not} Type only ${value}, or ${other}.`;
  }
  if (hasLabels && (/^labels?$/i.test(key) || /^[\w./-]+=/.test(word)))
    return `${not} Type ${key === "" ? word : value} into the field “Labels”.`;
  return key === "" ? "" : `${not} Type only the value: ${value}.`;
}

/** A hint about the first requirement of a label selector without an operator, such as "web", if it can be a value. */
export function labelHint(labels: string): string {
  const key = labels
    .split(/,(?![^()]*\))/)
    .map((requirement) => requirement.trim())
    .find((requirement) => /^[\w.-]+$/.test(requirement)); // a value contains no slash
  if (key === undefined) return "";
  const meaning = `“${key}” selects only objects that have a label with the key ${key}.`;
  return `${meaning} To select by value, type the key, too: app=${key}.`;
}
