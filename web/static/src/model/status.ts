// Texts for the status of a subscription. The status is "Live" only if the page knows that its data is current.

import { clockTime } from "../text/age.ts";
import { formatInteger } from "../text/format.ts";
import { sharedParts } from "./guest.ts";
import type { Connection } from "../net/live.ts";
import type { Problem, State } from "../net/wire.ts";

export interface SubscriptionInfo {
  readonly connection: Connection;
  readonly since: number; // ms; when the connection changed to its current state
  readonly closeReason: string; // reason from the server when it closed the connection; empty if it gave none
  readonly state: State | null; // null until the server sends one over this connection
  // If the data was stale when the connection was lost: the time when it became stale, "" if unknown. Otherwise null.
  readonly stale: string | null;
  readonly isComplete: boolean; // whether the newest requested snapshot has arrived completely
  readonly arriving: number; // number of received rows while a snapshot is incomplete
  readonly expected: number; // approximate number of rows in the snapshot; 0 if unknown
  readonly problem: Problem | null;
  readonly isReloading: boolean;
}

/** Adds a period to a reason that does not end with one. */
export const asSentence = (reason: string): string => (/[.!?…]$/.test(reason) ? reason : `${reason}.`);

export interface Status {
  /** The level of the status, by which the style sheet selects a color. */
  readonly level: "live" | "busy" | "warn" | "bad";
  readonly text: string;
  /** The number of received objects. Not part of the text, because it changes often. */
  readonly count: number | null;
  readonly total: number | null;
}

export function status(info: SubscriptionInfo, now: number): Status {
  const make = (
    level: Status["level"],
    text: string,
    count: number | null = null,
    total: number | null = null,
  ): Status => ({ level, text, count, total });
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
 * Whether the number of objects is known. If the list could not be read, the page has no rows, but objects can exist.
 */
export function isCounted(info: SubscriptionInfo): boolean {
  return info.problem === null && !["forbidden", "absent", "failed"].includes(info.state?.state ?? "");
}

export function countText({ count, total }: Pick<Status, "count" | "total">): string {
  return count === null
    ? ""
    : total === null
      ? formatInteger(count)
      : `${formatInteger(count)} of ${formatInteger(total)}`;
}

export function receivedText(received: number, of: number): string {
  return `${formatInteger(received >> 10)} of ${formatInteger(Math.ceil(of / 1024))} KiB received`;
}

export function reloadsText(times: number): string | null {
  return times === 0 ? null : times === 1 ? "reloaded once" : `reloaded ${formatInteger(times)} times`;
}

/** Returns a text such as "Showing namespace shop only" if rows of other selected namespaces are missing, else null. */
export function coverageText(info: SubscriptionInfo): string | null {
  const covered = info.state?.namespaces ?? [];
  const why =
    info.state?.state === "live" && info.state.reason !== "" ? `: ${info.state.reason}` : " (no access to others).";
  const which = `namespace${covered.length === 1 ? "" : "s"} ${covered.join(", ")}`;
  return covered.length === 0 ? null : `Showing ${which} only${why}`;
}

/** Returns a text such as "Stale since 14:03:05", or null while the data is current. */
export function staleText(info: Pick<SubscriptionInfo, "connection" | "since" | "state">, now: number): string | null {
  if (info.connection === "lost") return `Connection lost at ${clockTime(new Date(info.since).toISOString(), now)}`;
  if (info.state?.state === "stale")
    return info.state.since === "" ? "Stale" : `Stale since ${clockTime(info.state.since, now)}`;
  return null;
}

/** Returns when outdated data was last current, such as "at 14:03:05". Returns null if the data is current now. */
export function lastCurrentText(info: SubscriptionInfo, now: number): string | null {
  if (status(info, now).level === "live") return null;
  // If the data was stale before the connection was lost, use the earlier time.
  const stale = info.state?.state === "stale" ? info.state.since : info.stale;
  const since = stale ?? (info.connection === "lost" ? new Date(info.since).toISOString() : "");
  return since === "" ? "at the last update" : `at ${clockTime(since, now)}`;
}

/**
 * Returns why the page is not live, and what the user can do. `closeReason`: reason from the server, or empty.
 * `isReachable`: whether the server responds to HTTP requests, null if unknown. `at`: time of the shown data.
 */
export function offlineText(closeReason: string, isReachable: boolean | null, at: string, now: number): string {
  const closed = "the WebSocket connection is not open yet (a proxy may block it)";
  const reason =
    closeReason !== ""
      ? `Glasshouse reported: ${closeReason}`
      : isReachable === null
        ? closed
        : isReachable
          ? `Glasshouse responds, but ${closed}`
          : "Glasshouse cannot be reached from this browser";
  return (
    `Not live: ${asSentence(reason)} Showing data from ${clockTime(at, now)}. ` +
    (closeReason === "" && isReachable === false ? "" : "To load current data, follow a link or reload the page. ") +
    "Live updates start automatically as soon as the connection opens."
  );
}

/** A note that replaces the rows of an empty table. Its field `next` is a sentence on what the user can do. */
export interface Note {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  readonly act: "show-all" | "show-allowed" | "view-namespaces" | "retry" | "docs" | null;
  /** Whether the viewer lacks a permission and is no guest. The note then shows the kubectl command that checks it. */
  readonly isForbidden?: boolean;
}

/**
 * Returns the note for a table without rows. A guest (viewer of a share link) cannot request access, so the note does
 * not suggest it.
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
): Note {
  const make = (title: string, detail: string, next: string, act: Note["act"] = null): Note => ({
    title,
    detail,
    next,
    act,
  });
  if (info.problem?.title === "Unknown namespace" && !isGuest)
    return make(info.problem.title, info.problem.detail, "", "view-namespaces");
  if (info.problem !== null)
    return make(
      info.problem.title || "The request failed",
      info.problem.detail,
      isFiltered ? "Change the filters, or" : "",
      isFiltered ? "show-all" : "retry",
    );
  switch (info.state?.state) {
    case "forbidden": {
      const title = `Forbidden: you cannot list ${resource}`;
      // Offer the button for the permitted namespaces if the user has selected namespaces. Without a selection, the
      // server already shows all permitted namespaces.
      const next = hasChosenNamespaces
        ? "Ask your cluster admin for list and watch access, or"
        : `${namespaced ? "Select a namespace that you can read, or ask" : "Ask"} your cluster admin for list and ` +
          "watch access.";
      return {
        ...make(title, info.state.reason, isGuest ? "" : next, hasChosenNamespaces ? "show-allowed" : null),
        isForbidden: !isGuest,
      };
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
  const filterText = isFiltered ? " with the selected namespaces and filters" : "";
  // Do not report outdated data here, because the banner above the table already does.
  if (info.isComplete && total > 0)
    return make(
      `No ${resource} match the filter`,
      withCoverage(`${formatInteger(total)} hidden${current.level === "live" ? "" : " (as of the last update)"}.`),
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
        : `Glasshouse reported: ${asSentence(info.closeReason)}`
      : info.state?.reason
        ? `The watch is interrupted: ${asSentence(info.state.reason)}`
        : "The watch is interrupted.";
    const next = isLost
      ? "Retrying automatically. Check that Glasshouse is running."
      : "Retrying automatically. Missed changes are shown after that.";
    return make(staleNote, reason === "" ? emptyText : `${emptyText} ${reason}`, next);
  }
  // The list was empty, but this result is possibly outdated, for example because a new connection has sent no data
  // yet.
  if (info.isComplete && lastCurrent !== null) return make(current.text, emptyText, "");
  if (info.isComplete && isFiltered)
    return make(
      `No ${resource} match the selected namespaces and filters`,
      coverageNote ?? "",
      "New ones appear here automatically.",
      "show-all",
    );
  if (info.isComplete) return make(`No ${resource}`, coverageNote ?? "", "New ones appear here automatically.", "docs");
  if (info.connection === "lost")
    return make(
      staleNote ?? "",
      info.closeReason === ""
        ? "Glasshouse cannot be reached from this browser."
        : `Glasshouse reported: ${asSentence(info.closeReason)}`,
      "Retrying automatically. Check that Glasshouse is running.",
    );
  const progress =
    current.count === null ? "" : current.total === null ? `${countText(current)} so far` : countText(current);
  if (info.isReloading)
    return make(
      `Reloading ${resource}…`,
      `The data on this page could not be updated.${progress === "" ? "" : ` Loaded: ${progress}.`}`,
      "",
    );
  return make(`Loading ${resource}…`, progress, "");
}

export const forbiddenNote = (info: SubscriptionInfo, resource: string): Note | null =>
  info.state?.state === "forbidden" ? noteFor(info, resource, 0, false, 0) : null;

export function bannerText(info: SubscriptionInfo, now: number, isGuest = sharedParts() !== null): string | null {
  if (info.connection === "lost")
    return (
      `${staleText(info, now)}${info.closeReason === "" ? "" : ` (${info.closeReason})`}. ` +
      "Data may be out of date. Reconnecting…"
    );
  if (info.problem !== null) return `${info.problem.title}. ${info.problem.detail}`;
  switch (info.state?.state) {
    case "stale":
      return (
        `${status(info, now).text}: ` +
        `${asSentence(info.state.reason || "the watch is interrupted")} Data may be out of date.`
      );
    case "forbidden":
      return (
        `${info.state.reason === "" ? "Forbidden." : `Forbidden: ${asSentence(info.state.reason)}`}` +
        `${isGuest ? "" : " Ask your cluster admin for access. The data then appears automatically."}`
      );
    case "failed":
      return (
        `${info.state.reason === "" ? "Failed to load." : `Failed to load: ${asSentence(info.state.reason)}`} ` +
        "Data may be missing or out of date."
      );
    case "absent":
      return "The cluster does not serve this resource type.";
  }
  return null;
}
