// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "../../../static/src/object/logs/containers.ts";
import { emptyNote, logFooter, lineCountText, type LogSituation } from "../../../static/src/object/logs/status-text.ts";

const container = (phase: Container["phase"], state: string): Container => ({
  name: "c",
  role: "",
  state,
  phase,
  id: "",
  restarts: 0,
});
const defaultSituation: LogSituation = {
  state: { at: "reading" },
  disconnectedSince: null,
  container: container("running", "running"),
  follow: true,
  previous: false,
  isScheduled: true,
  isDeleted: false,
  podIsKnown: true,
  forbidden: null,
  lines: 3,
  dropped: 0,
  ns: "shop",
};
const refused = (status: number, title: string, again = false): LogSituation => ({
  ...defaultSituation,
  lines: 0,
  state: { at: "refused", problem: { status, title, detail: "so" }, again, since: 0 },
});
const footerLine = (s: LogSituation): string => {
  const e = emptyNote(s);
  const { level, words } = logFooter(s, 0);
  return `${level}: ${words} | ${e === null ? "" : `${e.title}${e.again ? " (again)" : ""}`}`;
};

void test("the status line describes the state of a log", () => {
  for (const [s, want] of [
    [{ ...defaultSituation }, "live: Following | "],
    [{ ...defaultSituation, lines: 0 }, "live: Following | No log output"],
    [
      { ...defaultSituation, container: container("waiting", "waiting: CrashLoopBackOff") },
      "busy: Following; container waiting: CrashLoopBackOff | ",
    ],
    [{ ...defaultSituation, state: null, podIsKnown: false, lines: 0 }, "busy: Loading… | "],
    [
      { ...defaultSituation, state: null, container: undefined, lines: 0 },
      "busy: No containers reported yet | No containers reported yet",
    ],
    [{ ...defaultSituation, state: { at: "requesting", isSlow: false, since: null }, lines: 0 }, "busy: Loading… | "],
    [{ ...defaultSituation, state: { at: "requesting", isSlow: false, since: 0 }, lines: 0 }, "busy: Loading… | "],
    [
      { ...defaultSituation, state: { at: "requesting", isSlow: true, since: null }, lines: 0 },
      "busy: Waiting for log output… | Waiting for log output…",
    ],
    [
      { ...defaultSituation, state: { at: "requesting", isSlow: true, since: null } },
      "busy: Waiting for log output… | ",
    ],
    [
      { ...defaultSituation, state: { at: "requesting", isSlow: false, since: 0 } },
      `busy: Waiting for log output; none received since ${at0} | `,
    ],
    [
      { ...defaultSituation, state: { at: "requesting", isSlow: true, since: 0 } },
      `busy: Waiting for log output; none received since ${at0} | `,
    ],
    [
      { ...defaultSituation, state: { at: "ended", since: null }, isScheduled: false, lines: 0 },
      "busy: No log yet | The pod is not scheduled yet",
    ],
    [
      { ...defaultSituation, state: { at: "ended", since: null }, follow: false },
      "ended: End of log (not following) | ",
    ],
    [
      {
        ...defaultSituation,
        state: { at: "ended", since: null },
        container: container("ended", "terminated: OOMKilled, exit code 137"),
      },
      "ended: Container terminated: OOMKilled, exit code 137 | ",
    ],
    [{ ...defaultSituation, state: { at: "ended", since: null }, isDeleted: true }, "ended: Ended; pod deleted | "],
    [
      { ...defaultSituation, state: { at: "ended", since: null }, isScheduled: false, isDeleted: true, lines: 0 },
      "ended: Ended; pod deleted | The log is empty",
    ],
    [
      { ...defaultSituation, state: { at: "ended", since: 0 }, isDeleted: true },
      `ended: Pod deleted; no output read after ${at0} | `,
    ],
    [
      { ...defaultSituation, state: { at: "ended", since: 0 }, isDeleted: true, lines: 0 },
      "ended: Pod deleted; no log was read | No log was read",
    ],
    [{ ...defaultSituation, state: { at: "ended", since: 0 } }, `ended: Ended; no output read after ${at0} | `],
    [{ ...defaultSituation, state: { at: "ended", since: 0 }, follow: false }, `ended: Not following since ${at0} | `],
    [
      { ...defaultSituation, state: { at: "ended", since: 0 }, follow: false, lines: 0 },
      `ended: Not following since ${at0} | No log was read (again)`,
    ],
    [{ ...defaultSituation, state: { at: "ended", since: null }, lines: 0 }, "ended: Ended | The log is empty"],
    [
      { ...defaultSituation, state: { at: "requesting", isSlow: false, since: 0 }, disconnectedSince: 0, lines: 0 },
      `bad: Connection lost at ${at0}. Reconnecting… | Connection lost (again)`,
    ],
    [{ ...defaultSituation, state: { at: "ended", since: null }, disconnectedSince: 0 }, "ended: Ended | "],
    [
      {
        ...defaultSituation,
        state: null,
        podIsKnown: false,
        lines: 0,
        forbidden: { title: "You cannot list Pods", detail: "", next: "", act: null },
      },
      "bad: Forbidden | You cannot list Pods",
    ],
    [refused(403, "Forbidden"), "bad: Forbidden | Forbidden: you cannot read this log (again)"],
    [
      refused(503, "Container is waiting", true),
      "warn: Container is waiting. Retrying… | The container is waiting to start (again)",
    ],
    [{ ...refused(404, "Not found"), lines: 3 }, "bad: Not found | "],
    [{ ...refused(404, "Not found"), lines: 3, isDeleted: true }, `ended: Pod deleted; no output read after ${at0} | `],
    [{ ...refused(404, "No log"), previous: true }, "bad: No log | No previous log"],
    [refused(503, "Too many logs", true), "warn: Too many logs. Retrying… | Too many logs (again)"],
    [
      refused(503, "Log is cut", true),
      "warn: The API server interrupted the log. Retrying… | The API server interrupted the log (again)",
    ],
    [
      { ...refused(503, "Log is cut", true), lines: 3 },
      `warn: The API server interrupted the log; no output received since ${at0}. Retrying… | `,
    ],
    [
      { ...refused(503, "The API server does not respond", true), lines: 3 },
      `warn: The API server does not respond; no output received since ${at0}. Retrying… | `,
    ],
  ] as const)
    assert.equal(footerLine(s), want);
  assert.equal(
    emptyNote(refused(403, "Forbidden"))?.next,
    "You need permission to get pods/log in namespace shop. Ask your cluster admin.",
  );
});

const at0 = ((d: Date): string =>
  [d.getHours(), d.getMinutes(), d.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":"))(new Date(0));

void test("the line count includes dropped lines", () => {
  assert.deepEqual(
    [lineCountText(0, 0), lineCountText(1, 0), lineCountText(20_000, 1234)],
    ["", "1 line", "Showing the latest 20,000 lines (1,234 older dropped)"],
  );
});
