import assert from "node:assert/strict";
import { test } from "node:test";
import { LogBuffer } from "../../../static/src/object/logs/buffer.ts";
import type { Line } from "../../../static/src/object/logs/lines.ts";
import { byTime, sourceLabel, withSource } from "../../../static/src/object/logs/merge.ts";
import { Search } from "../../../static/src/object/logs/search.ts";

const line = (at: string, text = at): Line => ({ at: `2026-11-21T10:00:${at}`, text });
const source = { name: "web-1/main", label: "web-1", color: 0 };
const texts = (buffer: LogBuffer): string[] =>
  Array.from({ length: buffer.size }, (_, i) => buffer.at(buffer.first + i)?.text ?? "");

void test("lines are sorted by time to the nanosecond, in all time zones", () => {
  const lines = [
    line("06.9Z"),
    line("06.12Z"),
    line("06Z"),
    { at: "2026-11-21T11:00:06.5+01:00", text: "zone" },
    line("06.900000001Z"),
  ];
  assert.deepEqual(
    lines.sort(byTime).map((l) => l.text),
    ["06Z", "06.12Z", "zone", "06.9Z", "06.900000001Z"],
  );
});

void test("a line without a time stays with its neighbors", () => {
  const lines = withSource([{ at: "", text: "a" }, line("05Z", "b"), { at: "", text: "c" }], source);
  assert.deepEqual(
    lines.map((l) => l.at),
    [line("05Z").at, line("05Z").at, line("05Z").at],
  );
  assert.deepEqual(
    [...lines, line("04Z", "z")].sort(byTime).map((l) => l.text),
    ["z", "a", "b", "c"],
  );
});

void test("late lines are inserted at their time, and the search finds them once", () => {
  const buffer = new LogBuffer();
  const search = new Search(buffer);
  search.setQuery("needle");
  const merge = (...lines: Line[]): number => {
    const from = buffer.merge(lines, byTime);
    search.restartAt(from);
    return from;
  };
  assert.equal(merge(line("01Z", "one needle"), line("03Z", "three")), 0);
  assert.equal(merge(line("04Z", "four needle")), 2, "newer lines are appended");
  assert.equal(merge(line("02Z", "two needle")), 1, "an older one is inserted");
  assert.deepEqual(texts(buffer), ["one needle", "two needle", "three", "four needle"]);
  assert.equal(search.count, 3);
  assert.equal(merge(line("04Z", "equal")), 4, "equal times keep the order of arrival");
  assert.equal(texts(buffer).at(-1), "equal");
});

void test("merging stays bounded, and copies name the sources", () => {
  const buffer = new LogBuffer(3);
  buffer.merge([line("01Z"), line("02Z"), line("03Z"), line("05Z")], byTime);
  buffer.merge(withSource([line("04Z", "x")], source), byTime);
  assert.deepEqual([texts(buffer), buffer.first], [["03Z", "x", "05Z"], 2]);
  assert.match(buffer.text(false), /^\[web-1\/main\] x$/m);
});

void test("labels are short, and distinguish the pods of a workload", () => {
  assert.equal(sourceLabel("web", "web-7d9f8b6c5-kxh98", "main", false), "kxh98");
  assert.equal(sourceLabel("web", "web-7d9f8b6c5-kxh98", "main", true), "kxh98/main");
  assert.equal(sourceLabel("postgres", "postgres-0", "db", false), "postgres-0");
  assert.equal(sourceLabel("web-service", "web-7d9f8b6c5-kxh98", "main", false), "web-7d9f8b6c5-kxh98");
});
