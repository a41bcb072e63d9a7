// Texts about the state of a log: the status line below the log, and the note in place of an empty log.

import { clockTime } from "../../text/age.ts";
import { formatInteger } from "../../text/format.ts";
import { sharedParts } from "../../model/guest.ts";
import type { Note } from "../../model/status.ts";
import type { Problem } from "../../net/wire.ts";
import type { Container } from "./containers.ts";
import type { LogState } from "./stream.ts";

export interface LogSituation {
  readonly state: LogState | null; // null if no log has been requested yet
  readonly disconnectedSince: number | null; // time in ms of the loss of the connection; null if connected
  readonly container: Container | undefined;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly isScheduled: boolean;
  readonly isDeleted: boolean;
  readonly podIsKnown: boolean; // whether the server has sent the pod
  readonly forbidden: Note | null; // note to show if the viewer is no longer permitted to read the pod
  readonly lines: number;
  readonly dropped: number;
  readonly ns: string;
}

export interface LogFooter {
  readonly level: "live" | "busy" | "warn" | "bad" | "ended";
  readonly words: string;
}

export function logFooter(situation: LogSituation, now: number): LogFooter {
  const { state } = situation;
  const make = (level: LogFooter["level"], text: string): LogFooter => ({ level, words: text });
  if (situation.forbidden !== null) return make("bad", "Forbidden");
  if (state === null) return make("busy", situation.podIsKnown ? "No containers reported yet" : "Loading…");
  switch (state.at) {
    case "requesting":
      if (situation.disconnectedSince !== null)
        return make("bad", `Connection lost at ${formatClock(situation.disconnectedSince, now)}. Reconnecting…`);
      if (situation.lines > 0 && state.since !== null)
        return make("busy", `Waiting for log output; none received since ${formatClock(state.since, now)}`);
      return make("busy", state.isSlow ? "Waiting for log output…" : "Loading…");
    case "reading":
      if (!situation.follow) return make("busy", "Loading…");
      return situation.container?.phase === "waiting"
        ? make("busy", `Following; container ${situation.container.state}`)
        : make("live", "Following");
    case "ended":
      if (state.since !== null) return make("ended", unreadText(situation, formatClock(state.since, now)));
      if (!situation.isScheduled && !situation.isDeleted && situation.lines === 0) return make("busy", "No log yet");
      if (situation.isDeleted) return make("ended", "Ended; pod deleted");
      if (!situation.follow && !situation.previous && situation.container?.phase === "running")
        return make("ended", "End of log (not following)");
      return make(
        "ended",
        situation.container?.phase === "ended" && !situation.previous
          ? `Container ${situation.container.state}`
          : "Ended",
      );
    case "refused":
      if (situation.isDeleted && state.problem.status === 404)
        return make("ended", unreadText(situation, formatClock(state.since, now)));
      if (!state.again) return make("bad", titleOf(state.problem));
      return make(
        "warn",
        titleOf(state.problem) +
          (situation.lines === 0 ? "" : `; no output received since ${formatClock(state.since, now)}`) +
          ". Retrying…",
      );
  }
}

const formatClock = (at: number, now: number): string => clockTime(new Date(at).toISOString(), now);

// Describes a log that possibly continues: the text names the time after which nothing was read.
function unreadText(situation: LogSituation, since: string): string {
  if (!situation.isDeleted && !situation.follow) return `Not following since ${since}`;
  return (
    `${situation.isDeleted ? "Pod deleted" : "Ended"}; ` +
    `${situation.lines === 0 ? "no log was read" : `no output read after ${since}`}`
  );
}

const isCut = ({ title }: Problem): boolean => title === "Log is cut";

/** Returns a problem's title. For an interrupted log, names the API server, so that users do not blame Glasshouse. */
export const titleOf = (p: Problem): string => (isCut(p) ? "The API server interrupted the log" : p.title);

/**
 * Returns a problem's detail. Returns "" for an interrupted log: its detail advises to request the log again, which the
 * page does itself.
 */
export const detailOf = (p: Problem): string => (isCut(p) ? "" : p.detail);

export function lineCountText(lines: number, dropped: number): string {
  if (lines === 0) return "";
  const all = `${formatInteger(lines)} ${lines === 1 ? "line" : "lines"}`;
  return dropped === 0 ? all : `Showing the latest ${all} (${formatInteger(dropped)} older dropped)`;
}

interface EmptyNote {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  readonly again: boolean;
}

/**
 * Returns the note for an empty log. The note does not advise guests to request access, because guests cannot do so.
 */
export function emptyNote(situation: LogSituation, isGuest = sharedParts() !== null): EmptyNote | null {
  if (situation.lines > 0) return null;
  const make = (title: string, detail: string, next = "", canRetry = false): EmptyNote => ({
    title,
    detail,
    next,
    again: canRetry,
  });
  const { state } = situation;
  if (situation.forbidden !== null)
    return make(situation.forbidden.title, situation.forbidden.detail, situation.forbidden.next);
  if (state === null)
    return situation.podIsKnown
      ? make("No containers reported yet", "", "The log appears here once the pod has a container.")
      : null;
  if (state.at === "refused") return refusalNote(situation, state.problem, state.again, isGuest);
  if (state.at === "requesting" && situation.disconnectedSince !== null)
    return make("Connection lost", "The page is not connected to Glasshouse.", "Retrying automatically.", true);
  if (state.at === "requesting")
    return state.isSlow
      ? make(
          "Waiting for log output…",
          "The API server has not responded yet. If the log is empty, it responds when the container writes a line.",
          "New lines appear here automatically.",
        )
      : null;
  if (!situation.isScheduled && !situation.isDeleted)
    return make(
      "The pod is not scheduled yet",
      "No container has run, so there is no log.",
      "The log appears here once a container has started.",
    );
  if (state.at === "reading")
    return situation.follow
      ? make(
          "No log output",
          "The container has written nothing in the selected time range.",
          "New lines appear here automatically.",
        )
      : null;
  if (state.since !== null)
    return make(
      "No log was read",
      situation.isDeleted ? "The pod was deleted." : "Follow is off.",
      "",
      !situation.isDeleted,
    );
  return make(
    "The log is empty",
    situation.isDeleted ? "The pod was deleted." : "The container wrote nothing in the selected time range.",
  );
}

function refusalNote(situation: LogSituation, problem: Problem, retries: boolean, isGuest: boolean): EmptyNote {
  const detail = detailOf(problem);
  const make = (title: string, next: string, canRetry: boolean): EmptyNote => ({
    title,
    detail,
    next,
    again: canRetry,
  });
  if (problem.status === 403)
    return make(
      "Forbidden: you cannot read this log",
      isGuest ? "" : `You need permission to get pods/log in namespace ${situation.ns}. Ask your cluster admin.`,
      true,
    );
  if (problem.title === "Container is waiting")
    return make("The container is waiting to start", "The log appears here when the container starts.", true);
  if (problem.title === "No log" && situation.previous)
    return make("No previous log", "The container has not been restarted, or its old log has been removed.", false);
  return make(titleOf(problem), retries ? "Retrying automatically." : "", true);
}
