// Texts about the state of a log of several containers.

import { clockTime } from "../../text/age.ts";
import { formatInteger } from "../../text/format.ts";
import { forbiddenNote, type Note, type SubscriptionInfo } from "../../model/status.ts";
import type { LogFooter } from "./status-text.ts";
import type { LogState } from "./stream.ts";

export interface MergedSituation {
  readonly states: readonly LogState[];
  readonly podInfo: SubscriptionInfo | null;
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
  const make = (tone: LogFooter["tone"], words: string): LogFooter => ({ tone, words });
  if (s.podInfo !== null && forbiddenNote(s.podInfo, "pods") !== null) return make("bad", "Forbidden");
  if (s.disconnectedSince !== null)
    return make(
      "bad",
      `Connection lost at ${clockTime(new Date(s.disconnectedSince).toISOString(), now)}. Reconnecting…`,
    );
  if (s.states.length === 0) return make("busy", s.objectIsKnown && s.isComplete ? "No logs" : "Loading…");
  const count = (at: LogState["at"]): number => s.states.filter((state) => state.at === at).length;
  const refused = count("refused");
  const rest = refused === 0 ? "" : `; ${containers(refused)} cannot be read`;
  if (count("reading") > 0)
    return make(
      refused > 0 ? "warn" : "live",
      `${s.follow ? "Following" : "Loading"} ${containers(count("reading"))}${rest}`,
    );
  if (count("asking") > 0) return make("busy", `Loading${rest}…`);
  if (refused === s.states.length) return make("bad", firstProblem(s.states)?.title ?? "Failed");
  return make("ended", `${s.previous ? "Previous logs" : "Logs"} of ${containers(count("ended"))} ended${rest}`);
}

const firstProblem = (states: readonly LogState[]): { title: string; detail: string; status: number } | null => {
  const refused = states.find((s) => s.at === "refused");
  return refused?.at === "refused" ? refused.problem : null;
};

export function limitText(logs: number, maxLogs: number, pods: number, maxPods: number): string {
  if (logs > maxLogs)
    return (
      `Showing ${maxLogs} of ${logs}${pods > maxPods ? " or more" : ""} container logs, of the worst pods. ` +
      "Select a container to read another log."
    );
  return pods > maxPods ? `Showing the logs of ${maxPods} of ${formatInteger(pods)} pods, the worst first.` : "";
}

export function mergedNote(s: MergedSituation): Note | null {
  const make = (title: string, detail: string, next = ""): Note => ({ title, detail, next, act: null });
  if (s.lines > 0 || !s.objectIsKnown) return null;
  const forbidden = s.podInfo === null ? null : forbiddenNote(s.podInfo, "pods");
  if (forbidden !== null) return forbidden;
  if (!s.hasPods) return make("No pods", `This ${s.kind} has no selector, so it has no pods.`);
  if (!s.isComplete) return null;
  if (s.pods === 0) return make("No pods", `This ${s.kind} has no pods now.`, "Logs of new pods appear here.");
  const problem = firstProblem(s.states);
  if (problem !== null && s.states.every((state) => state.at === "refused"))
    return problem.status === 403
      ? make(
          "Forbidden: you can't read these logs",
          problem.detail,
          `You need permission to get pods/log in namespace ${s.ns}. Ask your cluster admin.`,
        )
      : make(problem.title, problem.detail);
  if (s.states.length === 0)
    return s.previous
      ? make("No previous logs", "No container was restarted.")
      : make("No container has started", "", "Logs appear here once a container has started.");
  if (s.states.every((state) => state.at === "ended"))
    return make("The logs are empty", "The containers wrote nothing in the selected time range.");
  return s.states.some((state) => state.at === "reading")
    ? make("No log output yet", "", "New lines appear here automatically.")
    : null;
}
