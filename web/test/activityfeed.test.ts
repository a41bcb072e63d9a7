import assert from "node:assert/strict";
import { test } from "node:test";
import { footWords, type Foot } from "../static/src/activityfeed.ts";

const quiet: Foot = { problem: null, state: null, complete: true, doubted: null, count: 0, size: 0, some: false, filtered: false, resource: "configmaps", since: "00:10:33" };
const lost = "Disconnected since 00:12:00";

void test("that nothing changed is said of the time alone of which it is known", () => {
  const untold = `${lost}: what has changed since is not known here.`;
  for (const [foot, want] of [
    [{}, "No configmaps in this list changed since 00:10:33. Of the time before nothing is known here."],
    [{ doubted: lost }, `${untold} No configmaps in this list changed from 00:10:33 until then. Of the time before nothing is known here.`],
    [{ doubted: lost, count: 2, size: 2 }, `${untold} Kept since 00:10:33; of the time before nothing is known here.`],
    [{ doubted: lost, count: 300, size: 300, some: true }, untold],
    [{ doubted: lost, size: 2, filtered: true }, `${untold} No change has that.`],
    [{ doubted: lost, complete: false }, untold],
    [{ complete: false }, "Reading what is kept of the past."],
    [{ count: 300, size: 300, some: true }, ""],
  ] as const) assert.equal(footWords({ ...quiet, ...foot }), want);
});
