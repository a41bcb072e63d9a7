// Invariant: I31.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { formatAges } from "../../static/src/text/age.ts";
import { readWatchStatus, type WatchScope } from "../../static/src/status/watch-status.ts";
import { rendering } from "../fake-page.ts";
import { ScopeRow } from "../../static/src/status/status-page.tsx";
import { mount, ViewState } from "../../static/src/ui/view.tsx";

// The Go tests read the file with these texts too, so that server and page show the same texts.
interface ExpectedText {
  status: unknown;
  memoryText: string;
}
const want = JSON.parse(readFileSync("../internal/web/testdata/watchstatus.json", "utf8")) as ExpectedText & {
  now: string;
  rows: string[][];
  totals: ExpectedText[];
};
const now = Date.parse(want.now);
const textOf = (wireText: string): string => formatAges(wireText, now);

void test("each scope is formatted", () => {
  const rows = readWatchStatus(want.status)?.scopes.map((s) => [
    s.href,
    s.resource,
    s.group,
    s.scope,
    textOf(s.status),
    s.reason,
    ...s.cells.map(textOf),
  ]);
  assert.deepEqual(rows, want.rows);
});

void test("the memory use is formatted", () => {
  for (const total of [want, ...want.totals]) assert.equal(readWatchStatus(total.status)?.memoryText, total.memoryText);
});

void test("each scope has its own row", () => {
  const keys = readWatchStatus(want.status)?.scopes.map((s) => s.key) ?? [];
  assert.equal(new Set(keys).size, want.rows.length);
});

void test("a body that is not a watch status is rejected, and invalid values are ignored", () => {
  for (const body of [null, 7, [], {}, { resources: {} }]) assert.equal(readWatchStatus(body), null);
  const odd = readWatchStatus({
    resources: [null, 7, { resource: 7, state: {}, objects: "3", since: "soon", lists: Infinity }],
  });
  assert.deepEqual(
    odd?.scopes.map((s) => [s.resource, s.status, s.cells[0]]),
    [["", "", "–"]],
  );
});

const scope: WatchScope = {
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

void test("the server and the page render the same scope rows", () => {
  const { part, element } = rendering();
  const html = (...scopes: WatchScope[]): string => {
    mount(
      element,
      scopes.map((s) => <ScopeRow scope={s} />),
      new ViewState(() => now),
    );
    return part.children.map((tr) => `${tr.html}\n`).join("");
  };
  const valid = { ...scope, state: "live", status: "Live for 2026-11-21T10:04:50Z", reason: "" };
  const want = readFileSync("templates/testdata/scopes.html", "utf8");
  assert.equal(html(scope, valid), want);
  assert.equal(html(valid) + html(scope), html(valid, scope));
});
