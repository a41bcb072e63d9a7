import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "../static/src/logs/containers.ts";
import { empty, foot, held, type Situation } from "../static/src/logs/words.ts";

const container = (phase: Container["phase"], state: string): Container => ({
  name: "c",
  role: "",
  state,
  phase,
  id: "",
  restarts: 0,
});
const plain: Situation = {
  state: { at: "reading" },
  lost: null,
  container: container("running", "running"),
  follow: true,
  previous: false,
  placed: true,
  gone: false,
  known: true,
  forbidden: null,
  lines: 3,
  dropped: 0,
  ns: "shop",
};
const refused = (status: number, title: string, again = false): Situation => ({
  ...plain,
  lines: 0,
  state: { at: "refused", problem: { status, title, detail: "so" }, again, since: 0 },
});
const said = (s: Situation): string => {
  const e = empty(s);
  return `${foot(s, 0).tone}: ${foot(s, 0).words} | ${e === null ? "" : `${e.title}${e.again ? " (again)" : ""}`}`;
};

void test("how a log stands, in words", () => {
  for (const [s, want] of [
    [{ ...plain }, "live: Following | "],
    [{ ...plain, lines: 0 }, "live: Following | Nothing has been written yet"],
    [
      { ...plain, container: container("waiting", "waiting: CrashLoopBackOff") },
      "busy: Following; the container is waiting: CrashLoopBackOff | ",
    ],
    [{ ...plain, state: null, known: false, lines: 0 }, "busy: Asking | "],
    [{ ...plain, state: null, container: undefined, lines: 0 }, "busy: No container yet | No container yet"],
    [{ ...plain, state: { at: "asking", late: false, since: null }, lines: 0 }, "busy: Asking | "],
    [{ ...plain, state: { at: "asking", late: false, since: 0 }, lines: 0 }, "busy: Asking | "],
    [
      { ...plain, state: { at: "asking", late: true, since: null }, lines: 0 },
      "busy: Asked; nothing has come yet | Nothing has come yet",
    ],
    [{ ...plain, state: { at: "asking", late: true, since: null } }, "busy: Asked; nothing has come yet | "],
    [{ ...plain, state: { at: "asking", late: false, since: 0 } }, `busy: Asked; nothing since ${at0} | `],
    [{ ...plain, state: { at: "asking", late: true, since: 0 } }, `busy: Asked; nothing since ${at0} | `],
    [
      { ...plain, state: { at: "ended", since: null }, placed: false, lines: 0 },
      "busy: No log yet | The pod is on no node yet",
    ],
    [{ ...plain, state: { at: "ended", since: null }, follow: false }, "ended: Read to its end; not following | "],
    [
      { ...plain, state: { at: "ended", since: null }, container: container("ended", "ended: OOMKilled, code 137") },
      "ended: The container has ended: OOMKilled, code 137 | ",
    ],
    [{ ...plain, state: { at: "ended", since: null }, gone: true }, "ended: Ended: the pod is deleted | "],
    [
      { ...plain, state: { at: "ended", since: null }, placed: false, gone: true, lines: 0 },
      "ended: Ended: the pod is deleted | The log is empty",
    ],
    [
      { ...plain, state: { at: "ended", since: 0 }, gone: true },
      `ended: The pod is deleted; nothing was read after ${at0} | `,
    ],
    [
      { ...plain, state: { at: "ended", since: 0 }, gone: true, lines: 0 },
      "ended: The pod is deleted; nothing of its log was read | Nothing of the log was read",
    ],
    [{ ...plain, state: { at: "ended", since: 0 } }, `ended: Ended; nothing was read after ${at0} | `],
    [{ ...plain, state: { at: "ended", since: 0 }, follow: false }, `ended: Not following since ${at0} | `],
    [
      { ...plain, state: { at: "ended", since: 0 }, follow: false, lines: 0 },
      `ended: Not following since ${at0} | Nothing of the log was read (again)`,
    ],
    [{ ...plain, state: { at: "ended", since: null }, lines: 0 }, "ended: Ended | The log is empty"],
    [
      { ...plain, state: { at: "asking", late: false, since: 0 }, lost: 0, lines: 0 },
      `bad: Disconnected since ${at0}, trying again | Disconnected (again)`,
    ],
    [{ ...plain, state: { at: "ended", since: null }, lost: 0 }, "ended: Ended | "],
    [
      {
        ...plain,
        state: null,
        known: false,
        lines: 0,
        forbidden: { title: "You may not list pods", detail: "", next: "", act: null },
      },
      "bad: Forbidden | You may not list pods",
    ],
    [refused(403, "Forbidden"), "bad: Forbidden | You may not read this log (again)"],
    [
      refused(503, "Container is waiting", true),
      "warn: Container is waiting, trying again | The container has not started (again)",
    ],
    [{ ...refused(404, "Not found"), lines: 3 }, "bad: Not found | "],
    [
      { ...refused(404, "Not found"), lines: 3, gone: true },
      `ended: The pod is deleted; nothing was read after ${at0} | `,
    ],
    [{ ...refused(404, "No log"), previous: true }, "bad: No log | There is no previous log"],
    [refused(503, "Too many logs", true), "warn: Too many logs, trying again | Too many logs (again)"],
    [
      refused(503, "Log is cut", true),
      "warn: The API server broke off the log, trying again | The API server broke off the log (again)",
    ],
    [
      { ...refused(503, "Log is cut", true), lines: 3 },
      `warn: The API server broke off the log; nothing since ${at0}, trying again | `,
    ],
    [
      { ...refused(503, "The API server does not answer", true), lines: 3 },
      `warn: The API server does not answer; nothing since ${at0}, trying again | `,
    ],
  ] as const)
    assert.equal(said(s), want);
  assert.equal(
    empty(refused(403, "Forbidden"))?.next,
    "It takes the right to get pods/log in the namespace shop. Whoever looks after the cluster can give it.",
  );
});

const at0 = ((d: Date): string =>
  [d.getHours(), d.getMinutes(), d.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":")
)(new Date(0));

void test("how much is held, and what was let go", () => {
  assert.deepEqual(
    [held(0, 0), held(1, 0), held(20_000, 1234)],
    ["", "1 line", "20,000 lines, the newest; 1,234 older ones were let go"],
  );
});
