import assert from "node:assert/strict";
import { test } from "node:test";
import { groupBursts } from "../../static/src/activity/bursts.ts";
import type { LogEntry } from "../../static/src/activity/change-log.ts";

const entry = (name: string, second: number, part: "status" | "minor" | "spec" = "status", ref = "core/v1/pods") =>
  ({
    name,
    ns: "shop",
    kind: { ref },
    timeMs: second * 1000,
    number: second,
    isStatus: part === "status",
    isMinor: part === "minor",
  }) as LogEntry;

const grouped = (...entries: LogEntry[]): string[] =>
  groupBursts(entries).map((group) => group.map((e) => `${e.name}${e.number}`).join());

void test("status updates of one object form a group, also with other objects between them", () =>
  assert.deepEqual(grouped(entry("a", 9), entry("b", 8), entry("a", 7), entry("b", 6, "spec"), entry("a", 5)), [
    "a9,a7,a5",
    "b8",
    "b6",
  ]));

void test("another change of the object ends its group, but a minor change does not", () =>
  assert.deepEqual(
    grouped(entry("a", 9), entry("a", 8, "minor"), entry("a", 7), entry("a", 6, "spec"), entry("a", 5), entry("a", 4)),
    ["a9,a7", "a8", "a6", "a5,a4"],
  ));

void test("objects of other kinds and updates after a pause are separate", () =>
  assert.deepEqual(
    grouped(entry("a", 200), entry("a", 199, "status", "apps/v1/deployments"), entry("a", 140), entry("a", 79)),
    ["a200,a140", "a199", "a79"],
  ));
