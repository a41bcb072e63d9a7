// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { levelOf } from "../../../static/src/object/logs/level.ts";

void test("levelOf finds the level of a line", () => {
  const levelText = (text: string): string => {
    const l = levelOf(text);
    return l === null ? "" : `${l.severity} ${text.slice(l.start, l.end)}`;
  };
  for (const [text, want] of [
    ['level=error msg="x"', "bad error"],
    ["ts=1 level=warn x", "warn warn"],
    ['{"ts":1,"level":"error"}', "bad error"],
    ['{"severity": "WARNING"}', "warn WARNING"],
    ["2026-11-21 10:00:00 ERROR it broke", "bad ERROR"],
    ["[warn] it may", "warn warn"],
    ["WARN: it may", "warn WARN"],
    ["E1121 10:00:00.1 1 x.go:1] y", "bad E"],
    ["FATAL", "bad FATAL"],
    ['level=info msg="ERROR in words"', ""],
    ["no errors at all", ""],
    ["an error was logged", ""],
    ["TERROR", ""],
    [`${"x".repeat(500)} ERROR`, ""],
    ["", ""],
  ] as const)
    assert.equal(levelText(text), want, text);
});
