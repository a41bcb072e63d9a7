// What is known, in words. "Live" is said only while it is.

import { clockTime } from "./age.ts";
import { digits } from "./dom.ts";
import { shared } from "./guest.ts";
import type { Connection } from "./live.ts";
import type { Problem, State } from "./wire.ts";

/** All that the words depend on. */
export interface Known {
  readonly connection: Connection;
  readonly since: number; // the connection's
  readonly said: string; // by the server that ended the connection, if it did say something
  readonly state: State | null; // the last one told over this connection
  readonly stale: string | null; // since when it was stale as the connection before was lost, empty where that was not said; null where it was not, or since something was told again
  readonly complete: boolean; // a whole snapshot is held, and no other is to come
  readonly arriving: number; // rows of a snapshot under way,
  readonly expected: number; // of about so many; 0 where that is not known
  readonly problem: Problem | null;
  readonly anew: boolean; // what was held, or came, did not fit: a new snapshot is to come
}

export interface Status {
  /** For the style sheet: live, busy, warn or bad. */
  readonly tone: "live" | "busy" | "warn" | "bad";
  readonly words: string;
  /** What goes with the words and changes often: how many have come, and of how many; null where that is not known. */
  readonly count: number | null;
  readonly total: number | null;
}

export function status(k: Known, now: number): Status {
  const say = (tone: Status["tone"], words: string, count: number | null = null, total: number | null = null): Status => ({ tone, words, count, total });
  const arriving = (words: string): Status => say("busy", words, k.arriving > 0 ? k.arriving : null, k.arriving > 0 && k.expected >= k.arriving ? k.expected : null);
  if (k.connection === "lost") return say("bad", `${doubt(k, now)}, trying again`);
  if (k.connection === "connecting") return say("busy", "Connecting");
  if (k.problem !== null) return say("bad", k.problem.title === "" ? "Failed" : k.problem.title);
  if (k.anew && !k.complete && (k.state === null || k.state.state === "live")) return arriving("Reading anew");
  if (k.state === null) return say("busy", k.complete ? "Catching up" : "Asking");
  switch (k.state.state) {
    case "syncing":
      return k.state.count === null ? arriving("Syncing") : say("busy", "Syncing", k.state.count, k.state.total);
    case "live":
      return k.complete ? say("live", "Live") : arriving("Receiving");
    case "stale":
      return say("warn", doubt(k, now) ?? "Stale");
    case "forbidden":
      return say("bad", "Forbidden");
    case "absent":
      return say("warn", "Not served");
    case "failed":
      return say("bad", "Failed");
  }
}

/** Whether it is known how many there are: what may not be read, is not served or failed is not nought. */
export function counted(k: Known): boolean {
  return k.problem === null && !["forbidden", "absent", "failed"].includes(k.state?.state ?? "");
}

/** The numbers that go with a status; empty where there are none. */
export function countWords({ count, total }: Pick<Status, "count" | "total">): string {
  return count === null ? "" : total === null ? digits(count) : `${digits(count)} of ${digits(total)}`;
}

/** How much of a long message has come, in bytes. */
export function partWords(told: number, of: number): string {
  return `${digits(told >> 10)} of ${digits(Math.ceil(of / 1024))} KiB received`;
}

/** How often something was read anew since the page was opened, null for never. */
export function anewWords(times: number): string | null {
  return times === 0 ? null : times === 1 ? "read anew once" : `read anew ${digits(times)} times`;
}

/** Says which namespaces are covered where not all that were asked for are, null where they are. */
export function coverage(k: Known): string | null {
  const covered = k.state?.namespaces ?? [];
  const why = k.state?.state === "live" && k.state.reason !== "" ? k.state.reason : "you may not list the others.";
  return covered.length === 0 ? null : `Only ${covered.join(", ")}: ${why}`;
}

/** Since when what is held may be true no more, in words; null while it is told. */
export function doubt(k: Pick<Known, "connection" | "since" | "state">, now: number): string | null {
  if (k.connection === "lost") return `Disconnected since ${clockTime(new Date(k.since).toISOString(), now)}`;
  if (k.state?.state === "stale") return k.state.since === "" ? "Stale" : `Stale since ${clockTime(k.state.since, now)}`;
  return null;
}

/** When what is held was last known to be true, in words; null while it is. */
export function lastKnown(k: Known, now: number): string | null {
  if (status(k, now).tone === "live") return null;
  // What was stale was so before the connection was lost.
  const stale = k.state?.state === "stale" ? k.state.since : k.stale;
  const since = stale ?? (k.connection === "lost" ? new Date(k.since).toISOString() : "");
  return since === "" ? "when it was last known" : `at ${clockTime(since, now)}`;
}

/** Why a page is not live that never was, and since when what it shows is. reached: whether the server answers what is asked for by itself; null where that is not known. */
export function aloneWords(said: string, reached: boolean | null, at: string, now: number): string {
  const closed = "no WebSocket to it can be opened, as where a proxy forbids them";
  const why = said !== "" ? `Glasshouse said: ${said}` : reached === null ? closed.replace("it", "Glasshouse") : reached ? `Glasshouse answers, but ${closed}` : "Glasshouse cannot be reached from this browser";
  return `Not live: ${why}. What is shown was read at ${clockTime(at, now)}; its links and boxes read anew, and it becomes live by itself as soon as it can.`;
}

/** A note that stands where the rows would, with the next step. */
export interface Note {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  readonly act: "show-all" | "show-allowed" | "retry" | null;
}

/** The note for a table that shows no row, null while nothing is to be said. chosen: it is one of namespaces that somebody chose; namespaced: the kind is; guest: whom something is shared with, who has no right to ask for. */
export function note(k: Known, resource: string, total: number, narrowed: boolean, now: number, chosen = false, namespaced = true, guest = shared() !== null): Note | null {
  const say = (title: string, detail: string, next: string, act: Note["act"] = null): Note => ({ title, detail, next, act });
  if (k.problem !== null) return say(k.problem.title || "The request failed", k.problem.detail, narrowed ? "Change the filters, or" : "", narrowed ? "show-all" : "retry");
  switch (k.state?.state) {
    case "forbidden": {
      const title = `You may not list ${resource}`;
      // Without a choice the server shows the namespaces that may be read.
      if (chosen) return say(title, k.state.reason, guest ? "" : "Ask for the right to list and watch them, or", "show-allowed");
      return say(title, k.state.reason, guest ? "" : `${namespaced ? "Choose a namespace that you may read, or ask" : "Ask"} for the right to list and watch them.`);
    }
    case "absent":
      return say(`This cluster does not serve ${resource}`, k.state.reason, "They appear here by themselves once their API is installed.");
    case "failed":
      return say(`Reading ${resource} failed`, k.state.reason, "It is tried again by itself.");
  }
  const only = coverage(k);
  const here = (words: string): string => (only === null ? words : `${words} ${only}`);
  const doubted = doubt(k, now);
  const s = status(k, now);
  const where = narrowed ? " in the namespaces and with the labels chosen" : "";
  // The banner stands above it.
  if (k.complete && total > 0) return say("Nothing matches", here(`None of ${s.tone === "live" ? `${digits(total)} ${resource}` : `the ${digits(total)} ${resource} known then`} matches the filter.`), "", "show-all");
  const when = lastKnown(k, now);
  const were = here(`There were none${where} ${when ?? "now"}.`);
  if (k.complete && doubted !== null) {
    const lost = k.connection === "lost";
    const why = lost ? (k.said === "" ? "" : `Glasshouse said: ${k.said}.`) : k.state?.reason ? `The cluster's watch is interrupted: ${k.state.reason}.` : "The cluster's watch is interrupted.";
    const next = lost ? "It is tried again by itself. Is the program still running?" : "It is tried again by itself; what came meanwhile is shown then.";
    return say(doubted, why === "" ? were : `${were} ${why}`, next);
  }
  // Over a new connection nothing has been told yet.
  if (k.complete && when !== null) return say(s.words, were, "");
  if (k.complete && narrowed) return say(`No ${resource} here`, here("There is none in the namespaces and with the labels chosen."), "The first one appears by itself, or", "show-all");
  if (k.complete) return say(`No ${resource}`, only ?? "The cluster holds none now.", "The first one appears here by itself.");
  if (k.connection === "lost") return say("Disconnected", k.said === "" ? "Glasshouse cannot be reached from this browser." : `Glasshouse said: ${k.said}.`, "It is tried again by itself. Is the program still running?");
  const far = s.count === null ? "" : s.total === null ? `${countWords(s)} so far` : countWords(s);
  if (k.anew) return say(`Reading ${resource} anew`, `What was held could not be carried on from${far === "" ? "." : `; ${far}`}`, "");
  return say(`Reading ${resource}`, far, "");
}

/** The note where what was seen may not be seen any more, null where it may. */
export const forbidden = (k: Known, resource: string): Note | null => (k.state?.state === "forbidden" ? note(k, resource, 0, false, 0) : null);

/** What is to be said above rows that are shown but may not be true, or in the place of an object, null if there is nothing. guest: as note has it. */
export function banner(k: Known, now: number, guest = shared() !== null): string | null {
  if (k.connection === "lost") return `${doubt(k, now)}${k.said === "" ? "" : `: ${k.said}`}. What is shown is from before, and is brought up to date as soon as the server answers.`;
  if (k.problem !== null) return `${k.problem.title}. ${k.problem.detail}`;
  switch (k.state?.state) {
    case "stale":
      return `${status(k, now).words}: ${k.state.reason === "" ? "the cluster's watch is interrupted" : k.state.reason}. What is shown may have changed since.`;
    case "forbidden":
      return `Forbidden: ${k.state.reason}${guest ? "" : " Ask for that right: with it, this appears here by itself."}`;
    case "failed":
      return `Failed: ${k.state.reason}. What is shown may have changed since.`;
    case "absent":
      return "The cluster no longer serves this kind.";
  }
  return null;
}
