import assert from "node:assert/strict";
import { test } from "node:test";
import { LogStream, type LogState } from "../static/src/logs/stream.ts";
import { Upstream } from "./upstream.ts";

const at = (n: number): string => `2026-11-21T10:00:0${n}Z`;

// A server, and a stream of one log.
class Site extends Upstream {
  readonly lines: string[] = [];
  readonly states: LogState[] = [];
  readonly stream = new LogStream(
    { ns: "a", pod: "web", container: "c", tail: 100, since: "", previous: false, follow: true },
    {
      lines: (lines, gap) => void this.lines.push(...(gap ? ["gap"] : []), ...lines.map((l) => l.text)),
      told: (state) => void this.states.push(state),
    },
    this.live,
    () => this.browser.now(),
  );
  get state(): LogState | undefined {
    return this.states.at(-1);
  }
  get last(): Record<string, unknown> {
    return this.asked.at(-1) ?? {};
  }
}

void test("a log is followed to its end", () => {
  const s = new Site();
  s.write("");
  s.write(`${at(1)} one\n${at(2)} tw`);
  assert.deepEqual(s.lines, ["one"]);
  s.write("o\n");
  s.end();
  assert.deepEqual(s.lines, ["one", "two"]);
  assert.deepEqual(s.states.map((x) => x.at), ["asking", "reading", "ended"]);
  const { id, ...asked } = s.last;
  assert.deepEqual(asked, {
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
  s.browser.pass(60_000);
  s.browser.socket.lose();
  s.browser.pass(600);
  s.browser.socket.accept();
  assert.deepEqual([s.asked.length, s.closed, s.state?.at], [1, 0, "ended"], "what has ended is not asked for again");
});

void test("one that is cut goes on without a line twice", () => {
  const s = new Site();
  s.write(`${at(1)} one\n${at(2)} two\n${at(3)} hal`);
  s.browser.pass(1000);
  s.cut();
  const cut = { at: "refused", problem: { title: "Log is cut", status: 503, detail: "so" }, again: true, since: 1000 };
  assert.deepEqual(s.state, cut, "by the cluster: Glasshouse is there");
  s.browser.pass(2000);
  assert.deepEqual([s.asked.length, s.state], [2, cut]);
  assert.deepEqual([s.last["since"], s.last["tail"]], [at(2), 5000]);
  s.write(`${at(2)} two\n${at(3)} half of it\n`);
  assert.equal(s.state?.at, "reading");
  s.end();
  assert.deepEqual(s.lines, ["one", "two", "half of it"]);
  assert.equal(s.state?.at, "ended");
});

void test("nor is a long line that is cut, or comes again", () => {
  const s = new Site();
  const pieces = (text: string, from = 0): void => {
    for (let n = from; n < text.length; n += 60_000) s.write(text.slice(n, n + 60_000));
  };
  const [first, second, endless] = ["a", "b", "c"].map(
    (c, n) => `${at(n + 1)} ${c.repeat(c === "c" ? 3 << 20 : 700_000)}\n`,
  ) as [string, string, string];
  pieces(first);
  pieces(second.slice(0, 500_000));
  s.cut();
  s.browser.pass(2000);
  pieces(first);
  pieces(second);
  pieces(endless.slice(0, 2 << 20));
  s.cut();
  s.browser.pass(2000);
  pieces(endless);
  s.write(`${at(4)} last\n`);
  assert.deepEqual(
    s.lines.map((l) => `${l[0]} ${l.length}`),
    ["a 700000", "b 700000", `c ${s.lines[2]?.length}`, "l 4"],
  );
});

void test("an API server that is away is told as such, since when, and is no log that is read", () => {
  const s = new Site();
  const away = {
    at: "refused",
    problem: { title: "The API server does not answer", status: 503, detail: "so" },
    again: true,
    since: 1000,
  };
  s.write(`${at(1)} one\n`);
  s.browser.pass(1000);
  s.cut();
  for (let n = 0; n < 3; n++) {
    s.browser.pass(20_000);
    s.wait();
    assert.deepEqual(s.state, { at: "asking", late: true, since: 1000 }, "it may be refused yet");
    s.refuse(503, away.problem.title);
    assert.deepEqual(s.state, away);
  }
  s.browser.socket.lose();
  assert.deepEqual(s.state, { at: "asking", late: false, since: 1000 });
  s.browser.pass(600);
  s.browser.socket.accept();
  s.refuse(503, away.problem.title);
  assert.deepEqual(s.state, away);
  s.browser.pass(20_000);
  s.write(`${at(1)} one\n${at(2)} two\n`);
  assert.deepEqual([s.lines, s.state?.at], [["one", "two"], "reading"]);
  s.cut();
  assert.deepEqual(s.state?.at === "refused" && s.state.since, 81_600);
});

void test("over a new connection it goes on, too", () => {
  const s = new Site();
  s.write(`${at(1)} one\n${at(2)} hal`);
  s.browser.pass(1000);
  s.browser.socket.lose();
  assert.deepEqual([s.state], [{ at: "asking", late: false, since: 1000 }]);
  s.browser.pass(600);
  s.browser.socket.lose();
  assert.deepEqual([s.state], [{ at: "asking", late: false, since: 1000 }]);
  s.stream.hurry();
  s.browser.socket.accept();
  assert.deepEqual([s.asked.length, s.last["since"], s.state?.at], [2, at(1), "asking"]);
  s.write(`${at(1)} one\n${at(2)} half\n`);
  assert.deepEqual([s.lines, s.state?.at], [["one", "half"], "reading"]);
});

void test("one that is asked for while there is no connection is asked for once there is one", () => {
  const up = new Site();
  up.browser.socket.lose();
  up.stream.follow(false);
  up.stream.follow(true);
  assert.equal(up.state?.at, "asking");
  up.browser.pass(600);
  up.browser.socket.accept();
  up.write(`${at(1)} one\n`);
  assert.deepEqual([up.lines, up.state?.at], [["one"], "reading"]);
});

void test("a refusal is told; what passes by itself is tried again", () => {
  const s = new Site();
  s.refuse(503, "Container is waiting");
  assert.deepEqual(s.state, {
    at: "refused",
    problem: { title: "Container is waiting", status: 503, detail: "so" },
    again: true,
    since: 0,
  });
  s.browser.pass(2000);
  assert.equal(s.asked.length, 2);
  s.wait();
  assert.deepEqual(s.state, { at: "asking", late: true, since: 0 });
  s.refuse(503, "The API server does not answer");
  assert.deepEqual(
    s.state,
    {
      at: "refused",
      problem: { title: "The API server does not answer", status: 503, detail: "so" },
      again: true,
      since: 0,
    },
    "in the server's words, also once it was waited for",
  );
  s.browser.pass(3999);
  assert.equal(s.asked.length, 2, "it waits twice as long while nothing comes");
  s.stream.hurry();
  assert.equal(s.asked.length, 3);
  s.refuse(403, "Forbidden");
  assert.deepEqual([s.state?.at, s.state?.at === "refused" && s.state.again], ["refused", false]);
  s.stream.hurry();
  s.browser.pass(60_000);
  assert.equal(s.asked.length, 3);
});

void test("what makes no sense is asked for again, ever later, and is no row that was read anew", () => {
  const s = new Site();
  s.write(`${at(1)} one\n`);
  for (let n = 0; n < 50; n++) {
    s.browser.socket.say({ id: s.last["id"], type: "log" });
    s.browser.pass(100);
  }
  assert.equal(s.state?.at, "asking", "there is a connection");
  assert.deepEqual([s.live.anew, s.live.anewWhy], [0, ""]);
  assert.ok(s.asked.length <= 4, String(s.asked.length));
});

void test("one that is closed says nothing more", () => {
  const s = new Site();
  s.write(`${at(1)} one\n`);
  const before = s.states.length;
  s.stream.close();
  assert.equal(s.closed, 1);
  s.write(`${at(2)} two\n`);
  s.cut();
  s.stream.hurry();
  s.browser.pass(30_000);
  assert.deepEqual([s.lines, s.states.length, s.asked.length], [["one"], before, 1]);
});

void test("not followed any more, and again, it goes on", () => {
  const s = new Site();
  s.write(`${at(1)} one\n`);
  s.browser.pass(1000);
  s.stream.follow(false);
  assert.deepEqual([s.state, s.closed], [{ at: "ended", since: 1000 }, 1]);
  s.stream.follow(true);
  s.write(`${at(1)} one\n${at(2)} two\n`);
  assert.deepEqual(s.lines, ["one", "two"]);
});

void test("one that is given up says since when nothing was read; one that was read to its end, " +
  "or may not be read, stays so", () => {
  const s = new Site();
  s.write(`${at(1)} one\n`);
  s.browser.pass(1000);
  s.cut();
  s.browser.pass(2000);
  s.stream.stop();
  assert.deepEqual([s.state, s.asked.length], [{ at: "ended", since: 1000 }, 2]);
  s.stream.follow(true);
  s.write(`${at(1)} one\n${at(2)} two\n`);
  s.end();
  s.stream.follow(false);
  assert.deepEqual([s.lines, s.state], [["one", "two"], { at: "ended", since: null }]);
  s.stream.follow(true);
  s.refuse(403, "Forbidden");
  s.stream.follow(false);
  assert.equal(s.state?.at, "refused");
});

void test("a log is read once the API server has answered, be there a line or not", () => {
  for (const text of ["", `${at(1)} one\n`, `${at(5)} five\n`]) {
    const s = new Site();
    s.write(`${at(1)} one\n`);
    s.browser.pass(1000);
    s.cut();
    s.browser.pass(2000);
    s.wait();
    assert.deepEqual(s.state, { at: "asking", late: true, since: 1000 });
    s.write(text);
    assert.equal(s.state?.at, "reading");
  }
});
