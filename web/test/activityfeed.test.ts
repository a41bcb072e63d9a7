import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.ts";
import type { Part } from "./page.ts";
import { ActivityFeed, footWords, type Foot } from "../static/src/activityfeed.ts";
import { followed, pause } from "../static/src/activitysource.ts";
import { h } from "../static/src/dom.ts";
import type { Kind } from "../static/src/kinds.ts";
import { Live } from "../static/src/live.ts";
import { Browser } from "./browser.ts";

const quiet: Foot = {
  problem: null,
  state: null,
  complete: true,
  doubted: null,
  count: 0,
  size: 0,
  some: false,
  filtered: false,
  resource: "configmaps",
  since: "00:10:33",
  kinds: null,
};
const lost = "Connection lost at 00:12:00";

void test("that nothing changed is said of the time alone of which it is known", () => {
  const untold = `${lost}. Later changes may be missing.`;
  for (const [foot, want] of [
    [{}, "No configmaps in this list changed since 00:10:33. History starts at 00:10:33."],
    [
      { doubted: lost },
      `${untold} No configmaps in this list changed from 00:10:33 until then. History starts at 00:10:33.`,
    ],
    [{ doubted: lost, count: 2, size: 2 }, `${untold} History starts at 00:10:33.`],
    [{ doubted: lost, count: 300, size: 300, some: true }, untold],
    [{ doubted: lost, size: 2, filtered: true }, `${untold} No changes match the filter.`],
    [{ doubted: lost, complete: false }, untold],
    [{ complete: false }, "Loading history…"],
    [{ count: 300, size: 300, some: true }, ""],
  ] as const) assert.equal(footWords({ ...quiet, ...foot }), want);
});

void test("of all that is watched it is said how much is told, and what is not", () => {
  const since = "History is complete since 00:10:33. Earlier changes may be missing.";
  for (const [foot, want] of [
    [{ count: 2, size: 2, kinds: { known: true, told: 3, untold: [] } }, since],
    [
      { count: 2, size: 2, kinds: { known: true, told: 3, untold: ["Leases", "Events"] } },
      `${since} Not shown: Leases, Events.`,
    ],
    [
      { count: 2, size: 2, kinds: { known: true, told: 20, untold: ["A", "B", "C", "D", "E", "F", "G"] } },
      `${since} Not shown: A, B, C, D, E and 2 more.`,
    ],
    [
      { kinds: { known: true, told: 3, untold: [] } },
      "No changes in 3 resource types since 00:10:33. History starts at 00:10:33.",
    ],
    [{ count: 300, size: 300, some: true, kinds: { known: true, told: 1, untold: ["Leases"] } }, "Not shown: Leases."],
    [{ complete: false, kinds: { known: true, told: 0, untold: ["Pods"] } }, "Loading history…"],
    [
      { complete: false, kinds: { known: true, told: 0, untold: [] } },
      "No watched resources are known. New ones appear here automatically.",
    ],
    [
      { complete: false, kinds: { known: false, told: 0, untold: [] } },
      "Loading watched resources…",
    ],
  ] as const)
    assert.equal(footWords({ ...quiet, ...foot }), want);
});

const kind = (resource: string, namespaced = true): Kind => ({
  ref: `core/v1/${resource}`,
  kind: resource,
  resource,
  namespaced,
});

void test("twenty kinds are followed together, the listed one among them; " +
  "chosen namespaces leave out what has none", () => {
  const watched = [kind("nodes", false), ...Array.from({ length: 25 }, (_, i) => kind(`k${i}`))];
  const many = followed(watched, { kind: kind("k24"), ns: [] });
  assert.deepEqual(
    [many.kinds.length, many.kinds.slice(0, 3).map((k) => k.resource), many.rest.map((k) => k.resource)],
    [20, ["k24", "nodes", "k0"], ["k18", "k19", "k20", "k21", "k22", "k23"]],
  );
  assert.deepEqual(followed(watched.slice(0, 3), { kind: kind("secrets"), ns: ["shop"] }), {
    kinds: watched.slice(1, 3),
    rest: [],
  });
});

// An activity feed as on a page, with a scripted server.
function open(all: boolean) {
  const browser = new Browser();
  const live = new Live("ws://x", browser, () => undefined);
  live.connect();
  browser.socket.accept();
  let watched: readonly Kind[] | null = [kind("pods"), kind("jobs")];
  const place = h("div");
  const feed = new ActivityFeed(
    place,
    { live, now: () => 0, watched: () => watched, href: () => "", open: () => undefined },
    { height: 200, all },
    () => undefined,
  );
  feed.follow({ kind: kind("pods"), ns: ["shop"], labels: "app=web" });
  const sent = (): string[] =>
    browser.socket.sent.map(
      (m) =>
        `${String(m["op"])} ${String(m["resource"] ?? m["id"])}${m["watched"] === true ? " watched" : ""}${
          m["labels"] === undefined ? "" : ` ${String(m["labels"])}`
        }`,
    );
  const asked = (): unknown[] => browser.socket.sent.map((m) => m["every"]);
  const say = (resource: string, m: object): void =>
    browser.socket.say({ id: browser.socket.sent.find((s) => s["resource"] === `core/v1/${resource}`)?.["id"], ...m });
  const words = (): string => {
    feed.refresh();
    return place.textContent;
  };
  return {
    feed,
    place: place as unknown as Part,
    sent,
    asked,
    say,
    words,
    watch: (names: readonly string[] | null) =>
      void ((watched = names?.map((n) => kind(n)) ?? null), feed.watched()),
  };
}

const snapshot = (...names: string[]) => ({
  type: "snapshot",
  cursor: "c",
  since: "1970-01-01T00:00:00Z",
  last: true,
  events: names.map((name) => ({
    op: "delete",
    ns: "shop",
    name,
    uid: "u",
    rv: "1",
    time: "1970-01-01T00:00:01.000Z",
  })),
});

void test("a list's activity follows the list alone, and is told no more often than it is drawn", () => {
  const { sent, asked, feed } = open(false);
  assert.deepEqual(sent(), ["subscribe core/v1/pods app=web"]);
  assert.deepEqual(asked(), [pause]);
  feed.watched();
  assert.equal(sent().length, 1);
});

void test("all that is watched is followed while it is watched, and has nothing watched for that", () => {
  const { sent, say, words, watch } = open(true);
  assert.deepEqual(sent(), ["subscribe core/v1/pods watched", "subscribe core/v1/jobs watched"]);
  say("pods", snapshot("a"));
  assert.match(words(), /1 change in 1 resource type since .*shop\/a.*Not shown: jobs\./);
  say("jobs", snapshot("b"));
  assert.match(words(), /2 changes in 2 resource types since .*jobs\s+shop\/b.*pods\s+shop\/a/);
  say("jobs", { type: "state", state: "forbidden", reason: "No." });
  assert.ok(!words().includes("shop/b"));
  watch(["jobs", "nodes"]);
  assert.deepEqual(sent().slice(2), ["unsubscribe 1", "subscribe core/v1/nodes watched"]);
  assert.ok(!words().includes("shop/a"));
});

void test("before it is known what is watched, it is not said to be nothing", () => {
  const { words, watch } = open(true);
  watch(null);
  assert.match(words(), /Loading watched resources…/);
  watch([]);
  assert.match(words(), /No watched resources are known\./);
  watch(["jobs"]);
  assert.match(words(), /Loading history…/);
});

void test("what was before and after are elements of their own, " +
  "so that the direction of neither turns the other's", () => {
  const { feed, say, place } = open(false);
  const [was, is] = ["\u05d0", "\u05d1"];
  say("pods", {
    ...snapshot(),
    events: [
      {
        op: "update",
        ns: "shop",
        name: "a",
        uid: "u",
        rv: "1",
        time: "1970-01-01T00:00:01.000Z",
        patch: [{ op: "replace", path: "/spec/note", value: is }],
        was: { 0: was },
      },
    ],
  });
  feed.refresh();
  const told = place.find("class", "did");
  assert.deepEqual(told?.children.map((c) => c.textContent), ["spec.note", was, "→", is]);
  assert.equal(place.find("class", "all")?.getAttribute("title"), `spec.note ${was} → ${is}`);
});
