// Facts of the kinds that limit other objects: ResourceQuota, LimitRange and PodDisruptionBudget.

import {
  absentPiece,
  fact,
  firstPieces,
  piece,
  section,
  since,
  tableSection,
  type Fact,
  type Piece,
  type Section,
} from "./fact.ts";
import { amount, amountPiece, quantity } from "./quantity.ts";
import { isScalar, members, number, scalar, text, texts, time, trees, valueAt } from "./read.ts";
import { selectorPieces } from "./workload.ts";

const nearlyUsed = 0.9; // fraction of a quota; from this usage, the quota has the level "warn"

export function resourceQuota(o: unknown): (Section | null)[] {
  const hard = valueAt(o, "status", "hard") ?? valueAt(o, "spec", "hard");
  const used = valueAt(o, "status", "used");
  const names = members(hard)
    .map(([name]) => name)
    .sort();
  const scopes = [
    ...texts(valueAt(o, "spec", "scopes")),
    ...trees(valueAt(o, "spec", "scopeSelector", "matchExpressions")).map((e) => {
      const values = texts(e["values"]);
      return `${text(e["scopeName"])} ${text(e["operator"])}${values.length === 0 ? "" : ` (${values.join(", ")})`}`;
    }),
  ];
  return [
    section(
      "Used",
      names.map((name) => usage(name, valueAt(used, name), valueAt(hard, name))),
    ),
    section("Scope", [fact("Counts only", ...firstPieces(scopes))]),
  ];
}

// Returns the usage of a quota. A full quota is only a warning, because some quotas are full on purpose.
function usage(name: string, used: unknown, hard: unknown): Fact | null {
  const [actual, desired] = [quantity(used), quantity(hard)];
  const limit = piece(`of ${amount(name, hard)}`, { title: scalar(hard), level: "quiet" });
  if (actual === null) return fact(name, absentPiece("unknown"), limit);
  const isNearlyUsed = desired !== null && desired > 0 && actual >= nearlyUsed * desired;
  const share = desired === null || desired <= 0 ? null : `${Math.floor((100 * actual) / desired)} %`;
  const f = fact(
    name,
    piece(amount(name, used), { title: scalar(used), ...(isNearlyUsed ? { level: "warn" } : {}) }),
    limit,
    share,
  );
  if (f === null || desired === null || desired <= 0) return f;
  return { ...f, bar: { actual, desired, level: isNearlyUsed ? "warn" : "good" } };
}

const limits = [
  ["Min", "min"],
  ["Max", "max"],
  ["Default request", "defaultRequest"],
  ["Default limit", "default"],
  ["Max limit/request ratio", "maxLimitRequestRatio"],
] as const;

export function limitRange(o: unknown): (Section | null)[] {
  const rows = trees(valueAt(o, "spec", "limits")).flatMap((l) => {
    const resources = new Set(limits.flatMap(([, member]) => members(l[member]).map(([name]) => name)));
    return [...resources].sort().map((resource) => [
      piece(text(l["type"])),
      piece(resource),
      ...limits.map(([, member]) => {
        const v = valueAt(l[member], resource);
        if (v === undefined) return null;
        return member === "maxLimitRequestRatio" ? piece(scalar(v)) : amountPiece(resource, v);
      }),
    ]);
  });
  return [tableSection("Limits", ["Type", "Resource", ...limits.map(([title]) => title)], rows)];
}

export function disruptionBudget(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const allowed = number(valueAt(status, "disruptionsAllowed"));
  const [healthy, required] = [number(valueAt(status, "currentHealthy")), number(valueAt(status, "desiredHealthy"))];
  const expected = number(valueAt(status, "expectedPods"));
  const isEnough = healthy !== null && required !== null && healthy >= required;
  const disrupted = members(valueAt(status, "disruptedPods"));
  return [
    section("", [
      fact(
        "Disruptions allowed",
        allowed === null ? absentPiece("unknown") : piece(String(allowed), allowed === 0 ? { level: "warn" } : {}),
        allowed === 0 && isEnough && expected !== 0 ? "no healthy pod may be evicted" : null,
      ),
      withBar(
        fact(
          "Healthy pods",
          healthy === null || expected === null
            ? absentPiece("unknown")
            : piece(`${healthy} of ${expected}`, { level: isEnough ? "good" : "warn" }),
          required === null ? null : piece(`${required} required`, { level: "quiet" }),
        ),
        healthy,
        expected,
        isEnough,
      ),
      fact("Min available", setting(valueAt(spec, "minAvailable"))),
      fact("Max unavailable", setting(valueAt(spec, "maxUnavailable"))),
      fact("Unhealthy pods", evictionPolicies[text(valueAt(spec, "unhealthyPodEvictionPolicy")) || "IfHealthyBudget"]),
      fact("Selector", ...selectorPieces(valueAt(spec, "selector"))),
      fact(
        "Being evicted",
        ...firstPieces(
          disrupted.map(([name, at]) => since(time(at), `${name}, `) ?? piece(name)),
          10,
        ),
      ),
    ]),
  ];
}

const evictionPolicies: Readonly<Record<string, string>> = {
  IfHealthyBudget: "may be evicted only while enough pods are healthy",
  AlwaysAllow: "may always be evicted",
};

const setting = (v: unknown): Piece | null => (isScalar(v) ? piece(scalar(v)) : null);

const withBar = (f: Fact | null, actual: number | null, desired: number | null, isEnough: boolean): Fact | null =>
  f === null || actual === null || desired === null || desired <= 0
    ? f
    : { ...f, bar: { actual, desired, level: isEnough ? "good" : "warn" } };
