// Reads the verdicts (health of objects) in messages of the server.

import { text } from "./text.ts";
import type { Severity, Verdict } from "./wire.ts";

/** All severities, the least severe first. */
export const severities = ["none", "ok", "progressing", "degraded", "failed"] as const;

const plain = Object.fromEntries(
  severities.map((severity) => [severity, { severity, reason: "", sentence: "" }]),
) as Readonly<Record<Severity, Verdict>>;

/** Reads a verdict, which is a word or an object. A missing verdict or an unknown severity becomes "none". */
export function readVerdict(v: unknown): Verdict {
  if (typeof v === "string") return plain[severityOf(v)];
  if (typeof v !== "object" || v === null) return plain.none;
  const { severity, reason, sentence, cause } = v as Partial<Record<keyof Verdict, unknown>>;
  const verdict = { severity: severityOf(severity), reason: text(reason), sentence: text(sentence) };
  if (verdict.reason + verdict.sentence === "") return plain[verdict.severity];
  return cause === undefined ? verdict : { ...verdict, cause };
}

const severityOf = (v: unknown): Severity => severities.find((s) => s === v) ?? "none";

/** Decodes the new verdict of a changed row. Returns an object without `verdict` if the verdict has not changed. */
export const readChangedVerdict = (v: unknown): { verdict?: Verdict } =>
  v === undefined || v === null ? {} : { verdict: readVerdict(v) };
