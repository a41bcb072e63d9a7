import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "./page.ts";
import { Activity, type Way } from "../static/src/activity.ts";
import { ListPage } from "../static/src/list.ts";

const way = { now: () => 0 } as unknown as Way;

// The activity line of a live list.
function live(): { activity: Activity; words: () => string } {
  const root = new Part();
  const activity = new Activity(root as unknown as HTMLElement, way);
  activity.follow({
    kind: { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true },
    ns: [],
    labels: "",
  });
  activity.live(true);
  return { activity, words: () => root.textContent };
}

void test("it is said of the columns alone that nothing changed: what none shows is not told", () => {
  const { activity, words } = live();
  assert.match(words(), /No changes in this list since \d\d:\d\d:\d\d/);
  activity.live(false);
  assert.doesNotMatch(words(), /since/);
});

void test("what was told goes with the rows that may not be seen any more, also before it is drawn", async () => {
  const drawn = (): Promise<void> => new Promise((done) => setTimeout(done, 250));
  for (const early of [false, true]) {
    const { activity, words } = live();
    activity.happened({
      op: "update",
      ns: "shop",
      name: "web",
      cells: [{ column: "Status", before: "1/1", after: "secret" }],
      by: null,
    });
    if (!early) {
      await drawn();
      assert.match(words(), /web[^]*secret/);
    }
    const page = Object.assign(Object.create(ListPage.prototype) as ListPage, {
      activity,
      table: { clear: () => undefined },
    });
    page.dropped();
    await drawn();
    assert.doesNotMatch(words(), /web|secret/);
  }
});
