import assert from "node:assert/strict";
import { test } from "node:test";
import { readAnswer, Search, type Answer } from "../static/src/search.ts";

const soon = (ms = 200): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function start(answer: (q: string) => { status: number; body?: unknown } | Promise<never>) {
  const asked: string[] = [];
  const cancelled: string[] = [];
  const told: [string, Answer][] = [];
  const get = async (url: string, options: { signal: AbortSignal }): Promise<Response> => {
    const q = new URL(url, "http://x").searchParams.get("q") ?? "";
    asked.push(q);
    options.signal.addEventListener("abort", () => cancelled.push(q));
    const { status, body } = await answer(q);
    return { status, ok: status === 200, json: () => Promise.resolve(body) } as unknown as Response;
  };
  return { asked, cancelled, told, search: new Search((q, a) => told.push([q, a]), get as unknown as typeof fetch) };
}

void test("typing asks once, when it rests", async () => {
  const { asked, told, search } = start(() => ({ status: 200, body: { objects: [], searched: [] } }));
  for (const q of ["w", "we", "web"]) search.ask(q);
  await soon();
  assert.deepEqual([asked, told.map(([q]) => q)], [["web"], ["web"]]);
});

void test("what is not waited for any more is cancelled, and tells nothing", async () => {
  const { asked, cancelled, told, search } = start((q) =>
    q === "web" ? new Promise<never>(() => undefined) : { status: 200, body: {} },
  );
  search.ask("web");
  await soon();
  search.ask("webs");
  await soon();
  assert.deepEqual([asked, cancelled, told.map(([q]) => q)], [["web", "webs"], ["web"], ["webs"]]);
});

void test("a server without the search is asked once, and that is said", async () => {
  const { asked, told, search } = start(() => ({ status: 404 }));
  search.ask("web");
  await soon();
  search.ask("webs");
  assert.deepEqual([asked, told.map(([, a]) => a.trouble !== "")], [["web"], [true, true]]);
});

void test("an answer is trusted in nothing", () => {
  const good = { ref: "core/v1/pods", kind: "Pod", ns: "a", name: "b" };
  assert.deepEqual(
    readAnswer({
      objects: [good, null, {}, { ref: "x", name: "y" }, { ...good, name: 5 }],
      searched: [{ ref: "core/v1/pods", count: "many" }, 7],
    }),
    { results: [good], searched: [{ ref: "core/v1/pods", state: "", count: null }], trouble: "" },
  );
  assert.deepEqual(readAnswer(null), { results: [], searched: [], trouble: "" });
});
