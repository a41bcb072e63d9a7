// Invariant: I43.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../fake-page.ts";
import type { Part } from "../fake-page.ts";
import { ActivityFeed, footerText, hiddenText, type FooterState } from "../../static/src/activity/activity-feed.tsx";
import { splitWatched, updateInterval } from "../../static/src/activity/activity-source.ts";
import { h } from "../../static/src/ui/dom.ts";
import type { Kind } from "../../static/src/net/kinds.ts";
import { Live } from "../../static/src/net/live.ts";
import { Browser } from "../fake-browser.ts";

const idle: FooterState = {
  problem: null,
  state: null,
  complete: true,
  staleText: null,
  count: 0,
  size: 0,
  hasMore: false,
  filtered: false,
  hidden: "Minor changes",
  resource: "configmaps",
  since: "00:10:33",
  kinds: null,
};
const lost = "Connection lost at 00:12:00";

void test("the footer reports no changes only for the time that the feed covers", () => {
  const gapNote = `${lost}. Later changes may be missing.`;
  for (const [foot, want] of [
    [{}, "No changes to configmaps in this list since 00:10:33. History starts at 00:10:33."],
    [
      { staleText: lost },
      `${gapNote} No changes to configmaps in this list since 00:10:33, as of the last update. ` +
        "History starts at 00:10:33.",
    ],
    [{ staleText: lost, count: 2, size: 2 }, `${gapNote} History starts at 00:10:33.`],
    [{ staleText: lost, count: 300, size: 300, hasMore: true }, gapNote],
    [
      { staleText: lost, size: 2, filtered: true },
      `${gapNote} No changes match the filter. Minor changes are hidden and may match.`,
    ],
    [{ size: 2, filtered: true, hidden: "" }, "No changes match the filter."],
    [{ size: 2, hidden: hiddenText(false, false) }, "All changes are hidden: status updates and minor changes."],
    [{ staleText: lost, complete: false }, gapNote],
    [{ complete: false }, "Loading history…"],
    [{ count: 300, size: 300, hasMore: true }, ""],
  ] as const)
    assert.equal(footerText({ ...idle, ...foot }), want);
});

void test("the footer counts the shown resources and names the omitted ones", () => {
  const since = "History is complete since 00:10:33. Earlier changes may be missing.";
  for (const [foot, want] of [
    [{ count: 2, size: 2, kinds: { known: true, shown: 3, omitted: [] } }, since],
    [
      { count: 2, size: 2, kinds: { known: true, shown: 3, omitted: ["Leases", "Events"] } },
      `${since} Resource types not shown: Leases, Events.`,
    ],
    [
      { count: 2, size: 2, kinds: { known: true, shown: 20, omitted: ["A", "B", "C", "D", "E", "F", "G"] } },
      `${since} Resource types not shown: A, B, C, D, E and 2 more.`,
    ],
    [{ kinds: { known: true, shown: 3, omitted: [] } }, `No changes in 3 resource types since 00:10:33. ${since}`],
    [
      { count: 300, size: 300, hasMore: true, kinds: { known: true, shown: 1, omitted: ["Leases"] } },
      "Resource types not shown: Leases.",
    ],
    [{ complete: false, kinds: { known: true, shown: 0, omitted: ["Pods"] } }, "Loading history…"],
    [
      { complete: false, kinds: { known: true, shown: 0, omitted: [] } },
      "Glasshouse watches no resource types now. A resource type appears here while someone views it.",
    ],
    [{ complete: false, kinds: { known: false, shown: 0, omitted: [] } }, "Loading watched resources…"],
  ] as const)
    assert.equal(footerText({ ...idle, ...foot }), want);
});

const kind = (resource: string, namespaced = true): Kind => ({
  ref: `core/v1/${resource}`,
  kind: resource,
  resource,
  namespaced,
});

void test(
  "the feed shows at most 20 kinds, including that of the list, " +
    "and omits cluster-scoped kinds if namespaces are selected",
  () => {
    const watched = [kind("nodes", false), ...Array.from({ length: 25 }, (_, i) => kind(`k${i}`))];
    const many = splitWatched(watched, { kind: kind("k24"), ns: [] });
    assert.deepEqual(
      [many.kinds.length, many.kinds.slice(0, 3).map((k) => k.resource), many.rest.map((k) => k.resource)],
      [20, ["k24", "nodes", "k0"], ["k18", "k19", "k20", "k21", "k22", "k23"]],
    );
    assert.deepEqual(splitWatched(watched.slice(0, 3), { kind: kind("secrets"), ns: ["shop"] }), {
      kinds: watched.slice(1, 3),
      rest: [],
    });
  },
);

function openFeed(all: boolean) {
  const browser = new Browser();
  const live = new Live("ws://x", browser, () => undefined);
  live.connect();
  browser.socket.accept();
  let watched: readonly Kind[] | null = [kind("pods"), kind("jobs")];
  const place = h("div");
  const feed = new ActivityFeed(
    place,
    { live, now: () => 0, watched: () => watched, href: () => "", open: () => undefined, select: () => undefined },
    { height: 200, all, filter: "" },
    () => undefined,
  );
  feed.showList({ kind: kind("pods"), ns: ["shop"], labels: "app=web" });
  const sent = (): string[] =>
    browser.socket.sent.map(
      (m) =>
        `${String(m["op"])} ${String(m["resource"] ?? m["id"])}${m["watched"] === true ? " watched" : ""}${
          m["labels"] === undefined ? "" : ` ${String(m["labels"])}`
        }`,
    );
  const intervals = (): unknown[] => browser.socket.sent.map((m) => m["every"]);
  const receive = (resource: string, m: object): void =>
    browser.socket.receive({
      id: browser.socket.sent.find((s) => s["resource"] === `core/v1/${resource}`)?.["id"],
      ...m,
    });
  const feedText = (): string => {
    feed.refresh();
    return place.textContent;
  };
  return {
    feed,
    place: place as unknown as Part,
    sent,
    intervals,
    receive,
    words: feedText,
    watch: (names: readonly string[] | null) => {
      watched = names?.map((n) => kind(n)) ?? null;
      feed.updateSources();
    },
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

void test("the activity feed of a list subscribes only to that list, with the interval of redraws", () => {
  const { sent, intervals, feed } = openFeed(false);
  assert.deepEqual(sent(), ["subscribe core/v1/pods app=web"]);
  assert.deepEqual(intervals(), [updateInterval]);
  feed.updateSources();
  assert.equal(sent().length, 1);
});

void test("the feed follows all watched resources and starts no watch", () => {
  const { sent, receive, words, watch } = openFeed(true);
  assert.deepEqual(sent(), ["subscribe core/v1/pods watched", "subscribe core/v1/jobs watched"]);
  receive("pods", snapshot("a"));
  assert.match(words(), /1 change in 1 resource type since .*shop\/a.*Resource types not shown: jobs\./);
  receive("jobs", snapshot("b"));
  assert.match(words(), /2 changes in 2 resource types since .*jobs\s+shop\/b.*pods\s+shop\/a/);
  receive("jobs", { type: "state", state: "forbidden", reason: "No." });
  assert.ok(!words().includes("shop/b"));
  watch(["jobs", "nodes"]);
  assert.deepEqual(sent().slice(2), ["unsubscribe 1", "subscribe core/v1/nodes watched"]);
  assert.ok(!words().includes("shop/a"));
});

void test("the footer does not report that nothing is watched before the watched resources are known", () => {
  const { words, watch } = openFeed(true);
  watch(null);
  assert.match(words(), /Loading watched resources…/);
  watch([]);
  assert.match(words(), /Glasshouse watches no resource types now\./);
  watch(["jobs"]);
  assert.match(words(), /Loading history…/);
});

void test(
  "the previous and the new value are separate elements, " + "so that neither changes the text direction of the other",
  () => {
    const { feed, receive, place } = openFeed(false);
    const [was, is] = ["\u05d0", "\u05d1"];
    receive("pods", {
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
    const spans = place.find("class", "field-change");
    assert.deepEqual(
      spans?.children.map((c) => c.textContent),
      ["spec.note", was, "→", is],
    );
    assert.equal(place.find("class", "all")?.getAttribute("title"), `spec.note ${was} → ${is}`);
  },
);

void test("status updates are hidden at first, and those of one object form one line", async () => {
  const { feed, receive, place } = openFeed(false);
  const update = (second: number, name: string, path: string, value: unknown) => ({
    op: "update",
    ns: "shop",
    name,
    uid: "u",
    rv: "1",
    time: new Date(second * 1000).toISOString(),
    patch: [{ op: "replace", path, value }],
  });
  receive("pods", {
    ...snapshot(),
    events: [
      update(1, "a", "/spec/image", "v2"),
      update(2, "a", "/status/ready", 1),
      update(3, "b", "/spec/image", "v3"),
      update(4, "a", "/status/ready", 2),
      update(5, "a", "/status/ready", 3),
    ],
  });
  const lines = (): string[] => {
    feed.refresh();
    return place.querySelectorAll(".activity-entry .all").map((e) => e.textContent.replace(/\s+/g, " ").trim());
  };
  assert.deepEqual(lines(), ["spec.image → v3", "spec.image → v2"]);
  const box = place.querySelector("label input") as Part;
  box.checked = true;
  box.fire("change", { type: "change", currentTarget: box });
  assert.deepEqual(lines(), ["3 status updates status.ready → 3", "spec.image → v3", "spec.image → v2"]);
  const toggle = place.querySelector(".burst-toggle") as Part;
  assert.equal(toggle.getAttribute("aria-expanded"), "false");
  toggle.dispatch("click", { button: 0 });
  for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
  assert.deepEqual(lines(), [
    "3 status updates status.ready → 3",
    "status.ready → 2",
    "status.ready → 1",
    "spec.image → v3",
    "spec.image → v2",
  ]);
});
