// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogBuffer } from "../../../static/src/object/logs/buffer.ts";
import type { Line } from "../../../static/src/object/logs/lines.ts";
import { Search } from "../../../static/src/object/logs/search.ts";

const line = (text: string, at = ""): Line => ({ at, text });

void test("matches are counted, selected one by one, and dropped with their lines", () => {
  const buffer = new LogBuffer(5);
  const search = new Search(buffer);
  buffer.append([line("Error one error"), line("calm"), line("ERROR"), line("a.b")]);
  search.setQuery("error");
  assert.equal(search.count, 3);
  const walk = (by: 1 | -1): string => {
    const p = search.step(by, 1);
    return p === null ? "none" : `${p.line}.${p.indexInLine} ${search.number}`;
  };
  assert.deepEqual([walk(1), walk(1), walk(1), walk(1), walk(-1)], ["2.0 3", "0.0 1", "0.1 2", "2.0 3", "0.1 2"]);
  buffer.append([line("error again"), line("calm")]); // drops the first line, because the buffer is full
  search.update();
  assert.equal(search.count, 2);
  assert.equal(search.current, null);
  assert.equal(walk(-1), "4.0 2");
  search.setQuery("a.b"); // special characters are matched literally
  assert.equal(search.count, 1);
  assert.deepEqual(search.spans(3), [{ start: 0, end: 3 }]);
  search.setQuery("");
  assert.equal(search.count, 0);
  assert.equal(walk(1), "none");
  search.setQuery("[(");
  assert.equal(search.count, 0);
});
