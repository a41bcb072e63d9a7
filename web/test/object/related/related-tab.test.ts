// Invariant: I27.

import assert from "node:assert/strict";
import { test } from "node:test";
import { page, type Part } from "../../fake-page.ts";
import type { Searched } from "../../../static/src/object/related/graph.ts";
import { emptyText } from "../../../static/src/object/related/searched.tsx";
import type { Handler } from "../../../static/src/net/live.ts";
import { RelatedTab } from "../../../static/src/object/related/related-tab.tsx";
import type { TabHost, TabData } from "../../../static/src/object/tab.ts";
import { node } from "./graph-fixture.ts";

const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done, 5));

void test("the graph is refreshed while visible, and is live if the server reports changes", async () => {
  localStorage.setItem("related-as", "list");
  let now = 100_000;
  let nodes = [node("web"), node("deploy")];
  let requests = 0;
  let wait: Promise<void> | null = null;
  performance.now = () => now;
  globalThis.fetch = async () => {
    requests++;
    if (wait !== null) await wait;
    return Response.json({
      nodes,
      edges: nodes.slice(1).map(() => ({ from: "deploy", to: "web", type: "owns", via: "" })),
      truncated: false,
      searched: [],
    });
  };
  let report = (_related: string): void => undefined;
  const live = {
    connection: "open",
    subscribe: (_spec: object, handler: Handler) => {
      report = (related) => handler.message({ id: 1, type: "explanation", members: { related } });
      return { close: () => undefined };
    },
  };
  const host = {
    live,
    now: () => now,
    kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" },
    name: { ns: "a", name: "web" },
    kindOf: () => undefined,
    kindOfRef: () => undefined,
  } as unknown as TabHost;
  const shown = (gone: boolean): TabData =>
    ({
      object,
      isDeleted: gone,
      health: null,
      last: null,
      info: { connection: "open", state: { state: "live" }, problem: null },
    }) as unknown as TabData;
  const object = {};
  const tab = new RelatedTab(host);
  const e = tab.element as unknown as Part;
  const time = (): Part => e.find("class", "related-time") as Part;
  const advance = async (ms: number): Promise<void> => {
    now += ms;
    tab.tick();
    await nextTask();
  };
  tab.show(shown(false));
  await nextTask();
  assert.match(e.textContent, /deploy/);
  assert.match(time().textContent, /^Snapshot from \d/);
  const list = (e.find("class", "related-body") as Part).firstElementChild;

  await advance(9_000);
  assert.equal(requests, 1);
  await advance(1_000);
  assert.equal(requests, 2);
  assert.equal(
    (e.find("class", "related-body") as Part).firstElementChild,
    list,
    "an unchanged graph is not drawn again",
  );

  nodes = [node("web")];
  await advance(10_000);
  assert.ok(!/deploy/.test(e.textContent), e.textContent);

  page.visibilityState = "hidden";
  await advance(30_000);
  assert.equal(requests, 3, "a hidden tab sends no requests");
  assert.ok(time().hasAttribute("data-old"), "old times are marked");
  page.visibilityState = "visible";

  let answer = (): void => undefined;
  wait = new Promise((done) => (answer = done));
  await advance(10_000);
  await advance(10_000);
  assert.equal(requests, 4, "only one request is sent at a time");
  answer();
  await nextTask();
  await advance(0);

  tab.show(shown(true));
  await advance(60_000);
  assert.equal(requests, 5, "the graph of a deleted object is not requested again");

  tab.show(shown(false));
  for (const [related, expected] of [
    ["a", 5], // The first report is not a change, so the page sends no request.
    ["b", 6],
    ["b", 6],
    ["c", 7],
    ["", 7], // An empty report means that the server reports no changes, so the page sends no request.
    ["c", 7],
  ] as const) {
    now += 1000;
    report(related);
    await nextTask();
    assert.equal(requests, expected, related);
    assert.match(time().textContent, related === "" ? /^Snapshot from \d/ : /^Live, updated \d/);
  }
  live.connection = "lost";
  tab.tick();
  assert.match(time().textContent, /^Snapshot from \d/);
  tab.close();
});

/** Computes layouts without delay, with the nodes from top to bottom. */
class FakeWorker {
  private answer: (e: object) => void = () => undefined;
  addEventListener(type: string, listener: (e: object) => void): void {
    if (type === "message") this.answer = listener;
  }
  postMessage({ ids, links }: { ids: string[]; links: object[] }): void {
    const nodes = new Map(ids.map((id, i) => [id, { x: 100, y: 50 * i }]));
    this.answer({ data: { width: 200, height: 50 * ids.length, nodes, links: links.map(() => []) } });
  }
  terminate(): void {
    return undefined;
  }
}

async function openGraph(nodes: readonly object[], edges: readonly object[]): Promise<Part> {
  localStorage.setItem("related-as", "graph");
  Object.assign(globalThis, { Worker: FakeWorker });
  globalThis.fetch = async () => Response.json({ nodes, edges, truncated: false, searched: [] });
  const tab = new RelatedTab({
    live: { connection: "open", subscribe: () => ({ close: () => undefined }) },
    now: () => 0,
    kind: { ref: "apps/v1/replicasets", resource: "replicasets", kind: "ReplicaSet" },
    name: { ns: "a", name: "rs" },
    kindOf: () => undefined,
    kindOfRef: () => undefined,
  } as unknown as TabHost);
  tab.show({ object: {}, isDeleted: false, info: { connection: "open", state: null, problem: null } } as never);
  await nextTask();
  await nextTask();
  return tab.element as unknown as Part;
}

const podNames = ["pod-0", "pod-1", "pod-2", "pod-3"];
const ownedPods = [
  [{ ...node("rs"), kind: "ReplicaSet" }, ...podNames.map(node)],
  podNames.map((to) => ({ from: "rs", to, type: "owns", via: "" })),
] as const;
const focusedId = (): string | undefined => (page.activeElement as Part | null)?.dataset["id"];
const cardIds = (e: Part): (string | undefined)[] =>
  (e.find("class", "graph") as Part).querySelectorAll(".card").map((card) => card.dataset["id"]);

void test("when a group of pods is opened, the focus moves to its first pod", async () => {
  const e = await openGraph(...ownedPods);
  assert.deepEqual(cardIds(e), ["rs", "rs+pods"]);
  const card = e.querySelector('[data-id="rs+pods"]') as Part;
  card.focus();
  card.dispatch("click", { button: 0, detail: 0 });
  await nextTask();
  assert.deepEqual([cardIds(e), focusedId()], [["rs", ...podNames], "pod-0"]);
});

void test("after the user opens a group of pods, the graph is scaled to fit again", async () => {
  const e = await openGraph(...ownedPods);
  const scale = (): string | undefined =>
    /scale\((.*)\)/.exec((e.querySelector(".graph-content") as Part).style["transform"] as string)?.[1];
  const first = scale();
  (e.find("class", "graph") as Part).dispatch("keydown", { key: "+" });
  assert.ok(scale() !== first);
  (e.querySelector('[data-id="rs+pods"]') as Part).dispatch("click", { button: 0, detail: 1 });
  await nextTask();
  assert.equal(scale(), first);
});

void test("a button groups opened pods again, and moves the focus to their card", async () => {
  const e = await openGraph(...ownedPods);
  const button = (): Part | null => e.querySelector(".related-bar .group-again");
  assert.equal(button(), null);
  (e.querySelector('[data-id="rs+pods"]') as Part).dispatch("click", { button: 0, detail: 1 });
  await nextTask();
  assert.equal(button()?.textContent, "Group pods");
  button()?.click();
  await nextTask();
  assert.deepEqual([cardIds(e), focusedId(), button()], [["rs", "rs+pods"], "rs+pods", null]);
});

void test("without related objects, the tab names the resource types that were and were not examined", () => {
  const host = { kindOfRef: () => undefined } as unknown as TabHost;
  const searched = (ref: string, state: string): Searched => ({ ref, state, reason: "", namespaces: [] });
  const text = (...all: Searched[]): string =>
    emptyText({ nodes: [], edges: [], truncated: false, searched: all }, host);
  assert.equal(text(), "No related objects found.");
  assert.equal(
    text(searched("core/v1/pods", "live"), searched("a/v1/bs", "stale"), searched("c/ds", "absent")),
    "No related objects found in pods, bs.",
  );
  assert.equal(
    text(searched("core/v1/pods", "live"), searched("core/v1/nodes", "forbidden"), searched("a/v1/bs", "syncing")),
    "No related objects found in pods; not examined: nodes, bs.",
  );
  assert.equal(text(searched("a/v1/bs", "failed")), "No related objects found; not examined: bs.");
});
