// Invariant: I33, I38.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KindFeed } from "../../static/src/model/kind-feed.ts";
import { Live } from "../../static/src/net/live.ts";
import { Browser } from "../fake-browser.ts";

const body = (...names: string[]) => ({
  resources: names.map((n) => ({
    group: "core",
    version: "v1",
    resource: n,
    kind: n,
    verbs: ["list"],
    ref: `core/v1/${n}`,
    section: "Workloads",
    count: n.length,
  })),
  problems: [],
});

function start() {
  const browser = new Browser();
  const seen: string[] = [];
  const builds: string[] = [];
  const feed = new KindFeed(
    {
      kindsListed: (kinds) => seen.push(kinds.map((k) => k.resource).join(" ")),
      kindsCounted: (counts) => seen.push([...counts.values()].join(" ")),
    },
    () => undefined,
    (build) => builds.push(build),
  );
  const live: Live = new Live("ws://x", browser, () => undefined);
  feed.start(live);
  live.connect();
  const receive = (m: object): void => browser.socket.receive({ id: browser.socket.last["id"], ...m });
  return { browser, feed, seen, builds, receive };
}

void test("socket messages add and remove kinds", () => {
  const { browser, seen, receive } = start();
  browser.socket.accept();
  receive({ type: "resources", ...body("pods") });
  receive({ type: "resources", ...body("pods", "widgets") });
  receive({ type: "resources", ...body("pods") });
  assert.deepEqual(seen, ["pods", "pods widgets", "pods"]);
});

void test("other namespaces need a new subscription, and messages of the old one do not count", () => {
  const { browser, feed, seen, receive } = start();
  browser.socket.accept();
  receive({ type: "counts", counts: { "core/v1/pods": 10 } });
  const old = browser.socket.last["id"];
  feed.setNamespaces(["shop"]);
  assert.deepEqual(browser.socket.last["ns"], ["shop"]);
  browser.socket.receive({ id: old, type: "counts", counts: { "core/v1/pods": 11 } });
  receive({ type: "counts", counts: { "core/v1/pods": 3 } });
  assert.deepEqual(seen, ["10", "3"]);
});

void test("a late HTTP response does not remove kinds, but provides the counts", () => {
  const { browser, feed, seen, receive } = start();
  browser.socket.accept();
  receive({ type: "resources", ...body("pods", "widgets") });
  feed.applyResponse(body("pods"));
  assert.deepEqual(seen, ["pods widgets", "4"]);
});

void test("a server without the resources view is polled over HTTP", () => {
  const { browser, feed, seen, receive } = start();
  browser.socket.accept();
  receive({ type: "error", problem: { title: "Unknown view", status: 400, detail: "" } });
  feed.applyResponse(body("pods", "widgets"));
  feed.applyResponse(body("pods"));
  assert.deepEqual(seen, ["pods widgets", "4 7", "pods", "4"]);
});

void test("without a connection, HTTP responses are used until it is back", () => {
  const { browser, feed, seen, receive } = start();
  browser.socket.accept();
  receive({ type: "resources", ...body("pods") });
  browser.socket.drop();
  feed.applyResponse(body("pods", "widgets"));
  browser.advance(600);
  browser.socket.accept();
  assert.equal(browser.socket.last["view"], "resources");
  receive({ type: "resources", ...body("pods") });
  feed.applyResponse(body("pods", "widgets"));
  assert.deepEqual(seen, ["pods", "pods widgets", "4 7", "pods", "4 7"]);
});

void test("counts from the socket override those of HTTP responses", () => {
  const { browser, feed, seen, receive } = start();
  browser.socket.accept();
  receive({ type: "resources", ...body("pods") });
  receive({ type: "counts", counts: { "core/v1/pods": 10, "core/v1/odd": "many" } });
  feed.applyResponse(body("pods"));
  receive({ type: "counts", counts: {} });
  assert.deepEqual(seen, ["pods", "10", ""]);
});

void test("the build is read from the socket, and from HTTP responses only without one", () => {
  const { browser, feed, builds, receive } = start();
  feed.applyResponse({ ...body("pods"), build: "one" });
  browser.socket.accept();
  receive({ type: "resources", build: "two", ...body("pods") });
  feed.applyResponse({ ...body("pods"), build: "one" });
  assert.deepEqual(builds, ["one", "two"]);
  browser.socket.drop();
  browser.advance(600);
  browser.socket.accept();
  receive({ type: "resources", ...body("pods") });
  feed.applyResponse({ ...body("pods"), build: "one" });
  assert.deepEqual(builds, ["one", "two", ""], "the build is unknown if the server reports none");
});

void test(
  "the server's time is requested again once the browser's clock has been set, " +
    "although the socket sends everything else",
  async () => {
    const { browser, feed, receive } = start();
    const page = globalThis as unknown as { document?: unknown; fetch: unknown; setTimeout: unknown };
    const { document, fetch, setTimeout } = page;
    const now = Date.now.bind(Date);
    let requests = 0;
    let next = (): void => undefined;
    page.document = { hidden: false };
    page.fetch = () => {
      requests++;
      return Promise.resolve(new Response(null, { status: 304 }));
    };
    page.setTimeout = (run: () => void) => {
      next = run;
    };
    const round = async (): Promise<number> => {
      const before = next;
      next();
      for (let i = 0; i < 100 && next === before; i++) await Promise.resolve();
      return requests;
    };
    try {
      browser.socket.accept();
      receive({ type: "resources", ...body("pods") });
      receive({ type: "counts", counts: {} });
      await feed.poll();
      assert.equal(requests, 1);
      assert.equal(await round(), 1);
      Date.now = () => now() + 60_000;
      assert.equal(await round(), 2);
      assert.equal(await round(), 2);
      Date.now = now;
      assert.equal(await round(), 3, "the server's time is requested again after the clock is set back");
    } finally {
      Object.assign(page, { document, fetch, setTimeout });
      Date.now = now;
    }
  },
);
