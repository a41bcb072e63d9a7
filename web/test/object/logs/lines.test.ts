// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LineReader, Overlap, type Line } from "../../../static/src/object/logs/lines.ts";

const line = (text: string, at = ""): Line => ({ at, text });
const at = (n: number, fraction = ""): string => `2026-11-21T10:00:0${n}${fraction}Z`;

void test("lines are complete, however the text is split into chunks", () => {
  const text = `${at(1, ".5")} größe €\n\nno time 🙂 here\n${at(2)} \nlast`;
  const want = [line("größe €", at(1, ".5")), line(""), line("no time 🙂 here"), line("", at(2)), line("last")];
  for (let cut = 0; cut <= text.length; cut++) {
    for (const second of [cut, Math.min(text.length, cut + 1), text.length]) {
      const reader = new LineReader();
      const got = [
        ...reader.push(text.slice(0, cut)),
        ...reader.push(text.slice(cut, second)),
        ...reader.push(text.slice(second)),
        ...reader.end(),
      ];
      assert.deepEqual(got, want, `the lines are complete if the text is cut at ${cut} and ${second}`);
    }
  }
});

void test("a long line is returned once, and truncated at the limit", () => {
  const read = (line: string, part: number, ends = "\nnext\n"): Line[] => {
    const reader = new LineReader();
    const text = `${at(1)} ${line}${ends}`;
    const lines: Line[] = [];
    for (let n = 0; n < text.length; n += part) lines.push(...reader.push(text.slice(n, n + part)));
    return lines;
  };
  for (const part of [65_536, 50_001, 3 << 20]) {
    const long = "x".repeat(900_000);
    assert.deepEqual(read(long, part), [line(long, at(1)), line("next")]);
    for (const length of [2 << 20, 5 << 20]) {
      const endless = "y".repeat(length);
      const kept = line(`${endless.slice(0, (1 << 20) - at(1).length - 1)} ⋯ the rest of this line is omitted`, at(1));
      assert.deepEqual(read(endless, part), [kept, line("next")]);
      assert.deepEqual(
        read(endless, part, ""),
        [kept],
        "a line is returned when it reaches the limit, before its end arrives",
      );
    }
  }
});

void test("a log that is requested again continues after the last line", () => {
  const overlap = new Overlap();
  overlap.restart();
  assert.deepEqual(
    overlap.newLines([line("a", at(1)), line("b", at(2, ".5")), line("c", at(2, ".5"))]).lines.length,
    3,
  );
  assert.equal(overlap.since, at(2, ".5"));
  overlap.restart();
  // The server resumes at the full second 2, so it sends "older", "b" and "c" again.
  const got = overlap.newLines([
    line("older", at(2, ".12")),
    line("b", at(2, ".5")),
    line("c", at(2, ".5")),
    line("d", at(2, ".5")),
    line("e", at(2, ".51")),
  ]);
  assert.deepEqual(
    got.lines.map((l) => l.text),
    ["d", "e"],
  );
  assert.equal(got.gap, false);
});

void test("a log that starts after the last line reports a gap", () => {
  const overlap = new Overlap();
  overlap.newLines([line("a", at(1))]);
  overlap.restart();
  assert.equal(overlap.newLines([line("z", at(9))]).gap, true);
  assert.equal(overlap.newLines([line("zz", at(9, ".1"))]).gap, false);
});
