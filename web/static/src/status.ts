// The status of a subscription as text. The text says "Live" only while the data is known to be current.

import { clockTime } from "./age.ts";
import { digits } from "./dom.ts";
import { shared } from "./guest.ts";
import type { Connection } from "./live.ts";
import type { Problem, State } from "./wire.ts";

/** What is known about a subscription: everything that the status texts depend on. */
export interface Known {
  readonly connection: Connection;
  readonly since: number; // when the connection changed to its present state, in milliseconds
  readonly said: string; // the reason that the server gave when it closed the connection; empty if it gave none
  readonly state: State | null; // the last state received over this connection; null if none was
  // If the data was already stale when the previous connection was lost: the time since which it was stale, or empty if
  // that is unknown. It is null if the data was not stale, or if new data has arrived since.
  readonly stale: string | null;
  readonly complete: boolean; // whether a complete snapshot is present, and no newer one is expected
  readonly arriving: number; // how many rows of an incomplete snapshot have arrived
  readonly expected: number; // about how many rows the snapshot will have; 0 if that is not known
  readonly problem: Problem | null;
  readonly anew: boolean; // whether a new snapshot is expected, because the present data or a message was invalid
}

export interface Status {
  /** The class of the state, by which the style sheet selects a color. */
  readonly tone: "live" | "busy" | "warn" | "bad";
  readonly words: string;
  /** The objects received so far, apart from words because it changes often; null if not known. */
  readonly count: number | null;
  readonly total: number | null;
}

export function status(k: Known, now: number): Status {
  const say = (
    tone: Status["tone"],
    words: string,
    count: number | null = null,
    total: number | null = null,
  ): Status => ({ tone, words, count, total });
  const arriving = (words: string): Status =>
    say(
      "busy",
      words,
      k.arriving > 0 ? k.arriving : null,
      k.arriving > 0 && k.expected >= k.arriving ? k.expected : null,
    );
  if (k.connection === "lost") return say("bad", `${doubt(k, now)}, reconnecting…`);
  if (k.connection === "connecting") return say("busy", "Connecting…");
  if (k.problem !== null) return say("bad", k.problem.title === "" ? "Failed" : k.problem.title);
  if (k.anew && !k.complete && (k.state === null || k.state.state === "live")) return arriving("Reloading");
  if (k.state === null) return say("busy", k.complete ? "Catching up" : "Requesting");
  switch (k.state.state) {
    case "syncing":
      return k.state.count === null ? arriving("Loading") : say("busy", "Loading", k.state.count, k.state.total);
    case "live":
      return k.complete ? say("live", "Live") : arriving("Receiving");
    case "stale":
      return say("warn", doubt(k, now) ?? "Stale");
    case "forbidden":
      return say("bad", "Forbidden");
    case "absent":
      return say("warn", "Not available");
    case "failed":
      return say("bad", "Failed");
  }
}

/** Whether the number of rows is the number of objects. If a list could not be read, zero rows do not mean that. */
export function counted(k: Known): boolean {
  return k.problem === null && !["forbidden", "absent", "failed"].includes(k.state?.state ?? "");
}

/** Formats the progress of a status, as in "20 of 100"; empty if the count is not known. */
export function countWords({ count, total }: Pick<Status, "count" | "total">): string {
  return count === null ? "" : total === null ? digits(count) : `${digits(count)} of ${digits(total)}`;
}

/** Describes the progress of a long message, of which told of of bytes have arrived. */
export function partWords(told: number, of: number): string {
  return `${digits(told >> 10)} of ${digits(Math.ceil(of / 1024))} KiB received`;
}

/** Describes how often data was read again since the page was opened; null for never. */
export function anewWords(times: number): string | null {
  return times === 0 ? null : times === 1 ? "reloaded once" : `reloaded ${digits(times)} times`;
}

/** Describes which of the requested namespaces the rows cover, and why not the others; null if they cover all. */
export function coverage(k: Known): string | null {
  const covered = k.state?.namespaces ?? [];
  const why = k.state?.state === "live" && k.state.reason !== "" ? `: ${k.state.reason}` : " (no access to others).";
  const which = `namespace${covered.length === 1 ? "" : "s"} ${covered.join(", ")}`;
  return covered.length === 0 ? null : `Showing ${which} only${why}`;
}

/** Describes since when the data may be out of date; null while updates arrive. */
export function doubt(k: Pick<Known, "connection" | "since" | "state">, now: number): string | null {
  if (k.connection === "lost") return `Connection lost at ${clockTime(new Date(k.since).toISOString(), now)}`;
  if (k.state?.state === "stale")
    return k.state.since === "" ? "Stale" : `Stale since ${clockTime(k.state.since, now)}`;
  return null;
}

/** Describes when the data was last known to be current; null if it is current now. */
export function lastKnown(k: Known, now: number): string | null {
  if (status(k, now).tone === "live") return null;
  // If the data was already stale before the connection was lost, the earlier time counts.
  const stale = k.state?.state === "stale" ? k.state.since : k.stale;
  const since = stale ?? (k.connection === "lost" ? new Date(k.since).toISOString() : "");
  return since === "" ? "at the last update" : `at ${clockTime(since, now)}`;
}

/**
  * Explains why a page is not live, and how old its data is. said: the server's reason for closing the connection.
  * reached: whether the server answers plain HTTP requests; null if that is not known. at: the time of the data.
 */
export function aloneWords(said: string, reached: boolean | null, at: string, now: number): string {
  const closed = "the WebSocket connection could not be opened (a proxy may block it)";
  const why =
    said !== ""
      ? `Glasshouse reported: ${said}`
      : reached === null
        ? closed
        : reached
          ? `Glasshouse responds, but ${closed}`
          : "Glasshouse cannot be reached from this browser";
  return `Not live: ${why}. Showing data from ${clockTime(at, now)}. Links and forms load new data. ` +
    "Live updates start automatically as soon as possible.";
}

/** A note that the table shows if it has no rows. next: what the user can do. */
export interface Note {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  readonly act: "show-all" | "show-allowed" | "retry" | null;
}

/**
 * Returns the note for a table that shows no rows, or null if none is needed. chosen: the user chose the namespaces.
 * namespaced: the resource is namespaced. guest: the viewer is a guest, who has no permissions to request.
 */
export function note(
  k: Known,
  resource: string,
  total: number,
  narrowed: boolean,
  now: number,
  chosen = false,
  namespaced = true,
  guest = shared() !== null,
): Note | null {
  const say = (title: string, detail: string, next: string, act: Note["act"] = null): Note => ({
    title,
    detail,
    next,
    act,
  });
  if (k.problem !== null)
    return say(
      k.problem.title || "The request failed",
      k.problem.detail,
      narrowed ? "Change the filters, or" : "",
      narrowed ? "show-all" : "retry",
    );
  switch (k.state?.state) {
    case "forbidden": {
      const title = `Forbidden: you can't list ${resource}`;
      // If the user chose no namespaces, the server shows those that the user may read, so there are none.
      if (chosen)
        return say(
          title,
          k.state.reason,
          guest ? "" : "Ask your cluster admin for list and watch access, or",
          "show-allowed",
        );
      return say(
        title,
        k.state.reason,
        guest
          ? ""
          : `${namespaced ? "Choose a namespace that you can read, or ask" : "Ask"} your cluster admin for list and ` +
            "watch access.",
      );
    }
    case "absent":
      return say(
        `${resource} are not available in this cluster`,
        k.state.reason,
        "They appear here automatically once their API is installed.",
      );
    case "failed":
      return say(`Failed to load ${resource}`, k.state.reason, "Retrying automatically.");
  }
  const only = coverage(k);
  const here = (words: string): string => (only === null ? words : `${words} ${only}`);
  const doubted = doubt(k, now);
  const s = status(k, now);
  const where = narrowed ? " matching these namespaces and labels" : "";
  // The note need not say that the data may be out of date, because the banner above the table does.
  if (k.complete && total > 0)
    return say(
      `No ${resource} match the filter`,
      here(`${digits(total)} hidden${s.tone === "live" ? "" : " (as of the last update)"}.`),
      "",
      "show-all",
    );
  const when = lastKnown(k, now);
  const were = here(`There were no ${resource}${where} ${when ?? "now"}.`);
  if (k.complete && doubted !== null) {
    const lost = k.connection === "lost";
    const why = lost
      ? k.said === ""
        ? ""
        : `Glasshouse reported: ${k.said}.`
      : k.state?.reason
        ? `The watch is interrupted: ${k.state.reason}.`
        : "The watch is interrupted.";
    const next = lost
      ? "Retrying automatically. Check that Glasshouse is running."
      : "Retrying automatically. Missed changes are shown after that.";
    return say(doubted, why === "" ? were : `${were} ${why}`, next);
  }
  // The data may be out of date, for example because the new connection has not delivered any yet.
  if (k.complete && when !== null) return say(s.words, were, "");
  if (k.complete && narrowed)
    return say(
      `No ${resource} match these namespaces and labels`,
      only ?? "",
      "New ones appear here automatically.",
      "show-all",
    );
  if (k.complete)
    return say(`No ${resource}`, only ?? "", "New ones appear here automatically.");
  if (k.connection === "lost")
    return say(
      "Disconnected",
      k.said === "" ? "Glasshouse cannot be reached from this browser." : `Glasshouse reported: ${k.said}.`,
      "Retrying automatically. Check that Glasshouse is running.",
    );
  const far = s.count === null ? "" : s.total === null ? `${countWords(s)} so far` : countWords(s);
  if (k.anew)
    return say(
      `Reloading ${resource}…`,
      `The cached data could not be updated${far === "" ? "." : `; ${far}`}`,
      "",
    );
  return say(`Loading ${resource}…`, far, "");
}

/** Returns the note for a resource that the viewer may not read; null if the state is another one. */
export const forbidden = (k: Known, resource: string): Note | null =>
  k.state?.state === "forbidden" ? note(k, resource, 0, false, 0) : null;

/**
  * Returns the text above rows that may be out of date, or in place of an object; null if none is needed. guest: the
  * viewer is a guest.
 */
export function banner(k: Known, now: number, guest = shared() !== null): string | null {
  if (k.connection === "lost")
    return `${doubt(k, now)}${k.said === "" ? "" : ` (${k.said})`}. Data may be out of date. Reconnecting…`;
  if (k.problem !== null) return `${k.problem.title}. ${k.problem.detail}`;
  switch (k.state?.state) {
    case "stale":
      return `${status(k, now).words}: ` +
        `${k.state.reason === "" ? "the watch is interrupted" : k.state.reason}. Data may be out of date.`;
    case "forbidden":
      return `Forbidden: ${k.state.reason}` +
        `${guest ? "" : " Ask your cluster admin for access. The data then appears automatically."}`;
    case "failed":
      return `Failed: ${k.state.reason}. Data may be out of date.`;
    case "absent":
      return "This resource is no longer available in the cluster.";
  }
  return null;
}
