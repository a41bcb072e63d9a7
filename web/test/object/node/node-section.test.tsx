// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rendering } from "../../fake-page.ts";
import { Browser } from "../../fake-browser.ts";
import { tableOf } from "../../table-encoding.ts";
import { Live } from "../../../static/src/net/live.ts";
import { NodeSection } from "../../../static/src/object/node/node-section.tsx";
import { mount } from "../../../static/src/ui/view.tsx";
import type { TabHost } from "../../../static/src/object/tab.ts";
import type { JsonObject, Verdict } from "../../../static/src/net/wire.ts";

const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done, 5));
const columns = ["Name", "Ready", "Status", "Restarts", "Age"].map((name) => ({ name, type: "string" }));
const row = (name: string, status: string, verdict?: Verdict) => ({
  ns: "shop",
  name,
  rv: "1",
  created: "",
  cells: [name, "1/1", status, "0", ""],
  verdict,
});
const pod = (name: string, cpu: string, phase = "Running"): object => ({
  metadata: { namespace: "shop", name },
  spec: { containers: [{ resources: { requests: { cpu, memory: "1Gi" }, limits: { memory: "2Gi" } } }] },
  status: { phase },
});
const failed: Verdict = { severity: "failed", reason: "CrashLoopBackOff", sentence: "Container web: exit 1" };
const node: JsonObject = { status: { allocatable: { cpu: "4", memory: "8Gi" } } };

function start() {
  const browser = new Browser();
  const live: Live = new Live("ws://x", browser, () => undefined);
  live.connect();
  browser.socket.accept();
  const requests: string[] = [];
  let answer = (): Response => Response.json({});
  globalThis.fetch = (address) => {
    requests.push(String(address));
    return Promise.resolve(answer());
  };
  let now = 1_000_000;
  const host = {
    live,
    now: () => now,
    kind: { ref: "core/v1/nodes", resource: "nodes", kind: "Node", namespaced: false },
    name: { ns: "", name: "node-1" },
  } as unknown as TabHost;
  const { part, element } = rendering();
  const draw = (): void => mount(element, <section>{section.view(node)}</section>);
  const section = new NodeSection(host, draw);
  draw();
  return {
    browser,
    section,
    requests,
    setAnswer: (f: () => Response) => void (answer = f),
    advance: (ms: number) => void (now += ms),
    receive: (m: object) =>
      browser.socket.receive({ id: browser.socket.sent.findLast((s) => s["op"] === "subscribe")?.["id"], ...m }),
    words: () => part.textContent.replace(/\s+/g, " ").trim(),
  };
}

void test("a node shows the requests and limits of its pods, with percentages, and their sums", async () => {
  const s = start();
  const subscription = s.browser.socket.sent.find((m) => m["op"] === "subscribe");
  assert.deepEqual(
    [subscription?.["resource"], subscription?.["fields"], subscription?.["view"]],
    ["core/v1/pods", "spec.nodeName=node-1", "table"],
  );
  s.setAnswer(() => Response.json({ objects: [pod("a", "500m"), pod("b", "1"), pod("old", "9", "Succeeded")] }));
  s.receive({ type: "state", state: "live" });
  const rows = [row("a", "Running"), row("b", "CrashLoopBackOff", failed), row("old", "Completed")];
  s.receive({ type: "snapshot", cursor: "c", columns, table: tableOf(rows), last: true });
  await nextTask();
  assert.deepEqual(s.requests, ["/api/v1/snapshot/core/v1/pods?view=objects&fields=spec.nodeName%3Dnode-1"]);
  assert.match(s.words(), /cpu ?1\.5 cores requested \(38 %\) ?of 4 cores allocatable/);
  assert.match(s.words(), /memory ?2 Gi requested \(25 %\) ?of 8 Gi allocatable ?limits 4 Gi \(50 %\)/);
  assert.match(
    s.words(),
    /shop\/b ?CrashLoopBackOff ?0 ?1 core \(25 %\) ?– ?1 Gi \(13 %\) ?2 Gi \(25 %\).*shop\/a ?Running.*shop\/old/,
    "the pods are sorted by severity, the worst first",
  );
  assert.match(s.words(), /shop\/a ?Running ?0 ?0\.5 cores \(13 %\) ?– ?1 Gi \(13 %\) ?2 Gi \(25 %\)/);
  assert.match(s.words(), /shop\/old ?Completed ?0 ?– ?– ?– ?–/, "a pod that has ended uses nothing");
  assert.match(s.words(), /Restarts ?Age ?CPU request ?CPU limit ?Memory request ?Memory limit/);

  s.section.tick();
  await nextTask();
  assert.equal(s.requests.length, 1, "the requests of the same pods are not read again");

  s.receive({ type: "events", cursor: "d", events: [{ op: "delete", ns: "shop", name: "b" }] });
  await nextTask();
  assert.equal(s.requests.length, 1, "the requests are not read again immediately after a change");
  s.advance(10_000);
  s.setAnswer(() => new Response("", { status: 503 }));
  s.section.tick();
  await nextTask();
  assert.match(s.words(), /Could not read the resource requests of the pods \(status 503\)\. Retrying…/);
  s.advance(10_000);
  s.setAnswer(() => Response.json({ objects: [pod("a", "500m")] }));
  s.section.tick();
  await nextTask();
  assert.match(s.words(), /cpu ?0\.5 cores requested \(13 %\)/);
  assert.doesNotMatch(s.words(), /could not|shop\/b/);

  s.receive({ type: "state", state: "forbidden", reason: "no" });
  assert.match(s.words(), /Not shown: you cannot list Pods\./);
  assert.doesNotMatch(s.words(), /requested/);
  s.section.close();
});
