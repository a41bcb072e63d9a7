import assert from "node:assert/strict";
import { test } from "node:test";
import { readChangedVerdict, readVerdict } from "../../static/src/net/verdict.ts";
import type { Verdict } from "../../static/src/net/wire.ts";
import { none, verdictOf } from "../verdicts.ts";

const cases: [string, unknown, Verdict][] = [
  ["a missing verdict", undefined, none],
  ["null", null, none],
  ["a number", 7, none],
  ["a list", ["failed"], none],
  ["a severity as a string", "ok", verdictOf("ok")],
  ["an unknown string", "splendid", none],
  ["the name of a property that every JavaScript object has", "constructor", none],
  ["a severity without other members", { severity: "ok" }, verdictOf("ok")],
  ["an unknown severity", { severity: "splendid", sentence: "It shines" }, verdictOf("none", "It shines")],
  ["a sentence without a severity", { sentence: "It shines" }, verdictOf("none", "It shines")],
  [
    "all members",
    { severity: "failed", reason: "Evicted", sentence: "Failed: Evicted" },
    verdictOf("failed", "Failed: Evicted", "Evicted"),
  ],
  [
    "a verdict without a reason",
    { severity: "degraded", sentence: "2 of 3 ready" },
    verdictOf("degraded", "2 of 3 ready"),
  ],
  ["a verdict without a sentence", { severity: "none", reason: "Unknown" }, verdictOf("none", "", "Unknown")],
  ["members of other types", { severity: "failed", reason: 7, sentence: {} }, verdictOf("failed")],
  ["a reason of another type", { severity: "failed", reason: 7, sentence: "Bad" }, verdictOf("failed", "Bad")],
];
for (const [name, sent, want] of cases)
  void test(`readVerdict: ${name}`, () => assert.deepEqual(readVerdict(sent), want));

void test("verdicts without texts share one object, because most rows have one", () =>
  assert.ok(readVerdict("ok") === readVerdict({ severity: "ok" })));

void test("an update without a verdict keeps the previous verdict", () => {
  assert.deepEqual(readChangedVerdict(undefined), {});
  assert.deepEqual(readChangedVerdict(null), {});
  assert.deepEqual(
    readChangedVerdict({ severity: "none" }),
    { verdict: none },
    "the severity none replaces the previous verdict",
  );
  assert.deepEqual(readChangedVerdict("failed"), { verdict: verdictOf("failed") });
});
