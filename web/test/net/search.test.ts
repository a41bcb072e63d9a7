// Invariant: I32.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readSearchResponse, Search, type SearchResponse } from "../../static/src/net/search.ts";

const afterDebounce = (ms = 200): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function start(answer: (q: string) => { status: number; body?: unknown } | Promise<never>) {
  const asked: string[] = [];
  const cancelled: string[] = [];
  const responses: [string, SearchResponse][] = [];
  const get = async (url: string, options: { signal: AbortSignal }): Promise<Response> => {
    const q = new URL(url, "http://x").searchParams.get("q") ?? "";
    asked.push(q);
    options.signal.addEventListener("abort", () => cancelled.push(q));
    const { status, body } = await answer(q);
    return { status, ok: status === 200, json: () => Promise.resolve(body) } as unknown as Response;
  };
  return {
    asked,
    cancelled,
    responses,
    search: new Search((q, a) => responses.push([q, a]), get as unknown as typeof fetch),
  };
}

void test("typing sends one request after a pause", async () => {
  const { asked, responses, search } = start(() => ({ status: 200, body: { objects: [], searched: [] } }));
  for (const q of ["w", "we", "web"]) search.request(q);
  await afterDebounce();
  assert.deepEqual([asked, responses.map(([q]) => q)], [["web"], ["web"]]);
});

void test("a replaced request is canceled and reports nothing", async () => {
  const { asked, cancelled, responses, search } = start((q) =>
    q === "web" ? new Promise<never>(() => undefined) : { status: 200, body: {} },
  );
  search.request("web");
  await afterDebounce();
  search.request("webs");
  await afterDebounce();
  assert.deepEqual([asked, cancelled, responses.map(([q]) => q)], [["web", "webs"], ["web"], ["webs"]]);
});

void test("a server without search is asked once, and that is reported", async () => {
  const { asked, responses, search } = start(() => ({ status: 404 }));
  search.request("web");
  await afterDebounce();
  search.request("webs");
  assert.deepEqual([asked, responses.map(([, a]) => a.trouble !== "")], [["web"], [true, true]]);
});

void test("a response is checked completely", () => {
  const good = { ref: "core/v1/pods", kind: "Pod", ns: "a", name: "b" };
  assert.deepEqual(
    readSearchResponse({
      objects: [good, null, {}, { ref: "x", name: "y" }, { ...good, name: 5 }],
      searched: [{ ref: "core/v1/pods", count: "many" }, 7],
    }),
    { results: [good], searched: [{ ref: "core/v1/pods", state: "", count: null }], trouble: "" },
  );
  assert.deepEqual(readSearchResponse(null), { results: [], searched: [], trouble: "" });
});
