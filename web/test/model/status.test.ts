// Invariant: I38.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  offlineText,
  reloadsText,
  bannerText,
  isCounted,
  countText,
  coverageText,
  lastCurrentText,
  noteFor,
  status,
  type SubscriptionInfo,
} from "../../static/src/model/status.ts";
import { states, type State } from "../../static/src/net/wire.ts";

const liveInfo: SubscriptionInfo = {
  connection: "open",
  since: 0,
  closeReason: "",
  state: { state: "live", since: "", reason: "", count: null, total: null, namespaces: [] },
  stale: null,
  isComplete: true,
  arriving: 0,
  expected: 0,
  problem: null,
  isReloading: false,
};

void test("the status is Live only while the data is current", () => {
  const live = (k: Partial<SubscriptionInfo>): boolean => {
    const s = status({ ...liveInfo, ...k }, 0);
    return s.level === "live" || /live/i.test(s.text);
  };
  assert.equal(live({}), true);
  assert.equal(live({ connection: "lost" }), false);
  assert.equal(live({ connection: "connecting" }), false);
  assert.equal(live({ isComplete: false }), false);
  assert.equal(live({ state: null }), false);
  assert.equal(live({ problem: { title: "", status: 400, detail: "" } }), false);
  for (const state of states.filter((s) => s !== "live"))
    assert.equal(
      live({ state: { state, since: "", reason: "", count: null, total: null, namespaces: [] } }),
      false,
      state,
    );
});

void test("unknown counts are not shown", () => {
  const of = (k: Partial<SubscriptionInfo>): boolean => isCounted({ ...liveInfo, ...k });
  for (const state of states)
    assert.equal(
      of({ state: { state, since: "", reason: "", count: null, total: null, namespaces: [] } }),
      ["syncing", "live", "stale"].includes(state),
      state,
    );
  assert.deepEqual(
    [of({}), of({ connection: "lost", state: null }), of({ problem: { title: "", status: 400, detail: "" } })],
    [true, true, false],
  );
});

void test("reloads are shown and counted", () => {
  assert.deepEqual(status({ ...liveInfo, isReloading: true, isComplete: false, arriving: 7 }, 0), {
    level: "busy",
    text: "Reloading",
    count: 7,
    total: null,
  });
  assert.equal(status({ ...liveInfo, isReloading: true, isComplete: false, state: null }, 0).text, "Reloading");
  assert.equal(status({ ...liveInfo, isReloading: true, isComplete: false, connection: "lost" }, 0).level, "bad");
  assert.equal(
    noteFor({ ...liveInfo, isReloading: true, isComplete: false }, "Pods", 0, false, 0).title,
    "Reloading Pods…",
  );
  assert.deepEqual([0, 1, 2, 1000].map(reloadsText), [
    null,
    "reloaded once",
    "reloaded 2 times",
    "reloaded 1,000 times",
  ]);
});

void test("progress shows count and total if both are known", () => {
  const far = (k: Partial<SubscriptionInfo>, of: { count?: number; total?: number } | null): string[] => {
    const state =
      of === null
        ? liveInfo.state
        : {
            state: "syncing" as const,
            since: "",
            reason: "",
            count: of.count ?? null,
            total: of.total ?? null,
            namespaces: [],
          };
    const known = { ...liveInfo, isComplete: false, ...k, state };
    return [countText(status(known, 0)), noteFor(known, "Pods", 0, false, 0).detail];
  };
  assert.deepEqual(far({}, { count: 2400, total: 10016 }), ["2,400 of 10,016", "2,400 of 10,016"]);
  assert.deepEqual(
    far({ expected: 9 }, { count: 2400 }),
    ["2,400", "2,400 so far"],
    "the server's count is not compared with the expected number",
  );
  assert.deepEqual(far({ expected: 9 }, {}), ["", ""], "no progress is shown before the first rows arrive");
  assert.deepEqual(far({ expected: 10016, arriving: 6000 }, null), ["6,000 of 10,016", "6,000 of 10,016"]);
  assert.deepEqual(
    far({ expected: 5000, arriving: 6000 }, null),
    ["6,000", "6,000 so far"],
    "the total is omitted if more rows arrive than expected",
  );
  assert.deepEqual(far({ arriving: 6000 }, null), ["6,000", "6,000 so far"]);
  assert.equal(countText(status(liveInfo, 0)), "");
});

void test("partial coverage names the covered namespaces", () => {
  const some: SubscriptionInfo = {
    ...liveInfo,
    state: { state: "live", since: "", reason: "", count: null, total: null, namespaces: ["data", "shop"] },
  };
  const only = "Showing namespaces data, shop only (no access to others).";
  assert.equal(coverageText(liveInfo), null);
  assert.equal(coverageText(some), only);
  assert.equal(noteFor(liveInfo, "Pods", 0, false, 0).detail, "");
  assert.equal(noteFor(some, "Pods", 0, false, 0).detail, only);
  assert.ok(noteFor(some, "Pods", 0, true, 0).detail.endsWith(only));
  assert.ok(noteFor(some, "Pods", 5, false, 0).detail.endsWith(only));
});

void test("if the selected namespaces are forbidden, the note offers the permitted ones", () => {
  const not: SubscriptionInfo = {
    ...liveInfo,
    isComplete: false,
    state: { state: "forbidden", since: "", reason: "You cannot list Pods.", count: null, total: null, namespaces: [] },
  };
  const noteValues = (chosen: boolean, namespaced = true, guest = false): unknown[] =>
    Object.values(noteFor(not, "Pods", 0, chosen, 0, chosen, namespaced, guest));
  assert.deepEqual(noteValues(false), [
    "Forbidden: you cannot list Pods",
    "You cannot list Pods.",
    "Select a namespace that you can read, or ask your cluster admin for list and watch access.",
    null,
    true,
  ]);
  assert.deepEqual(noteValues(true), [
    "Forbidden: you cannot list Pods",
    "You cannot list Pods.",
    "Ask your cluster admin for list and watch access, or",
    "show-allowed",
    true,
  ]);
  assert.deepEqual(
    noteValues(false, false),
    [
      "Forbidden: you cannot list Pods",
      "You cannot list Pods.",
      "Ask your cluster admin for list and watch access.",
      null,
      true,
    ],
    "there is no link if the user cannot list the kind in any namespace",
  );
  assert.deepEqual(
    noteValues(false, true, true),
    ["Forbidden: you cannot list Pods", "You cannot list Pods.", "", null, false],
    "guests cannot request access",
  );
  assert.deepEqual(noteValues(true, true, true), [
    "Forbidden: you cannot list Pods",
    "You cannot list Pods.",
    "",
    "show-allowed",
    false,
  ]);
  assert.equal(
    bannerText(not, 0, false),
    "Forbidden: You cannot list Pods. Ask your cluster admin for access. The data then appears automatically.",
  );
  assert.equal(bannerText(not, 0, true), "Forbidden: You cannot list Pods.");
});

void test("a reason that ends with a period gets no second one", () => {
  for (const state of ["stale", "failed"] as const)
    for (const reason of ["the watch ended", "The watch ended."]) {
      const banner = bannerText({ ...liveInfo, state: { ...(liveInfo.state as State), state, since: "", reason } }, 0);
      assert.match(banner ?? "", /^[\w ]+: [Tt]he watch ended\. Data may be (missing or )?out of date\.$/);
    }
});

void test("the close reason of the server is shown", () => {
  const lost: SubscriptionInfo = { ...liveInfo, connection: "lost", closeReason: "the server stops" };
  assert.ok(bannerText(lost, 0)?.includes(" (the server stops). Data may be out of date."));
  assert.equal(
    noteFor({ ...lost, isComplete: false }, "Pods", 0, false, 0).detail,
    "Glasshouse reported: the server stops.",
  );
});

void test("an offline page shows the reason and the age of its data", () => {
  const at = new Date(2026, 0, 2, 14, 2, 10).toISOString();
  const words = (closeReason: string, reached: boolean | null): string =>
    offlineText(closeReason, reached, at, Date.parse(at));
  assert.match(
    words("", true),
    /^Not live: Glasshouse responds, but the WebSocket .*\(a proxy may block it\)\. Showing data from 14:02:10\./,
  );
  assert.match(words("", null), /^Not live: the WebSocket connection is not open yet/);
  assert.match(
    words("", false),
    /^Not live: Glasshouse cannot be reached from this browser\. Showing data from 14:02:10\. Live updates/,
  );
  assert.match(
    words("as many are connected as may be", true),
    /^Not live: Glasshouse reported: as many are connected as may be\. /,
  );
});

void test("an empty stale table reports since when it is stale, and what was known then", () => {
  const at = new Date(2026, 0, 2, 14, 2, 10).toISOString();
  const now = Date.parse(at) + 60_000;
  const lost: SubscriptionInfo = { ...liveInfo, connection: "lost", since: Date.parse(at) };
  const stale: SubscriptionInfo = {
    ...liveInfo,
    state: { state: "stale", since: at, reason: "connection refused", count: null, total: null, namespaces: [] },
  };
  for (const [k, total, isFiltered, want] of [
    [
      lost,
      0,
      false,
      {
        title: "Connection lost at 14:02:10",
        detail: "There were no Pods at 14:02:10.",
        next: "Retrying automatically. Check that Glasshouse is running.",
        act: null,
      },
    ],
    [
      { ...lost, closeReason: "the server stops" },
      0,
      true,
      {
        title: "Connection lost at 14:02:10",
        detail:
          "There were no Pods with the selected namespaces and filters at 14:02:10. Glasshouse reported: the server " +
          "stops.",
        next: "Retrying automatically. Check that Glasshouse is running.",
        act: null,
      },
    ],
    [
      stale,
      0,
      false,
      {
        title: "Stale since 14:02:10",
        detail: "There were no Pods at 14:02:10. The watch is interrupted: connection refused.",
        next: "Retrying automatically. Missed changes are shown after that.",
        act: null,
      },
    ],
    [
      lost,
      168,
      false,
      {
        title: "No Pods match the filter",
        detail: "168 hidden (as of the last update).",
        next: "",
        act: "show-all",
      },
    ],
    [
      stale,
      168,
      false,
      {
        title: "No Pods match the filter",
        detail: "168 hidden (as of the last update).",
        next: "",
        act: "show-all",
      },
    ],
    [liveInfo, 168, false, { title: "No Pods match the filter", detail: "168 hidden.", next: "", act: "show-all" }],
  ] as const)
    assert.deepEqual(noteFor(k, "Pods", total, isFiltered, now), want);
});

void test("an unknown namespace links to the namespaces, but not for guests", () => {
  const problem = { title: "Unknown namespace", status: 404, detail: 'Namespace "nope" does not exist.' };
  const unknown: SubscriptionInfo = { ...liveInfo, isComplete: false, state: null, problem };
  const note = (isGuest: boolean): unknown => noteFor(unknown, "Pods", 0, true, 0, true, true, isGuest);
  const { title, detail } = problem;
  assert.deepEqual(note(false), { title, detail, next: "", act: "view-namespaces" });
  assert.deepEqual(note(true), { title, detail, next: "Change the filters, or", act: "show-all" });
});

void test("data counts as current until it became stale or the connection was lost, whichever was first", () => {
  const at = (hour: number): string => new Date(2026, 0, 2, hour).toISOString();
  const now = new Date(2026, 0, 2, 12).getTime();
  const stale = (since: string): SubscriptionInfo["state"] => ({
    state: "stale",
    since,
    reason: "",
    count: null,
    total: null,
    namespaces: [],
  });
  const lost: Partial<SubscriptionInfo> = {
    connection: "lost",
    since: new Date(2026, 0, 2, 11).getTime(),
    state: null,
  };
  const cases: [string, Partial<SubscriptionInfo>, string | null][] = [
    ["live", {}, null],
    ["stale", { state: stale(at(10)) }, "at 10:00:00"],
    ["stale since an unknown time", { state: stale("") }, "at the last update"],
    ["lost", lost, "at 11:00:00"],
    ["lost while it is stale", { ...lost, state: stale(at(10)) }, "at 10:00:00"],
    ["stale, then lost", { ...lost, stale: at(10) }, "at 10:00:00"],
    ["stale since an unknown time, then lost", { ...lost, stale: "" }, "at the last update"],
    ["stale, then lost, then no state yet", { state: null, stale: at(10) }, "at 10:00:00"],
    ["no state yet", { state: null }, "at the last update"],
  ];
  for (const [what, k, want] of cases) assert.equal(lastCurrentText({ ...liveInfo, ...k }, now), want, what);
  assert.equal(
    noteFor({ ...liveInfo, ...lost, stale: at(10) }, "Pods", 0, false, now).detail,
    "There were no Pods at 10:00:00.",
  );
});

// TestEmptyNoteMatchesTheScript in web/templates/list_test.go has the same cases.
void test("the note of an empty list has the same text without the script", () => {
  const absent: SubscriptionInfo = {
    ...liveInfo,
    state: { state: "absent", since: "", reason: "Not served.", count: null, total: null, namespaces: [] },
  };
  for (const [info, isFiltered, want] of [
    [liveInfo, false, "No Pods||New ones appear here automatically."],
    [liveInfo, true, "No Pods match the selected namespaces and filters||New ones appear here automatically."],
    [
      absent,
      false,
      "Pods are not available in this cluster|Not served.|They appear here automatically once their API is installed.",
    ],
  ] as const) {
    const { title, detail, next } = noteFor(info, "Pods", 0, isFiltered, 0);
    assert.equal([title, detail, next].join("|"), want);
  }
});

void test("after a reconnect, nothing is known until a message arrives", () => {
  const were = "There were no Pods at the last update.";
  for (const [k, title] of [
    [{ connection: "connecting" }, "Connecting…"],
    [{ state: null }, "Catching up"],
    [{ state: { ...liveInfo.state, state: "syncing" } }, "Loading"],
  ] as const) {
    const known = { ...liveInfo, ...k } as SubscriptionInfo;
    assert.deepEqual(noteFor(known, "Pods", 0, false, 0), { title, detail: were, next: "", act: null });
    assert.match(noteFor(known, "Pods", 5, false, 0).detail, /^5 hidden \(as of the last update\)/);
  }
});
