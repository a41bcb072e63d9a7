// Describes the status of a subscription. The text is "Live" only while the data is known to be current.

import { clockTime } from "../text/age.ts";
import { formatInteger } from "../text/format.ts";
import { sharedParts } from "./guest.ts";
import type { Connection } from "../net/live.ts";
import type { Problem, State } from "../net/wire.ts";

/** Everything that is known about a subscription. All status texts are computed from it. */
export interface SubscriptionInfo {
  readonly connection: Connection;
  readonly since: number; // time in ms at which the connection changed to its current state
  readonly closeReason: string; // reason that the server gave when it closed the connection; empty for none
  readonly state: State | null; // last state, such as "stale", that the server sent over this connection, or null
  // If the data was already stale (possibly out of date) when the previous connection was lost, the time since which
  // it was stale, or "" if that time is unknown. null if the data was not stale, or if new data has arrived.
  readonly stale: string | null;
  readonly isComplete: boolean; // whether a complete snapshot has arrived, and no newer one is expected
  readonly arriving: number; // number of rows that have arrived of an incomplete snapshot
  readonly expected: number; // approximate number of rows in the snapshot; 0 if unknown
  readonly problem: Problem | null;
  // whether a new snapshot is expected, because the page's data or a message was wrong
  readonly isReloading: boolean;
}

export interface Status {
  /** The class of the status, which selects a color in the style sheet. */
  readonly tone: "live" | "busy" | "warn" | "bad";
  readonly text: string;
  /** The number of objects received so far, or null if unknown. It is not part of text, because it changes often. */
  readonly count: number | null;
  readonly total: number | null;
}

export function status(info: SubscriptionInfo, now: number): Status {
  const make = (
    tone: Status["tone"],
    text: string,
    count: number | null = null,
    total: number | null = null,
  ): Status => ({ tone, text, count, total });
  const arriving = (text: string): Status =>
    make(
      "busy",
      text,
      info.arriving > 0 ? info.arriving : null,
      info.arriving > 0 && info.expected >= info.arriving ? info.expected : null,
    );
  if (info.connection === "lost") return make("bad", `${staleText(info, now)}, reconnecting…`);
  if (info.connection === "connecting") return make("busy", "Connecting…");
  if (info.problem !== null) return make("bad", info.problem.title === "" ? "Failed" : info.problem.title);
  if (info.isReloading && !info.isComplete && (info.state === null || info.state.state === "live"))
    return arriving("Reloading");
  if (info.state === null) return make("busy", info.isComplete ? "Catching up" : "Requesting");
  switch (info.state.state) {
    case "syncing":
      return info.state.count === null
        ? arriving("Loading")
        : make("busy", "Loading", info.state.count, info.state.total);
    case "live":
      return info.isComplete ? make("live", "Live") : arriving("Receiving");
    case "stale":
      return make("warn", staleText(info, now) ?? "Stale");
    case "forbidden":
      return make("bad", "Forbidden");
    case "absent":
      return make("warn", "Not available");
    case "failed":
      return make("bad", "Failed");
  }
}

/**
 * Reports whether the number of rows equals the number of objects. If the list could not be read, the page has no
 * rows, but objects can exist.
 */
export function isCounted(info: SubscriptionInfo): boolean {
  return info.problem === null && !["forbidden", "absent", "failed"].includes(info.state?.state ?? "");
}

/** Formats progress, such as "20 of 100". Returns an empty text if the count is unknown. */
export function countText({ count, total }: Pick<Status, "count" | "total">): string {
  return count === null
    ? ""
    : total === null
      ? formatInteger(count)
      : `${formatInteger(count)} of ${formatInteger(total)}`;
}

/** Describes the progress of a long message: `received` bytes of its `of` bytes have arrived. */
export function receivedText(received: number, of: number): string {
  return `${formatInteger(received >> 10)} of ${formatInteger(Math.ceil(of / 1024))} KiB received`;
}

/** Describes how many times data was reloaded since the page was opened. Returns null for 0. */
export function reloadsText(times: number): string | null {
  return times === 0 ? null : times === 1 ? "reloaded once" : `reloaded ${formatInteger(times)} times`;
}

/**
 * Describes which namespaces the rows include, if they do not include all requested ones, and the reason. Otherwise
 * it returns null.
 */
export function coverageText(info: SubscriptionInfo): string | null {
  const covered = info.state?.namespaces ?? [];
  const why =
    info.state?.state === "live" && info.state.reason !== "" ? `: ${info.state.reason}` : " (no access to others).";
  const which = `namespace${covered.length === 1 ? "" : "s"} ${covered.join(", ")}`;
  return covered.length === 0 ? null : `Showing ${which} only${why}`;
}

/** Describes since when the data is possibly out of date. Returns null while updates arrive. */
export function staleText(info: Pick<SubscriptionInfo, "connection" | "since" | "state">, now: number): string | null {
  if (info.connection === "lost") return `Connection lost at ${clockTime(new Date(info.since).toISOString(), now)}`;
  if (info.state?.state === "stale")
    return info.state.since === "" ? "Stale" : `Stale since ${clockTime(info.state.since, now)}`;
  return null;
}

/** Describes when the data was last known to be current. Returns null if it is current now. */
export function lastCurrentText(info: SubscriptionInfo, now: number): string | null {
  if (status(info, now).tone === "live") return null;
  // If the data was already stale before the connection was lost, use that earlier time.
  const stale = info.state?.state === "stale" ? info.state.since : info.stale;
  const since = stale ?? (info.connection === "lost" ? new Date(info.since).toISOString() : "");
  return since === "" ? "at the last update" : `at ${clockTime(since, now)}`;
}

/**
 * Explains why a page is not live, and how old its data is. The parameter closeReason is the server's reason for
 * closing the connection. The parameter isReachable reports whether the server answers plain HTTP requests, or is
 * null if unknown. The parameter at is the time of the data.
 */
export function offlineText(closeReason: string, isReachable: boolean | null, at: string, now: number): string {
  const closed = "the WebSocket connection could not be opened (a proxy may block it)";
  const reason =
    closeReason !== ""
      ? `Glasshouse reported: ${closeReason}`
      : isReachable === null
        ? closed
        : isReachable
          ? `Glasshouse responds, but ${closed}`
          : "Glasshouse cannot be reached from this browser";
  return `Not live: ${reason}. Showing data from ${clockTime(at, now)}. Links and forms load new data. ` +
    "Live updates start automatically as soon as possible.";
}

/** A note that replaces the rows of an empty table. next describes what the user can do. */
export interface Note {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  readonly act: "show-all" | "show-allowed" | "retry" | null;
}

/**
 * Returns the note for a table without visible rows. Returns null if no note is needed. hasChosenNamespaces reports
 * whether the user selected namespaces. isGuest reports whether the viewer uses a share link and therefore cannot
 * request access.
 */
export function noteFor(
  info: SubscriptionInfo,
  resource: string,
  total: number,
  isFiltered: boolean,
  now: number,
  hasChosenNamespaces = false,
  namespaced = true,
  isGuest = sharedParts() !== null,
): Note | null {
  const make = (title: string, detail: string, next: string, act: Note["act"] = null): Note => ({
    title,
    detail,
    next,
    act,
  });
  if (info.problem !== null)
    return make(
      info.problem.title || "The request failed",
      info.problem.detail,
      isFiltered ? "Change the filters, or" : "",
      isFiltered ? "show-all" : "retry",
    );
  switch (info.state?.state) {
    case "forbidden": {
      const title = `Forbidden: you can't list ${resource}`;
      // Offer to show the permitted namespaces only if the user selected namespaces. Without a selection, the server
      // shows all permitted namespaces anyway, so "forbidden" means that there are none.
      if (hasChosenNamespaces)
        return make(
          title,
          info.state.reason,
          isGuest ? "" : "Ask your cluster admin for list and watch access, or",
          "show-allowed",
        );
      return make(
        title,
        info.state.reason,
        isGuest
          ? ""
          : `${namespaced ? "Choose a namespace that you can read, or ask" : "Ask"} your cluster admin for list and ` +
            "watch access.",
      );
    }
    case "absent":
      return make(
        `${resource} are not available in this cluster`,
        info.state.reason,
        "They appear here automatically once their API is installed.",
      );
    case "failed":
      return make(`Failed to load ${resource}`, info.state.reason, "Retrying automatically.");
  }
  const coverageNote = coverageText(info);
  const withCoverage = (words: string): string => (coverageNote === null ? words : `${words} ${coverageNote}`);
  const staleNote = staleText(info, now);
  const current = status(info, now);
  const filterText = isFiltered ? " matching these namespaces and labels" : "";
  // This note does not repeat the banner above the table, which reports that data is possibly out of date.
  if (info.isComplete && total > 0)
    return make(
      `No ${resource} match the filter`,
      withCoverage(`${formatInteger(total)} hidden${current.tone === "live" ? "" : " (as of the last update)"}.`),
      "",
      "show-all",
    );
  const lastCurrent = lastCurrentText(info, now);
  const emptyText = withCoverage(`There were no ${resource}${filterText} ${lastCurrent ?? "now"}.`);
  if (info.isComplete && staleNote !== null) {
    const isLost = info.connection === "lost";
    const reason = isLost
      ? info.closeReason === ""
        ? ""
        : `Glasshouse reported: ${info.closeReason}.`
      : info.state?.reason
        ? `The watch is interrupted: ${info.state.reason}.`
        : "The watch is interrupted.";
    const next = isLost
      ? "Retrying automatically. Check that Glasshouse is running."
      : "Retrying automatically. Missed changes are shown after that.";
    return make(staleNote, reason === "" ? emptyText : `${emptyText} ${reason}`, next);
  }
  // The data is possibly out of date, for example because the new connection has not delivered data yet.
  if (info.isComplete && lastCurrent !== null) return make(current.text, emptyText, "");
  if (info.isComplete && isFiltered)
    return make(
      `No ${resource} match these namespaces and labels`,
      coverageNote ?? "",
      "New ones appear here automatically.",
      "show-all",
    );
  if (info.isComplete)
    return make(`No ${resource}`, coverageNote ?? "", "New ones appear here automatically.");
  if (info.connection === "lost")
    return make(
      "Disconnected",
      info.closeReason === ""
        ? "Glasshouse cannot be reached from this browser."
        : `Glasshouse reported: ${info.closeReason}.`,
      "Retrying automatically. Check that Glasshouse is running.",
    );
  const progress =
    current.count === null ? "" : current.total === null ? `${countText(current)} so far` : countText(current);
  if (info.isReloading)
    return make(
      `Reloading ${resource}…`,
      `The cached data could not be updated${progress === "" ? "." : `; ${progress}`}`,
      "",
    );
  return make(`Loading ${resource}…`, progress, "");
}

/** Returns the note for a resource that the viewer is not permitted to read. Returns null in all other states. */
export const forbiddenNote = (info: SubscriptionInfo, resource: string): Note | null =>
  info.state?.state === "forbidden" ? noteFor(info, resource, 0, false, 0) : null;

/**
 * Returns the text above rows that are possibly out of date, or in place of an object. Returns null if no text is
 * needed. isGuest reports whether the viewer uses a share link.
 */
export function bannerText(info: SubscriptionInfo, now: number, isGuest = sharedParts() !== null): string | null {
  if (info.connection === "lost")
    return (
      `${staleText(info, now)}${info.closeReason === "" ? "" : ` (${info.closeReason})`}. ` +
      "Data may be out of date. Reconnecting…"
    );
  if (info.problem !== null) return `${info.problem.title}. ${info.problem.detail}`;
  switch (info.state?.state) {
    case "stale":
      return `${status(info, now).text}: ` +
        `${info.state.reason === "" ? "the watch is interrupted" : info.state.reason}. Data may be out of date.`;
    case "forbidden":
      return `Forbidden: ${info.state.reason}` +
        `${isGuest ? "" : " Ask your cluster admin for access. The data then appears automatically."}`;
    case "failed":
      return `Failed: ${info.state.reason}. Data may be out of date.`;
    case "absent":
      return "This resource is no longer available in the cluster.";
  }
  return null;
}
