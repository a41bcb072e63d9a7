// Share links: what a guest (a viewer of a share link) can see. Only the server enforces these limits.

import { clockTime } from "../text/age.ts";
import { withBase } from "../net/base-path.ts";
import { text } from "../net/text.ts";

export interface SharedPart {
  readonly resource: string; // such as "core/v1/pods", or "core/v1/pods/log" for logs
  readonly namespaces: readonly string[]; // namespaces of the shared objects; empty for all namespaces
  readonly labels: string;
  readonly name: string; // name of the only shared object; empty for all objects
  readonly q: string;
  readonly about: string; // limits shared events to those of this object, such as "pod.core/web-1"; empty for no limit
}

// Returns the html element. In tests, it can be undefined, because there is no complete document.
const documentRoot = (): HTMLElement | undefined =>
  typeof document === "undefined" ? undefined : (document.documentElement as HTMLElement | undefined);

/** Returns the resources and objects that the share link includes, or null if the viewer is not a guest. */
export function sharedParts(): readonly SharedPart[] | null {
  const text = documentRoot()?.dataset["shared"];
  if (text === undefined) return null;
  try {
    return readParts(JSON.parse(text));
  } catch {
    return [];
  }
}

export function readParts(value: unknown): SharedPart[] {
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

/** Reports whether the viewer's share link includes a resource. For viewers who are not guests, returns true. */
export function isShared(resource: string): boolean {
  const parts = sharedParts();
  return parts === null || parts.some((p) => p.resource === resource);
}

/**
 * Returns the namespaces in which the share link includes a resource. An empty list means all namespaces. null means
 * that the viewer is not a guest, or that the link does not include the resource.
 */
export const sharedNamespaces = (ref: string): readonly string[] | null =>
  sharedParts()?.find((p) => p.resource === ref)?.namespaces ?? null;

/** Returns a time such as "14:03", "tomorrow 14:03" or "2026-11-24 14:03". */
export function expiryText(at: string, now: number): string {
  const time = clockTime(at, now).replace(/:\d\d$/, "");
  const [day = "", clock = ""] = time.split(" ");
  if (clock === "") return time;
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  return clockTime(at, tomorrow.getTime()).includes("-") ? `${day} ${clock}` : `tomorrow ${clock}`;
}

/** Leaves the page after the share has ended, so that the shared data does not stay on the screen. */
export const endShare = (): void => location.replace(withBase("/share#ended"));
