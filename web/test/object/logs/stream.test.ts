// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStream, type LogState } from "../../../static/src/object/logs/stream.ts";
import { Upstream } from "../../fake-log-server.ts";

const at = (n: number): string => `2026-11-21T10:00:0${n}Z`;

class Fixture extends Upstream {
  readonly lines: string[] = [];
  readonly states: LogState[] = [];
  readonly stream = new LogStream(
    { ns: "a", pod: "web", container: "c", tail: 100, since: "", previous: false, follow: true },
    {
      lines: (lines, gap) => void this.lines.push(...(gap ? ["gap"] : []), ...lines.map((l) => l.text)),
      stateChanged: (state) => void this.states.push(state),
    },
    this.live,
    () => this.browser.now(),
  );
  get state(): LogState | undefined {
    return this.states.at(-1);
  }
  get last(): Record<string, unknown> {
    return this.requests.at(-1) ?? {};
  }
}

void test("a log is read to its end", () => {
  const s = new Fixture();
  s.write("");
  s.write(`${at(1)} one\n${at(2)} tw`);
  assert.deepEqual(s.lines, ["one"]);
  s.write("o\n");
  s.end();
  assert.deepEqual(s.lines, ["one", "two"]);
  assert.deepEqual(
    s.states.map((x) => x.at),
    ["requesting", "reading", "ended"],
  );
  const { id, ...requests } = s.last;
  assert.deepEqual(requests, {
    op: "subscribe",
    resource: "core/v1/pods",
    ns: ["a"],
    name: "web",
    view: "log",
    container: "c",
    tail: 100,
    since: "",
    previous: false,
    timestamps: true,
    follow: true,
  });
  s.browser.advance(60_000);
  s.browser.socket.drop();
  s.browser.advance(600);
  s.browser.socket.accept();
  assert.deepEqual(
    [s.requests.length, s.unsubscribes, s.state?.at],
    [1, 0, "ended"],
    "a log that has ended is not requested again",
  );
});

void test("an interrupted log resumes without duplicate lines", () => {
  const s = new Fixture();
  s.write(`${at(1)} one\n${at(2)} two\n${at(3)} hal`);
  s.browser.advance(1000);
  s.interrupt();
  const cut = { at: "refused", problem: { title: "Log is cut", status: 503, detail: "so" }, again: true, since: 1000 };
  assert.deepEqual(s.state, cut, "the state reports an interruption by the API server, not by Glasshouse");
  s.browser.advance(2000);
  assert.deepEqual([s.requests.length, s.state], [2, cut]);
  assert.deepEqual([s.last["since"], s.last["tail"]], [at(2), 5000]);
  s.write(`${at(2)} two\n${at(3)} half of it\n`);
  assert.equal(s.state?.at, "reading");
  s.end();
  assert.deepEqual(s.lines, ["one", "two", "half of it"]);
  assert.equal(s.state?.at, "ended");
});

void test("a long line is not duplicated after an interruption", () => {
  const s = new Fixture();
  const pieces = (text: string, from = 0): void => {
    for (let n = from; n < text.length; n += 60_000) s.write(text.slice(n, n + 60_000));
  };
  const [first, second, endless] = ["a", "b", "c"].map(
    (c, n) => `${at(n + 1)} ${c.repeat(c === "c" ? 3 << 20 : 700_000)}\n`,
  ) as [string, string, string];
  pieces(first);
  pieces(second.slice(0, 500_000));
  s.interrupt();
  s.browser.advance(2000);
  pieces(first);
  pieces(second);
  pieces(endless.slice(0, 2 << 20));
  s.interrupt();
  s.browser.advance(2000);
  pieces(endless);
  s.write(`${at(4)} last\n`);
  assert.deepEqual(
    s.lines.map((l) => `${l[0]} ${l.length}`),
    ["a 700000", "b 700000", `c ${s.lines[2]?.length}`, "l 4"],
  );
});

void test("while the API server is unreachable, the state is not reading, and contains the start of the outage", () => {
  const s = new Fixture();
  const away = {
    at: "refused",
    problem: { title: "The API server does not respond", status: 503, detail: "so" },
    again: true,
    since: 1000,
  };
  s.write(`${at(1)} one\n`);
  s.browser.advance(1000);
  s.interrupt();
  for (let n = 0; n < 3; n++) {
    s.browser.advance(20_000);
    s.wait();
    assert.deepEqual(
      s.state,
      { at: "requesting", isSlow: true, since: 1000 },
      "the state stays requesting until the server responds",
    );
    s.refuse(503, away.problem.title);
    assert.deepEqual(s.state, away);
  }
  s.browser.socket.drop();
  assert.deepEqual(s.state, { at: "requesting", isSlow: false, since: 1000 });
  s.browser.advance(600);
  s.browser.socket.accept();
  s.refuse(503, away.problem.title);
  assert.deepEqual(s.state, away);
  s.browser.advance(20_000);
  s.write(`${at(1)} one\n${at(2)} two\n`);
  assert.deepEqual([s.lines, s.state?.at], [["one", "two"], "reading"]);
  s.interrupt();
  assert.deepEqual(s.state?.at === "refused" && s.state.since, 81_600);
});

void test("a log resumes over a new connection", () => {
  const s = new Fixture();
  s.write(`${at(1)} one\n${at(2)} hal`);
  s.browser.advance(1000);
  s.browser.socket.drop();
  assert.deepEqual([s.state], [{ at: "requesting", isSlow: false, since: 1000 }]);
  s.browser.advance(600);
  s.browser.socket.drop();
  assert.deepEqual([s.state], [{ at: "requesting", isSlow: false, since: 1000 }]);
  s.stream.retryNow();
  s.browser.socket.accept();
  assert.deepEqual([s.requests.length, s.last["since"], s.state?.at], [2, at(1), "requesting"]);
  s.write(`${at(1)} one\n${at(2)} half\n`);
  assert.deepEqual([s.lines, s.state?.at], [["one", "half"], "reading"]);
});

void test("a log requested without a connection is requested once connected", () => {
  const upstream = new Fixture();
  upstream.browser.socket.drop();
  upstream.stream.follow(false);
  upstream.stream.follow(true);
  assert.equal(upstream.state?.at, "requesting");
  upstream.browser.advance(600);
  upstream.browser.socket.accept();
  upstream.write(`${at(1)} one\n`);
  assert.deepEqual([upstream.lines, upstream.state?.at], [["one"], "reading"]);
});

void test("an error is reported, and retried if it is temporary", () => {
  const s = new Fixture();
  s.refuse(503, "Container is waiting");
  assert.deepEqual(s.state, {
    at: "refused",
    problem: { title: "Container is waiting", status: 503, detail: "so" },
    again: true,
    since: 0,
  });
  s.browser.advance(2000);
  assert.equal(s.requests.length, 2);
  s.wait();
  assert.deepEqual(s.state, { at: "requesting", isSlow: true, since: 0 });
  s.refuse(503, "The API server does not respond");
  assert.deepEqual(
    s.state,
    {
      at: "refused",
      problem: { title: "The API server does not respond", status: 503, detail: "so" },
      again: true,
      since: 0,
    },
    "the problem of the server is shown, also after a slow request",
  );
  s.browser.advance(3999);
  assert.equal(s.requests.length, 2, "the retry delay doubles while there is no output");
  s.stream.retryNow();
  assert.equal(s.requests.length, 3);
  s.refuse(403, "Forbidden");
  assert.deepEqual([s.state?.at, s.state?.at === "refused" && s.state.again], ["refused", false]);
  s.stream.retryNow();
  s.browser.advance(60_000);
  assert.equal(s.requests.length, 3);
});

void test("after an invalid message, the log is requested again with growing delays, without a reload", () => {
  const s = new Fixture();
  s.write(`${at(1)} one\n`);
  for (let n = 0; n < 50; n++) {
    s.browser.socket.receive({ id: s.last["id"], type: "log" });
    s.browser.advance(100);
  }
  assert.equal(s.state?.at, "requesting", "the log is requested over the open connection");
  assert.deepEqual([s.live.reloadCount, s.live.reloadReason], [0, ""]);
  assert.ok(s.requests.length <= 4, String(s.requests.length));
});

void test("a closed stream reports nothing", () => {
  const s = new Fixture();
  s.write(`${at(1)} one\n`);
  const before = s.states.length;
  s.stream.close();
  assert.equal(s.unsubscribes, 1);
  s.write(`${at(2)} two\n`);
  s.interrupt();
  s.stream.retryNow();
  s.browser.advance(30_000);
  assert.deepEqual([s.lines, s.states.length, s.requests.length], [["one"], before, 1]);
});

void test("following can stop and resume", () => {
  const s = new Fixture();
  s.write(`${at(1)} one\n`);
  s.browser.advance(1000);
  s.stream.follow(false);
  assert.deepEqual([s.state, s.unsubscribes], [{ at: "ended", since: 1000 }, 1]);
  s.stream.follow(true);
  s.write(`${at(1)} one\n${at(2)} two\n`);
  assert.deepEqual(s.lines, ["one", "two"]);
});

void test(
  "a stopped log shows since when no output was read; " + "a completed or forbidden log keeps its state",
  () => {
    const s = new Fixture();
    s.write(`${at(1)} one\n`);
    s.browser.advance(1000);
    s.interrupt();
    s.browser.advance(2000);
    s.stream.stop();
    assert.deepEqual([s.state, s.requests.length], [{ at: "ended", since: 1000 }, 2]);
    s.stream.follow(true);
    s.write(`${at(1)} one\n${at(2)} two\n`);
    s.end();
    s.stream.follow(false);
    assert.deepEqual([s.lines, s.state], [["one", "two"], { at: "ended", since: null }]);
    s.stream.follow(true);
    s.refuse(403, "Forbidden");
    s.stream.follow(false);
    assert.equal(s.state?.at, "refused");
  },
);

void test("a log stream has the state reading once the API server responds, even with an empty log", () => {
  for (const text of ["", `${at(1)} one\n`, `${at(5)} five\n`]) {
    const s = new Fixture();
    s.write(`${at(1)} one\n`);
    s.browser.advance(1000);
    s.interrupt();
    s.browser.advance(2000);
    s.wait();
    assert.deepEqual(s.state, { at: "requesting", isSlow: true, since: 1000 });
    s.write(text);
    assert.equal(s.state?.at, "reading");
  }
});
