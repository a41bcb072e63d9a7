import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { element, openPage } from "../fake-app.ts";
import { page } from "../fake-page.ts";
import { showTotals } from "../../static/src/list/kiosk-totals.tsx";
import type { ListPage } from "../../static/src/list/list.ts";

void test("a list on a wall display shows totals, the cluster and a clock, and updates them", () => {
  openPage("/r/core/v1/pods?kiosk=1");
  page.documentElement.dataset["name"] = "prod";
  const counts = { failed: 1234, degraded: 0, progressing: 2 };
  let now = Date.parse("2026-11-21T10:00:00Z");
  const list = { countSeverity: (s: keyof typeof counts) => counts[s], eventCount: 5 };
  showTotals(list as unknown as ListPage, () => now);
  const root = element("progress").parentElement;
  const shown = (): (string | undefined)[] =>
    [...(root?.querySelectorAll(".totals p") ?? [])].map((p) =>
      p.textContent?.replace(/\s+/g, " ").replace(/\d\d:\d\d/, "time"),
    );
  const clock = (): string | undefined => root?.querySelector(".clock .number")?.textContent;
  assert.deepEqual(shown(), ["1,234 failed", "0 degraded", "2 progressing", "time prod"]);
  const before = clock();
  Object.assign(counts, { failed: 0, degraded: 1 });
  now += 60_000;
  mock.timers.tick(1000);
  assert.deepEqual(shown().slice(0, 2), ["0 failed", "1 degraded"]);
  assert.ok(clock() !== before);
  const change = (): string | undefined => root?.querySelector(".last-change")?.textContent?.trim();
  assert.equal(change(), undefined, "nothing has changed yet");
  list.eventCount = 6;
  mock.timers.tick(1000);
  assert.equal(change(), "last change 0s ago");
  now += 4000;
  mock.timers.tick(1000);
  assert.equal(change(), "last change 4s ago");
  list.eventCount = 0;
  mock.timers.tick(1000);
  assert.equal(change(), "last change 4s ago", "another view is no change");
  delete page.documentElement.dataset["name"];
});
