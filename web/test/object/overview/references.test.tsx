// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rendering, type Part } from "../../fake-page.ts";
import { ReferenceReader, References } from "../../../static/src/object/overview/references.tsx";
import { mount } from "../../../static/src/ui/view.tsx";
import type { TabHost } from "../../../static/src/object/tab.ts";

const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done, 5));
const node = (id: string, kind = "Pod"): object => ({
  id,
  ref: `core/v1/${kind.toLowerCase()}s`,
  kind,
  ns: "a",
  name: id,
  uid: id,
  state: "there",
});
const self = node("env", "ConfigMap");
const uses = (from: string, to: string, type = "uses"): object => ({ from, to, type, via: "" });

void test("references are loaded on request", async () => {
  let now = 100_000;
  let answer = (): Response => Response.json({});
  const requests: string[] = [];
  performance.now = () => now;
  globalThis.fetch = (address) => {
    requests.push(String(address));
    return Promise.resolve(answer());
  };
  const host = {
    now: () => now,
    kind: { ref: "core/v1/configmaps", resource: "configmaps", kind: "ConfigMap" },
    name: { ns: "a", name: "env" },
    kindOf: () => undefined,
    kindOfRef: () => undefined,
  } as unknown as TabHost;
  const { part: e, element } = rendering();
  const draw = (): void => mount(element, <References reader={reader} />);
  const reader = new ReferenceReader(host, draw);
  reader.show("1", false);
  draw();
  const list = (): string => (e.find("class", "uses-list") as Part).textContent.replace(/\s+/g, " ").trim();
  const advance = async (ms: number): Promise<void> => {
    now += ms;
    await nextTask();
  };
  const graph =
    (
      nodes: readonly object[],
      edges: readonly object[],
      searched: readonly object[] = [{ ref: "core/v1/pods", state: "live" }],
    ): (() => Response) =>
    () =>
      Response.json({ nodes: [self, ...nodes], edges, truncated: false, searched });

  await advance(60_000);
  assert.deepEqual(requests, [], "nothing is searched until the user requests it");

  const pods = Array.from({ length: 11 }, (_, i) => node(`p${i}`));
  answer = graph(
    [...pods, node("web", "Service"), node("owner", "Thing")],
    [...pods.map((_, i) => uses(`p${i}`, "env")), uses("env", "web", "selects"), uses("owner", "env", "owns")],
  );
  (e.find("type", "button") as Part).fire("click");
  await nextTask();
  assert.deepEqual(requests, ["/api/v1/related/core/v1/configmaps/a/env"]);
  assert.equal(
    list(),
    `Used by ${Array.from({ length: 8 }, (_, i) => `Pod p${i}`).join(" ")} and 3 more Selects Service web`,
  );
  assert.match(e.textContent, /Refresh .*Snapshot from \d/);
  assert.match(e.textContent, /Searched the objects of 1 resource type(?!s)/);

  await advance(60_000);
  assert.equal(requests.length, 1, "the search is not repeated automatically");
  const click = async (): Promise<void> => {
    now += 6_000;
    (e.find("type", "button") as Part).fire("click");
    await nextTask();
  };

  answer = graph(
    [],
    [],
    [
      { ref: "core/v1/pods", state: "forbidden", reason: "you may not list them" },
      { ref: "batch/v1/jobs", state: "live" },
    ],
  );
  await click();
  assert.equal(list(), "No references found in the searched resource types and namespaces");
  assert.match(
    e.textContent,
    /Searched the objects of 1 of 2 resource types; the others may contain more related objects.*you may not list them/,
  );

  answer = graph([], []);
  await click();
  assert.equal(list(), "No references found");

  answer = graph(
    [node("set", "ReplicaSet"), node("p1"), node("web", "Service"), node("deny", "NetworkPolicy")],
    [
      uses("env", "set", "owns"),
      uses("set", "p1", "owns"),
      uses("web", "p1", "selects"),
      uses("deny", "p1", "selects"),
    ],
  );
  await click();
  assert.equal(
    list(),
    "Owns ReplicaSet set Pod p1 owned by ReplicaSet set " +
      "Indirect Service web selects Pod p1 NetworkPolicy deny selects Pod p1",
    "objects that select the pods of a workload are references, too",
  );

  answer = () =>
    Response.json(
      { title: "Forbidden", status: 403, detail: "no more" },
      { status: 403, headers: { "content-type": "application/problem+json" } },
    );
  await click();
  assert.equal(list(), "");
  assert.match(e.textContent, /Forbidden\. no more/);

  // A request within 5 s of the previous one is delayed. Deleting the object meanwhile cancels the request.
  answer = graph([], []);
  await click();
  const before = requests.length;
  now += 4_999;
  (e.find("type", "button") as Part).fire("click");
  assert.match(e.textContent, /Refresh/);
  reader.show("1", true);
  draw();
  await advance(60_000);
  assert.equal(requests.length, before, "references of a deleted object are not searched");
  assert.equal(list(), "No references found");
  assert.ok(!e.textContent.includes("Refresh"), "a deleted object has no button to refresh");
  assert.match(e.textContent, /Snapshot from \d/);

  reader.show("2", false);
  draw();
  assert.equal(list(), "", "a recreated object of the same name shows no references");
  assert.match(e.textContent, /Find references/);
  reader.close();
});
