// Functions for guests, the viewers of a share link. The page shows them what the link shares, and offers no navigation
// beyond it. This is presentation only: the server enforces what a guest may see.

import { clockTime } from "../text/age.ts";
import { withBase } from "../net/base-path.ts";

/** One shared resource, with its restrictions. */
export interface SharedPart {
  readonly resource: string; // its ref; "core/v1/pods/log" for logs
  readonly namespaces: readonly string[]; // the shared namespaces; empty for all
  readonly labels: string;
  readonly name: string; // the name of the only shared object; empty for any
  readonly q: string;
  readonly about: string; // for events only: the regarded object, as "pod.core/web-1"; empty: any
}

// Returns the html element. It is undefined in tests, which have no document, or only a part of one.
const documentRoot = (): HTMLElement | undefined =>
  (typeof document === "undefined" ? undefined : (document.documentElement as HTMLElement | undefined));

/** Returns what the link shares with the guest; null for a viewer who is not a guest. */
export function sharedParts(): readonly SharedPart[] | null {
  const text = documentRoot()?.dataset["shared"];
  if (text === undefined) return null;
  try {
    return readParts(JSON.parse(text));
  } catch {
    return [];
  }
}

/** Decodes a list of shared parts. Invalid ones are left out. */
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

/** Whether the viewer is no guest, or the link shares at least some objects of the resource. */
export function isShared(resource: string): boolean {
  const parts = sharedParts();
  return parts === null || parts.some((p) => p.resource === resource);
}

/** Returns the namespaces in which a resource is shared; empty for all, null for a viewer who is not a guest. */
export const sharedNamespaces = (ref: string): readonly string[] | null =>
  sharedParts()?.find((p) => p.resource === ref)?.namespaces ?? null;

/** Formats a time relative to today: "14:03", "tomorrow 14:03", "2026-11-24 14:03". */
export function expiryText(at: string, now: number): string {
  const time = clockTime(at, now).replace(/:\d\d$/, "");
  const [day = "", clock = ""] = time.split(" ");
  if (clock === "") return time;
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  return clockTime(at, tomorrow.getTime()).includes("-") ? `${day} ${clock}` : `tomorrow ${clock}`;
}

/** Leaves for the page that reports the end of the share. This removes the shared data from the screen. */
export const endShare = (): void => location.replace(withBase("/share#ended"));
