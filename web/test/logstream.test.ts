import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStream, type LogState } from "../static/src/logs/stream.ts";
import { Browser } from "./browser.ts";

const at = (n: number): string => `2026-11-21T10:00:0${n}Z`;
const turn = (): Promise<void> => new Promise((done) => setTimeout(done));

// A server that answers as it is told, and one log that is read of it.
class Site {
  readonly asked: string[] = [];
  readonly lines: string[] = [];
  readonly states: LogState[] = [];
  readonly browser = new Browser();
  private out: ReadableStreamDefaultController<Uint8Array> | null = null;
  answer: () => Response = () => new Response(new ReadableStream({ start: (out) => void (this.out = out) }));
  readonly stream: LogStream;

  constructor(follow = true) {
    const fetch = (address: unknown): Promise<Response> => {
      this.asked.push(String(address));
      try {
        return Promise.resolve(this.answer());
      } catch (err) {
        return Promise.reject(err as Error);
      }
    };
    this.stream = new LogStream({ ns: "a", pod: "web", container: "c", tail: 100, since: "", previous: false, follow }, {
      lines: (lines, gap) => void this.lines.push(...(gap ? ["gap"] : []), ...lines.map((l) => l.text)),
      told: (state) => void this.states.push(state),
    }, { fetch: fetch as typeof globalThis.fetch, now: () => this.browser.now(), after: (ms, run) => this.browser.after(ms, run), cancel: (timer) => this.browser.cancel(timer) });
  }

  async write(text: string): Promise<void> {
    await turn();
    this.out?.enqueue(new TextEncoder().encode(text));
    await turn();
  }
  async end(): Promise<void> {
    await turn();
    this.out?.close();
    await turn();
  }
  async cut(): Promise<void> {
    await turn();
    this.out?.error(new Error("cut"));
    await turn();
  }
  get state(): LogState | undefined { return this.states.at(-1); }
}

void test("a log is followed to its end", async () => {
  const s = new Site();
  await s.write(`${at(1)} one\n${at(2)} tw`);
  assert.deepEqual(s.lines, ["one"]);
  await s.write("o\n");
  await s.end();
  assert.deepEqual(s.lines, ["one", "two"]);
  assert.deepEqual(s.states.map((x) => x.at), ["asking", "reading", "ended"]);
  assert.equal(s.asked[0], "/api/v1/logs/a/web?container=c&tail=100&timestamps=true&follow=true");
  s.browser.pass(60_000);
  assert.equal(s.asked.length, 1, "what has ended is not asked for again");
});

void test("one that is cut goes on without a line twice", async () => {
  const s = new Site();
  await s.write(`${at(1)} one\n${at(2)} two\n${at(3)} hal`);
  await s.cut();
  assert.equal(s.state?.at, "lost");
  s.answer = (): Response => { throw new TypeError("refused"); };
  s.browser.pass(1000);
  await turn();
  assert.deepEqual([s.asked.length, s.state?.at], [2, "lost"]);
  s.answer = (): Response => new Response(`${at(2)} two\n${at(3)} half of it\n`);
  s.browser.pass(1999);
  assert.equal(s.asked.length, 2, "it waits twice as long");
  s.browser.pass(1);
  await turn();
  await turn();
  assert.deepEqual(s.lines, ["one", "two", "half of it"]);
  assert.ok(s.asked[2]?.includes(`since=${encodeURIComponent(at(2))}`), s.asked[2] ?? "");
  assert.equal(s.state?.at, "ended");
});

void test("a refusal is told; what passes by itself is tried again", async () => {
  const s = new Site();
  const problem = (status: number, title: string): Response => new Response(JSON.stringify({ title, status, detail: "so" }), { status });
  s.answer = (): Response => problem(503, "Container is waiting");
  s.stream.close();
  const t = new Site();
  t.answer = s.answer;
  t.stream.follow(true);
  await turn();
  await turn();
  assert.deepEqual([t.state?.at, t.state?.at === "refused" && t.state.next], ["refused", 1000]);
  t.answer = (): Response => problem(403, "Forbidden");
  t.browser.pass(1000);
  await turn();
  await turn();
  assert.deepEqual([t.state?.at, t.state?.at === "refused" && t.state.next], ["refused", null]);
  const asked = t.asked.length;
  t.browser.pass(60_000);
  assert.equal(t.asked.length, asked);
});

void test("one that is closed says nothing more", async () => {
  const s = new Site();
  await s.write(`${at(1)} one\n`);
  const before = s.states.length;
  s.stream.close();
  await s.write(`${at(2)} two\n`);
  await s.cut();
  s.browser.pass(60_000);
  assert.deepEqual([s.lines, s.states.length, s.asked.length], [["one"], before, 1]);
});

void test("not followed any more, and again, it goes on", async () => {
  const s = new Site();
  await s.write(`${at(1)} one\n`);
  s.stream.follow(false);
  assert.equal(s.state?.at, "ended");
  s.stream.follow(true);
  await s.write(`${at(1)} one\n${at(2)} two\n`);
  assert.deepEqual(s.lines, ["one", "two"]);
  s.stream.close();
});
