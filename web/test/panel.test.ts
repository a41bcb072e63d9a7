import assert from "node:assert/strict";
import { test } from "node:test";
import { frame, page, Part } from "./page.ts";
import { Panel } from "../static/src/panel.ts";
import type { Host } from "../static/src/tabs.ts";
import { Upstream } from "./upstream.ts";

const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 5));

function opened(): { head: Part; up: Upstream; root: Part; panel: Panel } {
  const head = new Part();
  Object.assign(page, { head });
  const up = new Upstream();
  const root = new Part();
  const host = { now: () => 0, live: up.live, kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" }, name: { ns: "a", name: "web" } } as unknown as Host;
  const panel = new Panel(root as unknown as HTMLElement, host, "changes", { tab: () => undefined, close: () => undefined });
  return { head, up, root, panel };
}

void test("that the server is away is told before what has not come of it", async () => {
  const { head, up, root, panel } = opened();
  try {
    await turn();
    up.browser.socket.lose();
    panel.refresh();
    head.children[0]?.fire("error");
    await turn();
    frame();
    assert.match(root.find("class", "banner")?.textContent ?? "", /^Disconnected/);
  } finally {
    panel.close();
  }
});

void test("a tab whose style does not come listens to nothing, and comes when it is asked for again", async () => {
  const { head, up, root, panel } = opened();
  try {
    await turn();
    const listens = (): unknown[] => [up.asked.length - up.closed, root.find("class", "changes") !== undefined];
    assert.deepEqual(listens(), [2, false], "the object, and its changes, which are not shown yet");
    head.children[0]?.fire("error");
    await turn();
    frame();
    assert.deepEqual([...listens(), root.find("class", "banner")?.textContent], [1, false, "Changes could not be loaded. Reload the page to try again."]);
    panel.refresh();
    head.children[0]?.fire("load");
    await turn();
    frame();
    assert.deepEqual(listens(), [2, false], "drawn once the object is known");
  } finally {
    panel.close();
  }
});
