import assert from "node:assert/strict";
import { test } from "node:test";
import { countedSeverities, isCounted, severityMatcher, showsState, whyOf } from "../../static/src/model/severity.ts";
import { severityFilterWords } from "../../static/src/model/filter-hint.ts";
import { severities } from "../../static/src/net/verdict.ts";
import { verdictOf } from "../verdicts.ts";

for (const [word, want] of [
  ["is:failed", ["failed"]],
  ["is:degraded", ["degraded"]],
  ["is:progressing", ["progressing"]],
  ["is:ok", ["ok"]],
  ["is:none", ["none"]],
  ["is:failing", ["degraded", "failed"]],
  ["is:waiting", ["progressing"]],
] as const) {
  void test(`the filter word ${word} selects ${want.join(" and ")}`, () => {
    const match = severityMatcher(word);
    assert.ok(match !== null);
    assert.deepEqual(severities.filter(match), want);
  });
}

void test("the known filter words include each severity once", () => {
  assert.ok(severityFilterWords.every((word) => severityMatcher(word) !== null));
  assert.ok(severities.every((s) => severityFilterWords.includes(`is:${s}`)));
  assert.equal(new Set(severityFilterWords).size, severityFilterWords.length);
});

for (const word of ["failed", "is:", "is:well", "is:failed:", "this:failed", "is:toString", ""])
  void test(`the filter word ${JSON.stringify(word)} is plain text`, () => assert.equal(severityMatcher(word), null));

void test("the counts include the severities that need attention, the worst first", () => {
  assert.deepEqual(countedSeverities, ["failed", "degraded", "progressing"]);
  assert.deepEqual([...severities].reverse().filter(isCounted), countedSeverities);
});

void test("a verdict is explained by its sentence, or else by its severity", () => {
  assert.equal(
    whyOf(verdictOf("failed", "Container app: CrashLoopBackOff", "CrashLoopBackOff")),
    "Container app: CrashLoopBackOff",
  );
  assert.equal(whyOf(verdictOf("progressing")), "progressing");
  assert.equal(whyOf(verdictOf("ok")), "");
});

void test("columns that show a state are recognized by their names", () =>
  assert.deepEqual(["Name", "Status", "READY", "Health Status", "Type", "Status Code"].map(showsState), [
    false,
    true,
    true,
    true,
    false,
    false,
  ]));
