// Invariant: I33.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decode } from "../../static/src/net/decode.ts";
import { readOverview, type Overview } from "../../static/src/net/overview.ts";
import type { JsonObject } from "../../static/src/net/wire.ts";

const { overview } = JSON.parse(readFileSync("../internal/web/testdata/overview.json", "utf8")) as {
  overview: JsonObject;
};

const valid = (members: JsonObject): Overview => {
  const read = readOverview(members);
  assert.ok(typeof read !== "string", String(read));
  return read as Overview;
};

void test("an overview is read completely", () => {
  const o = valid(overview);
  assert.deepEqual(
    [o.problems.length, o.total, o.changes.length, o.warnings.length, o.watched.length, o.unexamined.length],
    [11, 11, 5, 4, 20, 2],
  );
  const [first] = o.problems;
  assert.deepEqual(
    [first?.kind, first?.ns, first?.name, first?.count],
    ["Deployment", "shop", "storefront-canary", 22],
  );
  assert.deepEqual(
    [first?.verdict.severity, first?.cause?.kind, first?.lastChange?.by],
    ["failed", "Pod", "kubectl-set"],
  );
  assert.equal(o.problems.at(-1)?.since, "", "the Go zero time (year 1) is an unknown time");
  assert.deepEqual(o.summary.nodes, { ready: 11, total: 12 });
  assert.equal(o.summary.pods?.get("Running"), 158);
  assert.deepEqual(o.summary.apiServer, { version: "v1.34.1", state: "live", reason: "", latency: 20 });
  assert.deepEqual(o.watched.at(-1)?.state, "forbidden");
});

void test("missing members are empty or unknown", () => {
  const o = valid({ summary: { apiServer: {} }, problems: null });
  assert.deepEqual([o.problems, o.total, o.warnings, o.unexamined], [[], 0, [], []]);
  assert.deepEqual(o.summary.nodes, null);
  assert.deepEqual([o.summary.pods, o.summary.cpu, o.summary.apiServer.state], [null, null, null]);
});

void test("an invalid overview is rejected with the reason", () => {
  const base = { summary: { apiServer: {} } };
  for (const [members, reason] of [
    [{}, "“summary” of the overview is not an object"],
    [{ ...base, problems: {} }, "“problems” of the overview is not a list"],
    [{ ...base, problems: [7] }, "“problems” of the overview is not an object"],
    [{ ...base, problems: [{ name: 7 }] }, "“name” of the overview is not a string"],
    [{ ...base, total: -1 }, "“total” of the overview is not a non-negative integer"],
    [{ ...base, counts: { failed: "1" } }, "“counts” of the overview is not a number"],
    [{ ...base, watched: [{ state: "sleeping" }] }, "a watched resource of the overview has an invalid state"],
    [{ ...base, unexamined: [{}] }, "“unexamined” of the overview is not a string"],
  ] as const)
    assert.equal(readOverview(members), reason);
});

void test("texts and lists have a maximum length", () => {
  const o = valid({
    summary: { apiServer: {} },
    problems: Array.from({ length: 5000 }, (_, i) => ({ name: `web-${i}` })),
    unexamined: ["x".repeat(1 << 20)],
  });
  assert.equal(o.problems.length, 1000);
  assert.equal(o.unexamined[0]?.length, 2001);
});

void test("only the overview subscription receives the overview", () => {
  const text = JSON.stringify({ id: 1, type: "overview", ...overview });
  const [message] = decode(text, () => "overview").messages;
  assert.deepEqual([message?.type, message?.id], ["overview", 1]);
  assert.deepEqual(
    decode(text, () => "resources"),
    { messages: [], faults: [] },
  );
});
