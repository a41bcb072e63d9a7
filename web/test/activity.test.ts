import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "./page.ts";
import { Activity, type Way } from "../static/src/activity.ts";

const way = { now: () => 0 } as unknown as Way;

// The line of a list that is live.
function live(): { activity: Activity; words: () => string } {
  const root = new Part();
  const activity = new Activity(root as unknown as HTMLElement, way);
  activity.follow({ kind: { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true }, ns: [], labels: "" });
  activity.live(true);
  return { activity, words: () => root.textContent };
}

void test("it is said of the columns alone that nothing changed: what none shows is not told", () => {
  const { activity, words } = live();
  assert.match(words(), /Nothing has changed in the columns of this list since \d\d:\d\d:\d\d/);
  activity.live(false);
  assert.doesNotMatch(words(), /since/);
});
