import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { frame, page, Part } from "./page.ts";
import { Panel } from "../static/src/panel.ts";
import type { Host } from "../static/src/tabs.ts";
import { Upstream } from "./upstream.ts";

const after = setTimeout; // the real timer, which tests do not replace
const turn = (): Promise<void> => new Promise((done) => after(done, 5));

function opened(): { head: Part; up: Upstream; root: Part; panel: Panel } {
  const head = new Part();
  Object.assign(page, { head });
  const up = new Upstream();
  const root = new Part();
  const host = {
    now: () => 0,
    live: up.live,
    kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" },
    name: { ns: "a", name: "web" },
  } as unknown as Host;
  const panel = new Panel(root as unknown as HTMLElement, host, "changes", {
    tab: () => undefined,
    close: () => undefined,
  });
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

void test("a tab whose style does not come listens to nothing, says so, and comes when it does", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { head, up, root, panel } = opened();
  const told = async (): Promise<unknown[]> => {
    await turn();
    frame();
    return [up.asked.length - up.closed, root.find("class", "banner")?.textContent];
  };
  try {
    assert.deepEqual(await told(), [1, ""], "the object, and not yet its changes");
    head.children[0]?.fire("error");
    assert.deepEqual(await told(), [1, "Changes could not be loaded. Reload the page to try again."]);
    panel.refresh();
    mock.timers.tick(1500);
    assert.deepEqual(await told(), [1, ""], "who waits a moment is told nothing");
    mock.timers.tick(1000);
    assert.deepEqual(await told(), [1, "Changes is still loading. If it does not appear, reload the page."]);
    head.children[0]?.fire("load");
    assert.deepEqual(await told(), [2, ""]);
  } finally {
    mock.timers.reset();
    panel.close();
  }
});
