// Invariant: I43.

import assert from "node:assert/strict";
import { test } from "node:test";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ChangeLog } from "../../static/src/activity/change-log.ts";
import type { Kind } from "../../static/src/net/kinds.ts";
import type { Change, PatchOp } from "../../static/src/net/wire.ts";

const kind = (resource: string): Kind => ({ ref: `core/v1/${resource}`, kind: resource, resource, namespaced: true });
const pods = kind("pods");
const t = new Date(0).toISOString();
let second = 0;
const change = (
  name: string,
  patch: readonly PatchOp[],
  manager = "kubelet",
  op: Change["op"] = "update",
  was: Change["was"] = new Map(),
): Change => ({
  op,
  ns: "shop",
  name,
  uid: "u",
  rv: "",
  time: new Date(++second * 1000).toISOString(),
  patch,
  was,
  by: { manager, operation: "Update", subresource: "status", time: "" },
});
const phase = (name: string, to: string): Change =>
  change(name, [
    { op: "replace", path: "/metadata/resourceVersion", value: "2" },
    { op: "replace", path: "/status/phase", value: to },
  ]);
const heartbeat = (name: string): Change =>
  change(name, [
    { op: "replace", path: "/metadata/resourceVersion", value: "2" },
    { op: "replace", path: "/spec/renewTime", value: "t" },
  ]);
const names = (h: ChangeLog, filter = "", minor = false): string =>
  h
    .visible(filter, minor)
    .map((x) => x.name)
    .join();

void test("changes are listed newest first, minor ones only on request", () => {
  const h = new ChangeLog();
  h.addResource(pods, t, [phase("a", "Running"), heartbeat("b")]);
  h.add(pods, [phase("c", "Failed"), change("d", [], "kubectl", "delete")]);
  assert.deepEqual([names(h), names(h, "", true), h.size, h.since], ["d,c,a", "d,c,b,a", 4, t]);
  assert.deepEqual(
    [
      names(h, "phase"),
      names(h, "kubectl"),
      names(h, "KUBELET phase"),
      names(h, "deleted"),
      names(h, "renew", true),
      names(h, "none"),
    ],
    ["c,a", "d", "c,a", "d", "b", ""],
  );
});

void test("of the changes of Events, only a new Warning is not minor", () => {
  const h = new ChangeLog();
  const events = kind("events");
  h.addResource(events, t, [
    { ...change("a", [], "kubelet", "add"), severity: "degraded" },
    change("a", [{ op: "replace", path: "/count", value: 2 }]),
    { ...change("normal", [], "kubelet", "add"), severity: "" },
    change("a", [], "kubelet", "delete"),
  ]);
  h.addResource(pods, t, [change("pod", [], "kubelet", "add"), change("pod", [], "kubelet", "delete")]);
  const shown = h.visible("", false).map((e) => `${e.op} ${e.name}`);
  assert.deepEqual([shown, h.visible("", true).length], [["delete pod", "add pod", "add a"], 6]);
});

const newestFields = (h: ChangeLog): string[] | undefined =>
  h.visible("", false)[0]?.fieldTexts.map((w) => w.join(" "));

void test("an update is summarized by its changed fields", () => {
  const h = new ChangeLog();
  h.addResource(pods, t, [
    change(
      "a",
      [
        { op: "replace", path: "/status/conditions/0/lastTransitionTime", value: "2026" },
        { op: "add", path: "/status/conditions/1", value: { type: "Ready", status: "True", more: {} } },
        { op: "add", path: "/status/podIPs", value: [1, 2] },
        { op: "remove", path: "/metadata/labels/a" },
        { op: "replace", path: "/metadata/resourceVersion", value: "2" },
        { op: "replace", path: "/status/text", value: `a\n ${"b".repeat(60)}` },
        { op: "replace", path: "/status/phase", value: "Running" },
        { op: "remove", path: "/status/reason" },
        { op: "replace", path: "/status/usage", value: { cpu: 2, memory: 3 } },
        { op: "replace", path: "/status/note", value: "" },
        { op: "replace", path: "/status/conditions/0/status", value: "True" },
      ],
      "kubelet",
      "update",
      new Map<number, unknown>([
        [6, "Pending"],
        [7, "Evicted"],
        [8, { cpu: 1, memory: 3 }],
        [9, null],
        [10, "False"],
      ]),
    ),
  ]);
  assert.deepEqual(newestFields(h), [
    "status.phase Pending → Running",
    "status.usage.cpu 1 → 2",
    'status.note null → ""',
    "− metadata.labels.a",
    `status.text → a ${"b".repeat(46)}…`,
    "− status.reason Evicted",
    "status.conditions[0].status False → True",
    "status.conditions[1] → {type Ready, status True, more {}}",
    "status.podIPs → [2]",
    "status.conditions[0].lastTransitionTime → 2026",
  ]);
});

void test("the summary of a change distinguishes null from an absent value", () => {
  const field = (after: unknown, before?: unknown): string | undefined => {
    const h = new ChangeLog();
    h.addResource(pods, t, [
      change(
        "a",
        [{ op: "replace", path: "/f", value: after }],
        "kubelet",
        "update",
        new Map(before === undefined ? [] : [[0, before]]),
      ),
    ]);
    return newestFields(h)?.join("\n");
  };
  const [same, cut] = ["s".repeat(100), "c".repeat(47)];
  for (const [after, before, want] of [
    [`${same}new${same}`, `${same}old`, `f …${"s".repeat(12)}old → …${"s".repeat(12)}new${"s".repeat(33)}…`],
    [`${same}!`, same, `f …${"s".repeat(12)} → …${"s".repeat(12)}!`],
    [`a${same}`, same, `f ${"s".repeat(48)}… → a${"s".repeat(47)}…`],
    [[{ name: "b" }, { name: "a" }], [{ name: "a" }, { name: "b" }], "f reordered"],
    [
      { limits: { cpu: 1 }, args: ["x"], none: null, empty: {} },
      undefined,
      "f → {limits {…}, args [1], none null, empty {}}",
    ],
    [{}, undefined, "f → {}"],
    [`${cut}\u{1f600}`, undefined, `f → ${cut}…`],
  ] as const)
    assert.equal(field(after, before), want);
});

void test("a pause keeps the list in place and loses no changes", () => {
  const h = new ChangeLog();
  h.addResource(pods, t, [phase("a", "1")]);
  h.isPaused = true;
  h.add(pods, [phase("b", "1"), heartbeat("c")]);
  assert.deepEqual(
    [names(h), h.pendingCount("", false), h.pendingCount("", true), h.pendingCount("none", true)],
    ["a", 1, 2, 0],
  );
  h.resume();
  assert.deepEqual([names(h), h.pendingCount("", false)], ["b,a", 0]);
});

void test("the log is bounded, also while paused, and reports since when it is complete", () => {
  const h = new ChangeLog();
  h.addResource(pods, t, []);
  h.isPaused = true;
  const all = Array.from({ length: 2500 }, (_, i) => phase(String(i), "1"));
  for (let i = 0; i < all.length; i += 100) h.add(pods, all.slice(i, i + 100));
  h.resume();
  assert.deepEqual([h.size, h.since, h.visible("", false).at(-1)?.name], [1000, all[1499]?.time, "1500"]);
});

void test("changes of several kinds are merged by time and removed with their kind", () => {
  const h = new ChangeLog();
  const jobs = kind("jobs");
  const [a, b, c, d] = [phase("a", "1"), phase("b", "1"), phase("c", "1"), phase("d", "1")];
  // a time without a fraction of a second, like the server's times
  const later = new Date(60_000).toISOString().replace("00.000Z", "00Z");
  h.addResource(pods, later, [a, d]);
  h.addResource(jobs, t, [b]);
  h.add(jobs, [c]);
  assert.deepEqual([names(h), names(h, "jobs"), h.since], ["d,c,b,a", "c,b", later]);
  h.addResource(pods, t, [a]);
  assert.deepEqual([names(h), h.since], ["c,b,a", t]);
  h.isPaused = true;
  h.add(pods, [d]);
  h.removeResource(pods.ref);
  h.resume();
  assert.deepEqual([names(h), h.since], ["c,b", t]);
  h.clear();
  assert.deepEqual([h.size, h.since], [0, ""]);
});

void test("each timestamp is parsed once, regardless of the size of the log", () => {
  const h = new ChangeLog();
  const kinds = Array.from({ length: 20 }, (_, i) => kind(`k${i}`));
  for (const k of kinds) h.addResource(k, t, []);
  const all = Array.from({ length: 3000 }, (_, i) => phase(String(i), "1"));
  // The batches of the resources overlap in time, so a change can arrive after changes that are up to 1 s newer.
  const batches = Array.from({ length: 30 }, (_, round) =>
    kinds.map((k, i) => ({
      k,
      changes: all.slice(round * 100, round * 100 + 100).filter((_, n) => n % 20 === 19 - i),
    })),
  ).flat();
  const { parse } = Date;
  let parsed = 0;
  Date.parse = (text) => {
    parsed++;
    return parse(text);
  };
  try {
    for (const { k, changes } of batches) h.add(k, changes);
  } finally {
    Date.parse = parse;
  }
  assert.equal(parsed, all.length);
  assert.deepEqual(
    h.visible("", false).map((x) => x.name),
    all
      .slice(-1000)
      .reverse()
      .map((c) => c.name),
  );
  const [a, b] = [phase("a", "1"), phase("b", "1")];
  h.add(pods, [a]);
  h.add(pods, [{ ...b, time: a.time }]);
  assert.equal(names(h).slice(0, 4), "b,a,");
});

void test("the log keeps the text of a change, not its values", () => {
  setFlagsFromString("--expose-gc");
  const heap = (): number => {
    (runInNewContext("gc") as () => void)();
    return getHeapStatistics().used_heap_size / 2 ** 20;
  };
  const text = (n: number): string => JSON.parse(`"${String(n)}${"x".repeat(100_000)}"`) as string;
  const value = (n: number): unknown => (n % 2 === 0 ? text(n) : { type: text(n), more: [text(n)] });
  const h = new ChangeLog();
  h.addResource(pods, t, []);
  const before = heap();
  for (let n = 0; n < 500; n++) h.add(pods, [change(String(n), [{ op: "replace", path: "/data/a", value: value(n) }])]);
  const grown = heap() - before;
  assert.equal(h.size, 500);
  assert.ok(grown < 10, `500 changes of 100 kB and more use ${grown.toFixed(1)} MiB`);
});
