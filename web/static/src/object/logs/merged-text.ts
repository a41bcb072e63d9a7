// Texts about the state of a log of several containers.

import { clockTime } from "../../text/age.ts";
import { formatInteger } from "../../text/format.ts";
import { sharedParts } from "../../model/guest.ts";
import { forbiddenNote, noteFor, status, type Note, type SubscriptionInfo } from "../../model/status.ts";
import { detailOf, titleOf, type LogFooter } from "./status-text.ts";
import type { LogState } from "./stream.ts";
import type { Problem } from "../../net/wire.ts";

export interface MergedSituation {
  readonly states: readonly LogState[];
  readonly podInfo: SubscriptionInfo | null;
  readonly podResource: string; // resource whose state is podInfo: "Pods", or "Jobs" while the jobs are unknown
  readonly isComplete: boolean; // whether all pods are known
  readonly hasPods: boolean; // whether the object selects pods
  readonly objectIsKnown: boolean;
  readonly pods: number;
  readonly disconnectedSince: number | null;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly lines: number;
  readonly ns: string;
  readonly kind: string;
}

const containers = (n: number): string => `${formatInteger(n)} ${n === 1 ? "container" : "containers"}`;

export function mergedFooter(s: MergedSituation, now: number): LogFooter {
  const make = (level: LogFooter["level"], words: string): LogFooter => ({ level, words });
  if (s.podInfo !== null && forbiddenNote(s.podInfo, s.podResource) !== null) return make("bad", "Forbidden");
  if (s.disconnectedSince !== null)
    return make(
      "bad",
      `Connection lost at ${clockTime(new Date(s.disconnectedSince).toISOString(), now)}. Reconnecting…`,
    );
  if (s.states.length === 0) {
    if (isRefused(s.podInfo)) return make("bad", status(s.podInfo, now).text);
    return make("busy", s.objectIsKnown && (s.isComplete || !s.hasPods) ? "No logs" : "Loading…");
  }
  const count = (at: LogState["at"]): number => s.states.filter((state) => state.at === at).length;
  const refused = count("refused");
  const rest = refused === 0 ? "" : `; cannot read the logs of ${containers(refused)}`;
  if (count("reading") > 0)
    return make(
      refused > 0 ? "warn" : "live",
      `${s.follow ? "Following" : "Loading"} the logs of ${containers(count("reading"))}${rest}`,
    );
  if (count("requesting") > 0) return make("busy", `Loading…${rest}`);
  if (refused === s.states.length) return make("bad", problemTitle(s.states));
  if (!s.follow && !s.previous)
    return make("ended", `Loaded the logs of ${containers(count("ended"))} (not following)${rest}`);
  return make("ended", `${s.previous ? "Previous logs" : "Logs"} of ${containers(count("ended"))} ended${rest}`);
}

const firstProblem = (states: readonly LogState[]): Problem | null => {
  const refused = states.find((s) => s.at === "refused");
  return refused?.at === "refused" ? refused.problem : null;
};

/** Returns the title of the problem if all logs have the same one. Otherwise, returns a general title. */
function problemTitle(states: readonly LogState[]): string {
  const titles = new Set(states.map((s) => (s.at === "refused" ? titleOf(s.problem) : "")));
  const [title = ""] = titles;
  return titles.size === 1 && title !== "" ? title : "No log can be read";
}

const isRefused = (info: SubscriptionInfo | null): info is SubscriptionInfo =>
  info !== null && (info.problem !== null || info.state?.state === "absent" || info.state?.state === "failed");

export function limitText(logs: number, maxLogs: number, pods: number, maxPods: number): string {
  if (logs > maxLogs)
    return (
      `Showing the logs of ${maxLogs} of ${logs}${pods > maxPods ? " or more" : ""} containers, pods with problems ` +
      "first. Select a container to read another log."
    );
  return pods > maxPods ? `Only ${maxPods} of ${formatInteger(pods)} pods are included, pods with problems first.` : "";
}

/**
 * Returns the note for an empty merged log. It does not advise guests to request access, because guests cannot do this.
 */
export function mergedNote(s: MergedSituation, isGuest = sharedParts() !== null): Note | null {
  const make = (title: string, detail: string, next = ""): Note => ({ title, detail, next, act: null });
  if (s.lines > 0 || !s.objectIsKnown) return null;
  const forbidden = s.podInfo === null ? null : forbiddenNote(s.podInfo, s.podResource);
  if (forbidden !== null) return forbidden;
  if (!s.hasPods) return make("No pods", `This ${s.kind} has no selector, so it selects no pods.`);
  if (!s.isComplete) return isRefused(s.podInfo) ? noteFor(s.podInfo, s.podResource, 0, false, 0) : null;
  if (s.pods === 0) return make("No pods", `This ${s.kind} has no pods now.`, "Logs of new pods appear here.");
  const problem = firstProblem(s.states);
  if (problem !== null && s.states.every((state) => state.at === "refused"))
    return problem.status === 403
      ? make(
          "Forbidden: you cannot read these logs",
          problem.detail,
          isGuest ? "" : `You need permission to get pods/log in namespace ${s.ns}. Ask your cluster admin.`,
        )
      : make(problemTitle(s.states), detailOf(problem));
  if (s.states.length === 0)
    return s.previous
      ? make("No previous logs", "None of the selected containers was restarted.")
      : make("No selected container has started", "", "Logs appear here once a container has started.");
  if (s.states.every((state) => state.at === "ended"))
    return make("The logs are empty", "The containers wrote nothing in the selected time range.");
  return s.states.some((state) => state.at === "reading")
    ? make(
        "No log output",
        "The containers have written nothing in the selected time range.",
        "New lines appear here automatically.",
      )
    : null;
}
