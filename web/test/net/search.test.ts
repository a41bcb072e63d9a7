// Invariant: I32.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readSearchResponse, Search, type SearchResponse } from "../../static/src/net/search.ts";

const afterDebounce = (ms = 200): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function start(answer: (q: string) => { status: number; body?: unknown } | Promise<never>) {
  const requested: string[] = [];
  const shown: (string | null)[] = [];
  const cancelled: string[] = [];
  const responses: [string, SearchResponse][] = [];
  const get = async (url: string, options: { signal: AbortSignal }): Promise<Response> => {
    const params = new URL(url, "http://x").searchParams;
    const q = params.get("q") ?? "";
    requested.push(q);
    shown.push(params.get("resource"));
    options.signal.addEventListener("abort", () => cancelled.push(q));
    const { status, body } = await answer(q);
    return { status, ok: status === 200, json: () => Promise.resolve(body) } as unknown as Response;
  };
  return {
    requested,
    shown,
    cancelled,
    responses,
    search: new Search((q, a) => responses.push([q, a]), get as unknown as typeof fetch),
  };
}

void test("typing sends one request after a pause", async () => {
  const { requested, responses, search } = start(() => ({ status: 200, body: { objects: [], searched: [] } }));
  for (const q of ["w", "we", "web"]) search.request(q, "");
  await afterDebounce();
  assert.deepEqual([requested, responses.map(([q]) => q)], [["web"], ["web"]]);
});

void test("a replaced request is canceled and reports nothing", async () => {
  const { requested, cancelled, responses, search } = start((q) =>
    q === "web" ? new Promise<never>(() => undefined) : { status: 200, body: {} },
  );
  search.request("web", "");
  await afterDebounce();
  search.request("webs", "");
  await afterDebounce();
  assert.deepEqual([requested, cancelled, responses.map(([q]) => q)], [["web", "webs"], ["web"], ["webs"]]);
});

void test("a server without search gets one request, and the response names this problem", async () => {
  const { requested, responses, search } = start(() => ({ status: 404 }));
  search.request("web", "");
  await afterDebounce();
  search.request("webs", "");
  assert.deepEqual([requested, responses.map(([, a]) => a.error !== "")], [["web"], [true, true]]);
});

void test("a search is repeated with the list of the page until the server has read all resources", async () => {
  const pod = (state: string, count: number | null): object => ({ ref: "core/v1/pods", state, count });
  const bodies = [
    { searched: [pod("syncing", null)], notSearched: [] },
    { searched: [pod("stale", null)], notSearched: [] },
    { searched: [pod("live", 3), { ref: "core/v1/secrets", state: "forbidden", count: null }], notSearched: [] },
  ];
  const { requested, shown, responses, search } = start(() => ({ status: 200, body: bodies.shift() }));
  search.request("web", "core/v1/pods");
  await afterDebounce(2000);
  assert.deepEqual([requested.length, bodies.length, shown.every((ref) => ref === "core/v1/pods")], [3, 0, true]);
  assert.deepEqual(
    responses.map(([, a]) => a.searched[0]?.count),
    [null, null, 3],
  );
});

void test("a repeated search can be stopped, and a search of only watched resources is not repeated", async () => {
  const pending = { searched: [{ ref: "core/v1/pods", state: "syncing", count: null }] };
  const { requested, search } = start((q) => ({
    status: 200,
    body: q === "old" ? pending : { ...pending, notSearched: [] },
  }));
  search.request("old", "");
  await afterDebounce(800);
  search.request("new", "");
  await afterDebounce(200);
  search.stop();
  await afterDebounce(800);
  assert.deepEqual(requested, ["old", "new"]);
});

void test("a response is checked completely", () => {
  const good = { ref: "core/v1/pods", kind: "Pod", ns: "a", name: "b" };
  assert.deepEqual(
    readSearchResponse({
      objects: [good, null, {}, { ref: "x", name: "y" }, { ...good, name: 5 }],
      searched: [{ ref: "core/v1/pods", count: "many" }, 7],
    }),
    { results: [good], searched: [{ ref: "core/v1/pods", state: "", count: null }], omitted: null, error: "" },
  );
  assert.deepEqual(readSearchResponse(null), { results: [], searched: [], omitted: null, error: "" });
  assert.deepEqual(
    readSearchResponse({ notSearched: [{ ref: "core/v1/secrets", reason: "forbidden" }, {}, null] }).omitted,
    [{ ref: "core/v1/secrets", reason: "forbidden" }],
  );
});
