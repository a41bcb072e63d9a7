import assert from "node:assert/strict";
import { test } from "node:test";
import { KindFeed } from "../static/src/kindfeed.ts";
import { Live } from "../static/src/live.ts";
import { Browser } from "./browser.ts";

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
      listed: (kinds) => seen.push(kinds.map((k) => k.resource).join(" ")),
      counted: (counts) => seen.push([...counts.values()].join(" ")),
    },
    () => undefined,
    (build) => builds.push(build),
  );
  const live: Live = new Live("ws://x", browser, () => undefined);
  feed.start(live);
  live.connect();
  const tell = (m: object): void => browser.socket.say({ id: browser.socket.last["id"], ...m });
  return { browser, feed, seen, builds, tell };
}

void test("kinds come and go as the socket tells", () => {
  const { browser, seen, tell } = start();
  browser.socket.accept();
  tell({ type: "resources", ...body("pods") });
  tell({ type: "resources", ...body("pods", "widgets") });
  tell({ type: "resources", ...body("pods") });
  assert.deepEqual(seen, ["pods", "pods widgets", "pods"]);
});

void test("an answer that was on its way takes no kind away again, and has the counts", () => {
  const { browser, feed, seen, tell } = start();
  browser.socket.accept();
  tell({ type: "resources", ...body("pods", "widgets") });
  feed.answer(body("pods"));
  assert.deepEqual(seen, ["pods widgets", "4"]);
});

void test("a server that does not know the view is asked in the old way", () => {
  const { browser, feed, seen, tell } = start();
  browser.socket.accept();
  tell({ type: "error", problem: { title: "Unknown view", status: 400, detail: "" } });
  feed.answer(body("pods", "widgets"));
  feed.answer(body("pods"));
  assert.deepEqual(seen, ["pods widgets", "4 7", "pods", "4"]);
});

void test("without a connection answers are all there is, until it is back", () => {
  const { browser, feed, seen, tell } = start();
  browser.socket.accept();
  tell({ type: "resources", ...body("pods") });
  browser.socket.lose();
  feed.answer(body("pods", "widgets"));
  browser.pass(600);
  browser.socket.accept();
  assert.equal(browser.socket.last["view"], "resources");
  tell({ type: "resources", ...body("pods") });
  feed.answer(body("pods", "widgets"));
  assert.deepEqual(seen, ["pods", "pods widgets", "4 7", "pods", "4 7"]);
});

void test("counts of the socket are newer than those of any answer", () => {
  const { browser, feed, seen, tell } = start();
  browser.socket.accept();
  tell({ type: "resources", ...body("pods") });
  tell({ type: "counts", counts: { "core/v1/pods": 10, "core/v1/odd": "many" } });
  feed.answer(body("pods"));
  tell({ type: "counts", counts: {} });
  assert.deepEqual(seen, ["pods", "10", ""]);
});

void test("the build of the page is told over each connection, and by an answer only where there is none", () => {
  const { browser, feed, builds, tell } = start();
  feed.answer({ ...body("pods"), build: "one" });
  browser.socket.accept();
  tell({ type: "resources", build: "two", ...body("pods") });
  feed.answer({ ...body("pods"), build: "one" });
  assert.deepEqual(builds, ["one", "two"]);
  browser.socket.lose();
  browser.pass(600);
  browser.socket.accept();
  tell({ type: "resources", ...body("pods") });
  feed.answer({ ...body("pods"), build: "one" });
  assert.deepEqual(builds, ["one", "two", ""], "of a server that does not tell it nothing is known");
});

void test("the server's time is asked for again once the browser's clock has been set, " +
  "though the socket tells all else", async () => {
  const { browser, feed, tell } = start();
  const page = globalThis as unknown as { document?: unknown; fetch: unknown; setTimeout: unknown };
  const { document, fetch, setTimeout } = page;
  const now = Date.now.bind(Date);
  let asked = 0;
  let next = (): void => undefined;
  page.document = { hidden: false };
  page.fetch = () => {
    asked++;
    return Promise.resolve(new Response(null, { status: 304 }));
  };
  page.setTimeout = (run: () => void) => {
    next = run;
  };
  // Each round schedules the next one.
  const round = async (): Promise<number> => {
    const before = next;
    next();
    for (let i = 0; i < 100 && next === before; i++) await Promise.resolve();
    return asked;
  };
  try {
    browser.socket.accept();
    tell({ type: "resources", ...body("pods") });
    tell({ type: "counts", counts: {} });
    await feed.poll();
    assert.equal(asked, 1);
    assert.equal(await round(), 1);
    Date.now = () => now() + 60_000;
    assert.equal(await round(), 2);
    assert.equal(await round(), 2);
    Date.now = now;
    assert.equal(await round(), 3, "and back");
  } finally {
    Object.assign(page, { document, fetch, setTimeout });
    Date.now = now;
  }
});
