import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { frame, page, Part } from "../fake-page.ts";
import { Panel } from "../../static/src/object/panel.ts";
import type { TabHost } from "../../static/src/object/tab.ts";
import { Upstream } from "../fake-log-server.ts";

const after = setTimeout; // the real one, because some tests replace the global setTimeout
const nextTask = (): Promise<void> => new Promise((done) => after(done, 5));

function openPanel(): { head: Part; upstream: Upstream; root: Part; panel: Panel } {
  const head = new Part();
  Object.assign(page, { head });
  const upstream = new Upstream();
  const root = new Part();
  const host = {
    now: () => 0,
    live: upstream.live,
    kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" },
    name: { ns: "a", name: "web" },
    find: () => "",
  } as unknown as TabHost;
  const panel = new Panel(root as unknown as HTMLElement, host, "changes", {
    tab: () => undefined,
    close: () => undefined,
  });
  return { head, upstream, root, panel };
}

const failed = "The tab could not be loaded. Reload the page to try again.";

void test("a lost connection is reported above a tab that failed to load", async () => {
  const { head, upstream, root, panel } = openPanel();
  try {
    await nextTask();
    upstream.browser.socket.drop();
    panel.refresh();
    head.children[0]?.fire("error");
    await nextTask();
    frame();
    assert.match(root.find("class", "banner")?.textContent ?? "", /^Connection lost/);
    assert.equal(root.find("class", "tab")?.textContent, failed, "the tab is not empty");
  } finally {
    panel.close();
  }
});

void test("a tab subscribes to nothing and shows an error until its style sheet is loaded", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { head, upstream, root, panel } = openPanel();
  const statusNow = async (): Promise<unknown[]> => {
    await nextTask();
    frame();
    return [upstream.requests.length - upstream.unsubscribes, root.find("class", "tab")?.textContent];
  };
  try {
    assert.deepEqual(await statusNow(), [1, ""], "only the object is subscribed, not its changes");
    head.children[0]?.fire("error");
    assert.deepEqual(await statusNow(), [1, failed]);
    panel.show("changes");
    assert.deepEqual(await statusNow(), [1, ""], "the tab is loaded again when the user opens it again");
    head.children[0]?.fire("error");
    assert.deepEqual(await statusNow(), [1, failed]);
    panel.refresh();
    mock.timers.tick(1500);
    assert.deepEqual(await statusNow(), [1, ""], "a short wait shows no text");
    mock.timers.tick(1000);
    assert.deepEqual(await statusNow(), [1, "The Changes tab is still loading. Reload the page to try again."]);
    head.children[0]?.fire("load");
    await nextTask();
    assert.deepEqual([upstream.requests.length - upstream.unsubscribes, root.textContent.includes(failed)], [2, false]);
  } finally {
    mock.timers.reset();
    panel.close();
  }
});

void test("the title names the state of an object only while it is not live, and links to the comparison", async () => {
  const { upstream, root, panel } = openPanel();
  const state = (): string => {
    frame();
    return root.find("class", "status")?.textContent ?? "";
  };
  try {
    await nextTask();
    const { id } = upstream.requests.find((r) => r["kind"] === "object") ?? upstream.requests[0] ?? {};
    upstream.browser.socket.receive({ id, type: "state", state: "live" });
    assert.equal(state(), "Receiving");
    upstream.browser.socket.receive({ id, type: "snapshot", object: { metadata: { name: "web" } } });
    assert.equal(state(), "");
    upstream.browser.socket.receive({ id, type: "state", state: "stale", since: "" });
    assert.equal(state(), "Stale");
    const title = root.find("class", "bar title") as Part;
    assert.equal(title.find("class", "status")?.dataset["state"], "warn");
    assert.deepEqual(
      title.querySelectorAll("button").map((b) => b.getAttribute("aria-label")),
      ["Copy name", "Actions", "Close"],
    );
    assert.equal(root.find("class", "bar object-status"), undefined);
  } finally {
    panel.close();
  }
});

void test("the title links to the namespace, and its button copies namespace and name", async () => {
  const copied: string[] = [];
  Object.assign(navigator, { clipboard: { writeText: (text: string) => Promise.resolve(void copied.push(text)) } });
  const titleOf = async (shared: string | null, run: (title: Part) => void): Promise<void> => {
    if (shared !== null) page.documentElement.dataset["shared"] = shared;
    const { root, panel } = openPanel();
    try {
      await nextTask();
      run(root.find("class", "bar title") as Part);
      await nextTask();
    } finally {
      panel.close();
      page.documentElement.removeAttribute("data-shared");
    }
  };
  await titleOf(null, (title) => {
    const heading = title.querySelector("h2");
    // The fake document adds a space between nodes.
    assert.deepEqual([heading?.textContent, heading?.getAttribute("title")], ["a /web", "a/web"]);
    assert.deepEqual(
      heading?.querySelectorAll("a").map((a) => `${a.textContent} ${a.getAttribute("href")}`),
      ["a /ns/a"],
    );
    title.querySelector(".copy-name")?.dispatch("click", { button: 0 });
  });
  assert.deepEqual(copied, ["a/web"]);
  await titleOf('[{"resource":"core/v1/pods"}]', (title) => {
    assert.equal(title.querySelector("h2")?.textContent, "a/web");
    assert.equal(title.querySelector("h2 a"), null, "guests possibly cannot open the page of the namespace");
  });
});

void test("the title shows the verdict as a word, in every tab and after each change", async () => {
  const { head, upstream, root, panel } = openPanel();
  const pill = (): string => {
    frame();
    const { hidden, textContent, dataset, title } = root.find("class", "verdict") as Part;
    return hidden ? "" : `${dataset["severity"]} ${textContent} (${title})`;
  };
  try {
    const { id } = upstream.requests[0] ?? {};
    const send = (message: object): void => upstream.browser.socket.receive({ id, ...message });
    send({ type: "state", state: "live" });
    send({
      type: "snapshot",
      object: { metadata: { name: "web", uid: "u" } },
      verdict: { severity: "failed", sentence: "It \u202ecrashes" },
    });
    assert.equal(pill(), "", "the tab, and therefore the style sheet, is not loaded yet");
    await nextTask();
    head.children[0]?.fire("load");
    await nextTask();
    assert.equal(pill(), "failed failed (It [U+202E]crashes)");
    send({ type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch: [], verdict: "ok" }] });
    assert.equal(pill(), "ok ok ()");
    send({ type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch: [], verdict: "none" }] });
    assert.equal(pill(), "");
    const unknown = { severity: "none", reason: "Unknown" };
    send({ type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch: [], verdict: unknown }] });
    assert.equal(pill(), "none Unknown ()", "the health script failed");
    send({ type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch: [], verdict: "degraded" }] });
    assert.equal(pill(), "degraded degraded ()");
    send({ type: "events", cursor: "c", events: [{ op: "delete", uid: "u" }] });
    assert.equal(pill(), "", "a deleted object has no verdict");
  } finally {
    panel.close();
  }
});
