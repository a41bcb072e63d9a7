// To whom something is shared, the page tells what that is, and offers nothing
// that leads beyond it. What may be seen the server decides; this is for the looks.

import { clockTime } from "./age.ts";
import { under } from "./base.ts";
import { setText } from "./dom.ts";

/** One resource of what is shared, all of it or some. */
export interface Part {
  readonly resource: string; // its ref; that of logs is "core/v1/pods/log"
  readonly namespaces: readonly string[]; // empty: all
  readonly labels: string;
  readonly name: string; // empty: any
  readonly q: string;
  readonly about: string; // of events alone: the object that they are about, as "pod.core/web-1"; empty: any
}

const root = (): HTMLElement | undefined => (typeof document === "undefined" ? undefined : (document.documentElement as HTMLElement | undefined)); // Tests have no page, or a part of one.

/** What is shared with whom looks; null for who looks by a right of their own. */
export function shared(): readonly Part[] | null {
  const text = root()?.dataset["shared"];
  if (text === undefined) return null;
  try {
    return readParts(JSON.parse(text));
  } catch {
    return [];
  }
}

/** Reads parts. What cannot be read is left out. */
export function readParts(value: unknown): Part[] {
  const text = (v: unknown): string => (typeof v === "string" ? v : "");
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  return list.filter((v): v is Record<string, unknown> => typeof v === "object" && v !== null).map((p) => ({
    resource: text(p["resource"]), labels: text(p["labels"]), name: text(p["name"]), q: text(p["q"]), about: text(p["about"]),
    namespaces: Array.isArray(p["namespaces"]) ? p["namespaces"].filter((n): n is string => typeof n === "string") : [],
  }));
}

/** Whether who looks may be shown something of a resource. */
export function isShared(resource: string): boolean {
  const parts = shared();
  return parts === null || parts.some((p) => p.resource === resource);
}

/** The namespaces to which a kind is shared; empty for all, null for who looks by a right of their own. */
export const sharedSpaces = (ref: string): readonly string[] | null => shared()?.find((p) => p.resource === ref)?.namespaces ?? null;

/** Has the page say until when, by the clock of who looks. */
export function tellUntil(now: () => number): void {
  const time = document.getElementById("until");
  const at = time?.getAttribute("datetime") ?? "";
  const tell = (): void => {
    if (time !== null) setText(time, untilWords(at, now()));
  };
  if (time !== null) time.title = new Date(at).toString();
  tell();
  setInterval(tell, 60_000); // It may be today by then.
}

/** A time in the words of a day: "14:03", "tomorrow 14:03", "2026-11-24 14:03". */
export function untilWords(at: string, now: number): string {
  const time = clockTime(at, now).replace(/:\d\d$/, "");
  const [day = "", clock = ""] = time.split(" ");
  if (clock === "") return time;
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  return clockTime(at, tomorrow.getTime()).includes("-") ? `${day} ${clock}` : `tomorrow ${clock}`;
}

/** What was shared is no more: leads to the page that says so, and takes what was seen with it. */
export const endShare = (): void => location.replace(under("/share#ended"));
