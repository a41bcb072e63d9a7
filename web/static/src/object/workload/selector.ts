// Formats the label selectors of workloads and Services as text for a subscription.

import { isScalar, isTree, members, scalar, text, texts, trees, valueAt } from "../facts/read.ts";

/**
 * Formats a selector in kubectl's syntax. Returns "" for an empty selector (no pods) and for an unknown syntax. Callers
 * must not subscribe with "": to the server, it means all objects.
 */
export function labelSelector(v: unknown): string {
  if (!isTree(v)) return "";
  if (!("matchLabels" in v) && !("matchExpressions" in v)) return equalities(v).join(",");
  const expressions = trees(v["matchExpressions"]).map(requirement);
  return expressions.includes("") ? "" : [...equalities(v["matchLabels"]), ...expressions].join(",");
}

const equalities = (v: unknown): string[] =>
  members(v)
    .filter(([, value]) => isScalar(value))
    .map(([key, value]) => `${key}=${scalar(value)}`);

function requirement(e: unknown): string {
  const key = text(valueAt(e, "key"));
  const values = `(${texts(valueAt(e, "values")).join(",")})`;
  switch (key === "" ? "" : valueAt(e, "operator")) {
    case "In":
      return `${key} in ${values}`;
    case "NotIn":
      return `${key} notin ${values}`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return "";
  }
}
