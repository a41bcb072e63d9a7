// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogBuffer } from "../../../static/src/object/logs/buffer.ts";
import { containersOf, defaultContainer } from "../../../static/src/object/logs/containers.ts";
import { Heights } from "../../../static/src/object/logs/heights.ts";
import { levelOf } from "../../../static/src/object/logs/level.ts";
import { LineReader, Overlap, type Line } from "../../../static/src/object/logs/lines.ts";
import { Search } from "../../../static/src/object/logs/search.ts";

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

void test("containersOf lists the containers of a pod", () => {
  const pod = {
    metadata: { annotations: { "kubectl.kubernetes.io/default-container": "b" } },
    spec: {
      containers: [{ name: "a" }, { name: "b" }],
      initContainers: [{ name: "i" }],
      ephemeralContainers: [{ name: "e" }, 7],
    },
    status: {
      containerStatuses: [
        { name: "b", restartCount: 3, containerID: "x://1", state: { waiting: { reason: "CrashLoopBackOff" } } },
        { name: "a", state: { running: {} } },
      ],
      initContainerStatuses: [{ name: "i", state: { terminated: { reason: "Completed", exitCode: 0 } } }],
    },
  };
  const all = containersOf(pod);
  assert.deepEqual(
    all.map((c) => `${c.name}|${c.role}|${c.state}|${c.restarts}`),
    ["a||running|0", "b||waiting: CrashLoopBackOff|3", "i|init|terminated: Completed, exit code 0|0", "e|ephemeral||0"],
  );
  assert.equal(defaultContainer(pod, all), "b");
  assert.equal(defaultContainer({}, all), "a");
  for (const odd of [null, {}, { spec: 7, status: [] }, { spec: { containers: [null, { name: 4 }] } }])
    assert.deepEqual(containersOf(odd as never), []);
});

void test("heights convert between lines and positions", () => {
  const heights = new Heights();
  for (let i = 0; i < 10; i++) heights.push(18);
  assert.equal(heights.total, 180);
  assert.deepEqual(
    [
      heights.lineAt(-5),
      heights.lineAt(0),
      heights.lineAt(17),
      heights.lineAt(18),
      heights.lineAt(179),
      heights.lineAt(999),
    ],
    [0, 0, 0, 1, 9, 9],
  );
  assert.equal(heights.set(2, 54), 36);
  assert.equal(heights.heightAbove(3), 90);
  assert.equal(heights.lineAt(80), 2);
  assert.equal(heights.dropBefore(3), 90);
  assert.deepEqual(
    [heights.first, heights.end, heights.total, heights.heightAbove(4), heights.lineAt(0)],
    [3, 10, 126, 18, 3],
  );
  assert.equal(heights.set(2, 5), 0, "heights of dropped lines are ignored");
});
