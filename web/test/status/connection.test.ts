import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { element, openPage } from "../fake-app.ts";
import { page, Part } from "../fake-page.ts";
import { connectionDetails, roundTripText } from "../../static/src/status/connection.tsx";

const kind = { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true };

function open(list: { kind: typeof kind; eventCount: number } | null) {
  openPage("/r/core/v1/pods");
  page.documentElement.dataset["base"] = "";
  element("status").dataset["state"] = "live";
  const latency: { ms: number | null; at: number } = { ms: 1.4, at: Date.parse("2026-11-21T10:00:00Z") };
  const content = connectionDetails(
    latency,
    () => latency.at,
    () => list,
  );
  const root = new Part("div");
  content.show(root as unknown as HTMLElement);
  return {
    latency,
    content,
    facts: () =>
      ["dt", "dd"].map((tag) => root.querySelectorAll(tag).map((e) => e.textContent.replace(/\s+/g, " ").trim())),
    note: () => root.querySelector("p")?.textContent ?? "",
    tick: async () => {
      mock.timers.tick(1000);
      for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
      mock.timers.tick(1);
    },
  };
}

void test("a round trip below a millisecond is not shown as zero", () => {
  assert.deepEqual([0.4, 1.4, 12.5, 2400].map(roundTripText), ["<1 ms", "1 ms", "13 ms", "2400 ms"]);
});

void test("the details name both ends of the latency, and the rate of changes", async () => {
  const list = { kind, eventCount: 500 };
  const d = open(list);
  assert.deepEqual(d.facts(), [
    ["Browser to Glasshouse", "Changes to Pods"],
    ["1 ms", "Measuring…"],
  ]);
  assert.match(d.note(), /measured at \d\d:\d\d:\d\d\..*not the latency of the API server.*Watch status/);
  list.eventCount = 504;
  d.latency.ms = null;
  await d.tick();
  assert.deepEqual(d.facts()[1], ["Unknown", "4.0/s"], "events before the popover opened do not count");
  element("status").dataset["state"] = "bad";
  await d.tick();
  assert.deepEqual(d.facts()[0], ["Browser to Glasshouse"], "without live data, the rate is unknown");
  d.content.close();
});

void test("a page without a list has no rate of changes", () => {
  const d = open(null);
  assert.deepEqual(d.facts()[0], ["Browser to Glasshouse"]);
  d.content.close();
});
