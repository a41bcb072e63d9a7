// The texts about the state of a log.

import { clockTime } from "../age.ts";
import { digits } from "../dom.ts";
import type { Note } from "../status.ts";
import type { Problem } from "../wire.ts";
import type { Container } from "./containers.ts";
import type { LogState } from "./stream.ts";

export interface Situation {
  readonly state: LogState | null; // null: no log has been requested yet
  readonly lost: number | null; // when the connection to Glasshouse was lost; null if it is open
  readonly container: Container | undefined;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly placed: boolean; // whether the pod is assigned to a node
  readonly gone: boolean;
  readonly known: boolean; // whether the page has received the pod
  readonly forbidden: Note | null; // the note if the pod may no longer be read
  readonly lines: number;
  readonly dropped: number;
  readonly ns: string;
}

export interface Foot {
  /** The state for the style sheet: live, busy, warn, bad or ended. */
  readonly tone: "live" | "busy" | "warn" | "bad" | "ended";
  readonly words: string;
}

/** Returns the status line below a log. */
export function foot(s: Situation, now: number): Foot {
  const { state } = s;
  const say = (tone: Foot["tone"], words: string): Foot => ({ tone, words });
  if (s.forbidden !== null) return say("bad", "Forbidden");
  if (state === null) return say("busy", s.known ? "No containers reported yet" : "Loading…");
  switch (state.at) {
    case "asking":
      if (s.lost !== null) return say("bad", `Connection lost at ${clock(s.lost, now)}. Reconnecting…`);
      if (s.lines > 0 && state.since !== null)
        return say("busy", `Waiting for log output; none since ${clock(state.since, now)}`);
      return say("busy", state.late ? "Waiting for log output…" : "Loading…");
    case "reading":
      if (!s.follow) return say("busy", "Loading…");
      return s.container?.phase === "waiting"
        ? say("busy", `Following; container ${s.container.state}`)
        : say("live", "Following");
    case "ended":
      if (state.since !== null) return say("ended", unread(s, clock(state.since, now)));
      if (!s.placed && !s.gone && s.lines === 0) return say("busy", "No log yet");
      if (s.gone) return say("ended", "Ended: pod deleted");
      if (!s.follow && !s.previous && s.container?.phase === "running")
        return say("ended", "End of log (not following)");
      return say(
        "ended",
        s.container?.phase === "ended" && !s.previous ? `Container ${s.container.state}` : "Ended",
      );
    case "refused":
      if (s.gone && state.problem.status === 404) return say("ended", unread(s, clock(state.since, now)));
      if (!state.again) return say("bad", titleOf(state.problem));
      return say(
        "warn",
        `${titleOf(state.problem)}${s.lines === 0 ? "" : `; no output since ${clock(state.since, now)}`}. Retrying…`,
      );
  }
}

const clock = (at: number, now: number): string => clockTime(new Date(at).toISOString(), now);

// Describes a log that was not read to its end, without claiming that it has ended.
function unread(s: Situation, since: string): string {
  if (!s.gone && !s.follow) return `Not following since ${since}`;
  return `${s.gone ? "Pod deleted" : "Ended"}; ` +
    `${s.lines === 0 ? "no log was read" : `no output read after ${since}`}`;
}

// Returns the title of a problem. If the log was interrupted, it names the API server as the cause, so that users do
// not blame Glasshouse.
const titleOf = ({ title }: Problem): string => (title === "Log is cut" ? "The API server interrupted the log" : title);

/** Describes how many lines are in the buffer. */
export function held(lines: number, dropped: number): string {
  if (lines === 0) return "";
  const all = `${digits(lines)} ${lines === 1 ? "line" : "lines"}`;
  return dropped === 0 ? all : `Showing the latest ${all} (${digits(dropped)} older dropped)`;
}

export interface Empty {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  readonly again: boolean;
}

/** Returns the note to show while the log has no lines; null if it has some. */
export function empty(s: Situation): Empty | null {
  if (s.lines > 0) return null;
  const say = (title: string, detail: string, next = "", again = false): Empty => ({ title, detail, next, again });
  const { state } = s;
  if (s.forbidden !== null) return say(s.forbidden.title, s.forbidden.detail, s.forbidden.next);
  if (state === null)
    return s.known
      ? say("No containers reported yet", "", "The log appears here once the pod has a container.")
      : null;
  if (state.at === "refused")
    return refusal(s, state.problem.status, titleOf(state.problem), state.problem.detail, state.again);
  if (state.at === "asking" && s.lost !== null)
    return say("Connection lost", "Glasshouse is not reachable.", "Retrying automatically.", true);
  if (state.at === "asking")
    return state.late
      ? say(
          "Waiting for log output…",
          "The API server has not responded. For an empty log, it may respond only with the first line.",
          "New lines appear here automatically.",
        )
      : null;
  if (!s.placed && !s.gone)
    return say(
      "The pod is not scheduled yet",
      "No container has run, so there is no log.",
      "The log appears here once a container has started.",
    );
  if (state.at === "reading")
    return s.follow ? say("No log output yet", "", "New lines appear here automatically.") : null;
  if (state.since !== null)
    return say("No log was read", s.gone ? "The pod was deleted." : "Follow is off.", "", !s.gone);
  return say(
    "The log is empty",
    s.gone ? "The pod was deleted." : "The container wrote nothing in the selected time range.",
  );
}

function refusal(s: Situation, status: number, title: string, detail: string, waits: boolean): Empty {
  const say = (title: string, next: string, again: boolean): Empty => ({ title, detail, next, again });
  if (status === 403)
    return say(
      "Forbidden: you can't read this log",
      `You need permission to get pods/log in namespace ${s.ns}. Ask your cluster admin.`,
      true,
    );
  if (title === "Container is waiting")
    return say("The container has not started", "The log appears here once it has started.", true);
  if (title === "No log" && s.previous)
    return say(
      "No previous log",
      "The container has not been restarted, or its old log has been removed.",
      false,
    );
  return say(title, waits ? "Retrying automatically." : "", true);
}
