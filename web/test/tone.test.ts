import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tells, tone } from "../static/src/tone.ts";

void test("cells that tell a state have the tone that the server gives them", () => {
  const cases = JSON.parse(readFileSync("templates/testdata/tones.json", "utf8")) as [string, string, string][];
  assert.ok(cases.length > 30);
  for (const [column, text, want] of cases) assert.equal((tells(column) ? tone(text) : null) ?? "", want, `${column} ${text}`);
});
