import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "../fake-page.ts";
import { Activity } from "../../static/src/activity/activity.ts";
import type { ActivityHost } from "../../static/src/activity/activity-types.ts";
import { ListPage } from "../../static/src/list/list.ts";

const host = { now: () => 0 } as unknown as ActivityHost;

function live(): { activity: Activity; words: () => string } {
  const root = new Part();
  const activity = new Activity(root as unknown as HTMLElement, host);
  activity.showList({
    kind: { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true },
    ns: [],
    labels: "",
  });
  activity.setLive(true);
  return { activity, words: () => root.textContent };
}

void test("without changes, the text mentions only the list's columns, because other changes are not sent", () => {
  const { activity, words } = live();
  assert.match(words(), /No changes in this list since \d\d:\d\d:\d\d/);
  activity.setLive(false);
  assert.doesNotMatch(words(), /since/);
});

void test("losing permission removes the last change, even before it is drawn", async () => {
  const flushed = (): Promise<void> => new Promise((done) => setTimeout(done, 250));
  for (const flushEarly of [false, true]) {
    const { activity, words } = live();
    activity.showChange({
      op: "update",
      ns: "shop",
      name: "web",
      cells: [{ column: "Status", before: "1/1", after: "secret" }],
      by: null,
    });
    if (!flushEarly) {
      await flushed();
      assert.match(words(), /web.*secret/s);
    }
    const page = Object.assign(Object.create(ListPage.prototype) as ListPage, {
      activity,
      table: { clear: () => undefined },
    });
    page.rowsDiscarded();
    await flushed();
    assert.doesNotMatch(words(), /web|secret/);
  }
});
