import assert from "node:assert/strict";
import { test } from "node:test";
import { page, type Part } from "./page.ts";
import { Related } from "../static/src/tabs/related.ts";
import type { Host, Shown } from "../static/src/tabs.ts";

const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 5));
const node = (id: string): object => ({
  id,
  ref: "core/v1/pods",
  kind: "Pod",
  ns: "a",
  name: id,
  uid: id,
  state: "there",
});

void test("a graph is read again while it is looked at, and is not told as live", async () => {
  localStorage.setItem("related-as", "list");
  let now = 100_000;
  let nodes = [node("web"), node("deploy")];
  let asked = 0;
  let wait: Promise<void> | null = null;
  performance.now = () => now;
  globalThis.fetch = async () => {
    asked++;
    if (wait !== null) await wait;
    return Response.json({
      nodes,
      edges: nodes.slice(1).map(() => ({ from: "deploy", to: "web", type: "owns", via: "" })),
      truncated: false,
      searched: [],
    });
  };
  const host = {
    now: () => now,
    kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" },
    name: { ns: "a", name: "web" },
    kindOf: () => undefined,
    kindOfRef: () => undefined,
  } as unknown as Host;
  const shown = (gone: boolean): Shown =>
    ({
      object,
      gone,
      health: null,
      last: null,
      known: { connection: "open", state: { state: "live" }, problem: null },
    }) as unknown as Shown;
  const object = {};
  const tab = new Related(host);
  const e = tab.element as unknown as Part;
  const time = (): Part => e.find("class", "related-time") as Part;
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    tab.tick();
    await turn();
  };
  tab.show(shown(false));
  await turn();
  assert.match(e.textContent, /deploy/);
  assert.match(time().textContent, /^Snapshot from \d/);
  const list = (e.find("class", "related-body") as Part).firstElementChild;

  await pass(9_000);
  assert.equal(asked, 1);
  await pass(1_000);
  assert.equal(asked, 2);
  assert.equal(
    (e.find("class", "related-body") as Part).firstElementChild,
    list,
    "what is the same is not drawn again",
  );

  nodes = [node("web")];
  await pass(10_000);
  assert.ok(!/deploy/.test(e.textContent), e.textContent);

  page.visibilityState = "hidden";
  await pass(30_000);
  assert.equal(asked, 3, "nobody looks");
  assert.ok(time().hasAttribute("data-old"), "old ones are marked");
  page.visibilityState = "visible";

  let answer = (): void => undefined;
  wait = new Promise((done) => (answer = done));
  await pass(10_000);
  await pass(10_000);
  assert.equal(asked, 4, "one at a time");
  answer();
  await turn();
  await pass(0);

  tab.show(shown(true));
  await pass(60_000);
  assert.equal(asked, 5, "of what is deleted there is nothing newer");
  tab.close();
});
