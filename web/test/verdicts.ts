import type { Severity, Verdict } from "../static/src/net/wire.ts";

export const verdictOf = (severity: Severity, sentence = "", reason = ""): Verdict => ({ severity, reason, sentence });
export const none = verdictOf("none");
