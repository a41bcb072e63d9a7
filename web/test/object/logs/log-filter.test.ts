// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogBuffer } from "../../../static/src/object/logs/buffer.ts";
import { Heights } from "../../../static/src/object/logs/heights.ts";
import { LogFilter, logLevelOf } from "../../../static/src/object/logs/log-filter.ts";
import { Search } from "../../../static/src/object/logs/search.ts";

void test("levels are recognized in common log formats", () => {
  const line = (prefix: string): string => `${prefix} 12:00:00.000000 1 main.go:7] text`;
  for (const [text, level] of [
    [line("E1121"), "error"],
    [line("F1121"), "error"],
    [line("W1121"), "warning"],
    [line("I1121"), "info"],
    ['{"time":"12:00","level":"error","msg":"x"}', "error"],
    ['{"level":"WARN","msg":"no error"}', "warning"],
    ['{"level":"info","msg":"ERROR is only a word"}', "info"],
    ['{"level":30,"msg":"number"}', "info"],
    ['{"level":40}', "warning"],
    ['{"level":50}', "error"],
    ["ts=12 level=error msg=x", "error"],
    ["ts=12 level=warning msg=x", "warning"],
    ["ts=12 level=info msg=x", "info"],
    ["ts=12 level=debug msg=x", "info"],
    ["2026-11-21 INFO started", "info"],
    ["[info] started", "info"],
    ["GET /information 200", null],
    ["listening on :8080", null],
    ["level=unknown INFO", null],
  ] as const)
    assert.equal(logLevelOf(text), level, text);
});

void test("a filter shows the lines that contain its text and have its level", () => {
  const filter = new LogFilter(
    () => undefined,
    () => undefined,
  );
  const texts = ["level=info Ready", "level=warn slow", "level=error not ready", "plain ready"];
  const shown = (): number[] => texts.flatMap((text, n) => (filter.shows({ at: "", text }) ? [n] : []));
  assert.deepEqual([shown(), filter.isActive], [[0, 1, 2, 3], false]);
  filter.set(" READY ", null);
  assert.deepEqual([shown(), filter.isActive], [[0, 2, 3], true]);
  filter.set("ready", "error");
  assert.deepEqual(shown(), [2]);
  filter.set("", "warning");
  assert.deepEqual(shown(), [1, 2]);
  filter.set("", "info");
  assert.deepEqual(shown(), [0, 1, 2]);
  assert.ok(filter.shows({ at: "", text: "a note of the page", note: true }));
  filter.set(".*", null);
  assert.deepEqual(shown(), [], "the filter text is not a regular expression");
});

void test("the URL parameter of a filter contains its level and its text", () => {
  const forms: string[] = [];
  const make = (): LogFilter =>
    new LogFilter(
      () => undefined,
      () => undefined,
      (form) => void forms.push(form),
    );
  for (const [text, level, form] of [
    ["", null, ""],
    ["time out ", null, "time out "],
    ["", "error", "is:error"],
    ["is:up", "warning", "is:warning is:up"],
    ["is:errors", null, "is:errors"],
  ] as const) {
    make().set(text, level);
    assert.equal(forms.pop(), form);
    const filter = make();
    filter.restore(form);
    assert.deepEqual([filter.text, filter.level, forms], [text, level, []], form);
  }
});

void test("the count and the levels are reported only when they change", () => {
  let [changes, counts] = [0, 0];
  const filter = new LogFilter(
    () => changes++,
    () => counts++,
  );
  filter.count(5, 5);
  assert.deepEqual([counts, filter.countText], [0, ""]);
  filter.set("x", null);
  filter.count(1, 1200);
  filter.count(1, 1200);
  assert.deepEqual([changes, counts, filter.countText], [1, 1, "1 of 1,200 lines"]);
  filter.arrived({ at: "", text: "no level" });
  assert.deepEqual([filter.hasLevels, counts], [false, 1]);
  filter.arrived({ at: "", text: "level=info" });
  filter.arrived({ at: "", text: "level=info" });
  assert.deepEqual([filter.hasLevels, counts], [true, 2]);
});

void test("matches in hidden lines do not count", () => {
  const buffer = new LogBuffer();
  buffer.append(["error a", "info a", "error b", "error a"].map((text) => ({ at: "", text })));
  const search = new Search(buffer);
  search.setQuery("a");
  const filter = new LogFilter(
    () => undefined,
    () => undefined,
  );
  search.setFilter(filter);
  assert.equal(search.count, 3);
  assert.equal(search.step(1, 0)?.line, 0);
  search.setFilter(filter);
  assert.equal(search.number, 1, "the selected match stays selected if the filter does not change");
  filter.set("error", null);
  search.setFilter(filter);
  assert.equal(search.count, 2);
  assert.deepEqual([search.step(1, 1)?.line, search.step(1, 1)?.line], [3, 0]);
});

void test("hidden lines have no height", () => {
  const heights = new Heights();
  for (const height of [18, 0, 0, 18, 0]) heights.push(height);
  assert.deepEqual([heights.total, heights.countShown(0), heights.countShown(1)], [36, 2, 1]);
  assert.deepEqual([heights.isHidden(0), heights.isHidden(1), heights.isHidden(9)], [false, true, false]);
  assert.deepEqual([heights.lineAt(17), heights.lineAt(18), heights.lineAt(99)], [0, 3, 4]);
  heights.dropBefore(2);
  assert.deepEqual([heights.countShown(2), heights.isHidden(2)], [1, true]);
});
