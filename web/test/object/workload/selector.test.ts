import assert from "node:assert/strict";
import { test } from "node:test";
import { labelSelector } from "../../../static/src/object/workload/selector.ts";

void test("label selectors become text in kubectl's syntax", () => {
  assert.equal(labelSelector({ app: "web", tier: "front" }), "app=web,tier=front");
  assert.equal(
    labelSelector({
      matchLabels: { app: "web" },
      matchExpressions: [
        { key: "tier", operator: "In", values: ["front", "edge"] },
        { key: "track", operator: "NotIn", values: ["canary"] },
        { key: "team", operator: "Exists" },
        { key: "old", operator: "DoesNotExist" },
      ],
    }),
    "app=web,tier in (front,edge),track notin (canary),team,!old",
  );
});

void test("an empty or unknown selector does not select everything", () => {
  for (const v of [
    undefined,
    null,
    "x",
    {},
    { matchLabels: {} },
    { matchLabels: { app: "web" }, matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] },
    { matchExpressions: [{ operator: "Exists" }] },
  ])
    assert.equal(labelSelector(v), "", JSON.stringify(v));
});
