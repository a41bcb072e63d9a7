import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ages } from "../static/src/age.ts";
import { readLedger, type Scope } from "../static/src/ledger.ts";
import { emptyScope, fillScope } from "../static/src/statuspage.ts";
import { Element } from "./element.ts";

// The server's HTML contains the same texts.
interface Said { ledger: unknown; held: string }
const want = JSON.parse(
  readFileSync("../internal/web/testdata/ledger.json", "utf8"),
) as Said & { now: string; rows: string[][]; totals: Said[] };
const now = Date.parse(want.now);
const said = (wire: string): string => ages(wire, now);

void test("what is said of each scope", () => {
  const rows = readLedger(want.ledger)?.scopes.map((s) => [
    s.href,
    s.resource,
    s.group,
    s.scope,
    said(s.status),
    s.reason,
    ...s.cells.map(said),
  ]);
  assert.deepEqual(rows, want.rows);
});

void test("what is said of memory", () => {
  for (const { ledger, held } of [want, ...want.totals]) assert.equal(readLedger(ledger)?.held, held);
});

void test("each scope is its own row", () => {
  const keys = readLedger(want.ledger)?.scopes.map((s) => s.key) ?? [];
  assert.equal(new Set(keys).size, want.rows.length);
});

void test("what is no ledger is none, and what is odd in one is passed over", () => {
  for (const body of [null, 7, [], {}, { resources: {} }]) assert.equal(readLedger(body), null);
  const odd = readLedger({
    resources: [null, 7, { resource: 7, state: {}, objects: "3", since: "soon", lists: Infinity }],
  });
  assert.deepEqual(
    odd?.scopes.map((s) => [s.resource, s.status, s.cells[0]]),
    [["", "", "–"]],
  );
});

const scope: Scope = {
  key: "",
  href: "/r/core/v1/pods?ns=shop",
  resource: "pods",
  group: "core/v1",
  scope: "shop",
  state: "stale",
  status: "Stale for 2026-11-21T10:04:50Z",
  reason: "<b>ended</b>",
  cells: ["3", "2026-11-21T10:04:56Z ago"],
};

void test("the server and the page make the same rows of scopes", () => {
  const html = (s: Scope, tr = emptyScope(s)): string => {
    fillScope(tr, s, now);
    return `${Element.of(tr).html}\n`;
  };
  const well = { ...scope, state: "live", status: "Live for 2026-11-21T10:04:50Z", reason: "" };
  const want = readFileSync("templates/testdata/scopes.html", "utf8");
  assert.equal(html(scope) + html(well), want);
  // A reused row has the same HTML as a new one.
  const tr = emptyScope(scope);
  assert.equal(html(well, tr), html(well));
  assert.equal(html(scope, tr) + html(well, tr), want);
  assert.equal(html({ ...scope, reason: "x" }, tr), html({ ...scope, reason: "x" }));
});
