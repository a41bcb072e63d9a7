// Functions for guests, the viewers of a share link. The page shows only what the link shares, and hides all other
// navigation. This is only presentation: the server enforces what a guest may see.

import { clockTime } from "../text/age.ts";
import { withBase } from "../net/base-path.ts";

/** One resource that a share link includes, with the restrictions of the link. */
export interface SharedPart {
  readonly resource: string; // resource ref, such as "core/v1/pods"; "core/v1/pods/log" means logs
  readonly namespaces: readonly string[]; // namespaces that the link includes; empty for all
  readonly labels: string;
  readonly name: string; // name of the only object that the link includes; empty for all objects
  readonly q: string;
  readonly about: string; // only for events: the object that they regard, as "pod.core/web-1"; empty for any
}

// Returns the html element. In tests, it can be undefined, because there is no complete document.
const documentRoot = (): HTMLElement | undefined =>
  (typeof document === "undefined" ? undefined : (document.documentElement as HTMLElement | undefined));

/** Returns the resources that the share link includes. Returns null if the viewer is not a guest. */
export function sharedParts(): readonly SharedPart[] | null {
  const text = documentRoot()?.dataset["shared"];
  if (text === undefined) return null;
  try {
    return readParts(JSON.parse(text));
  } catch {
    return [];
  }
}

/** Decodes the list of resources that a share link includes. Elements that are not objects are skipped. */
export function readParts(value: unknown): SharedPart[] {
  const text = (v: unknown): string => (typeof v === "string" ? v : "");
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  return list
    .filter((v): v is Record<string, unknown> => typeof v === "object" && v !== null)
    .map((p) => ({
      resource: text(p["resource"]),
      labels: text(p["labels"]),
      name: text(p["name"]),
      q: text(p["q"]),
      about: text(p["about"]),
      namespaces: Array.isArray(p["namespaces"])
        ? p["namespaces"].filter((n): n is string => typeof n === "string")
        : [],
    }));
}

/**
 * Reports whether the viewer may see at least some objects of the resource. Always true for viewers who are not
 * guests.
 */
export function isShared(resource: string): boolean {
  const parts = sharedParts();
  return parts === null || parts.some((p) => p.resource === resource);
}

/**
 * Returns the namespaces in which the share link includes a resource. The list is empty for all namespaces. Returns
 * null if the viewer is not a guest.
 */
export const sharedNamespaces = (ref: string): readonly string[] | null =>
  sharedParts()?.find((p) => p.resource === ref)?.namespaces ?? null;

/** Formats a time relative to today, as "14:03", "tomorrow 14:03" or "2026-11-24 14:03". */
export function expiryText(at: string, now: number): string {
  const time = clockTime(at, now).replace(/:\d\d$/, "");
  const [day = "", clock = ""] = time.split(" ");
  if (clock === "") return time;
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  return clockTime(at, tomorrow.getTime()).includes("-") ? `${day} ${clock}` : `tomorrow ${clock}`;
}

/** Opens the page that reports the end of the share. This removes the shared data from the screen. */
export const endShare = (): void => location.replace(withBase("/share#ended"));
