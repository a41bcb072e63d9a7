// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogBuffer } from "../../../static/src/object/logs/buffer.ts";
import type { Line } from "../../../static/src/object/logs/lines.ts";

const line = (text: string, at = ""): Line => ({ at, text });
const at = (n: number, fraction = ""): string => `2026-11-21T10:00:0${n}${fraction}Z`;

void test("the buffer keeps the newest lines within its limits", () => {
  const buffer = new LogBuffer(1000, 1 << 20);
  for (let n = 0; n < 12_345; n++) buffer.append([line(`line ${n}`)]);
  assert.equal(buffer.size, 1000);
  assert.equal(buffer.first, 11_345);
  assert.equal(buffer.at(buffer.first)?.text, "line 11345");
  assert.equal(buffer.at(buffer.end - 1)?.text, "line 12344");
  assert.equal(buffer.at(buffer.first - 1), undefined);
  assert.equal(buffer.at(buffer.end), undefined);
  buffer.append([line("y".repeat(500_000))]);
  assert.ok(buffer.size < 800 && buffer.size > 0, String(buffer.size));
  assert.equal(buffer.at(buffer.end - 1)?.text.length, 500_000);
  buffer.append([line("z".repeat(2 << 20))]);
  assert.equal(buffer.size, 1, "the newest line is kept, even if it exceeds the limit");
});

void test("the text of the buffer contains no notes", () => {
  const buffer = new LogBuffer();
  buffer.append([line("a", at(1)), { at: "", text: "of the page", note: true }, line("b", at(2))]);
  assert.equal(buffer.text(false), "a\nb\n");
  assert.equal(buffer.text(true), `${at(1)} a\n${at(2)} b\n`);
});
