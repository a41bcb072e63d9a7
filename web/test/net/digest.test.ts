import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { digest, hex, type DigestRow } from "../../static/src/net/digest.ts";

interface Case {
  readonly name: string;
  readonly rows: readonly DigestRow[];
  readonly count: number;
  readonly digest: string;
}

// The Go tests read the same file, so that server and page compute the same digest.
const { cases } = JSON.parse(readFileSync("test/digest.json", "utf8")) as { cases: readonly Case[] };
for (const c of cases) {
  void test(`digest: ${c.name}`, () => {
    assert.equal(c.rows.length, c.count);
    assert.equal(hex(digest(c.rows)), c.digest);
  });
}

void test("a digest computed in slices equals the digest of all rows", () => {
  const rows = cases.flatMap((c) => c.rows);
  let sum = 0;
  for (let i = 0; i < rows.length; i += 7) sum = (sum + digest(rows, i, Math.min(rows.length, i + 7))) | 0;
  assert.equal(hex(sum), hex(digest(rows)));
});
