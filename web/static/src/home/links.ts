// Links of the home page. A guest (a viewer of a share link) gets links only to shared data.

import { sharedParts } from "../model/guest.ts";
import { defaultView, formatView, objectHref, type LogSelection } from "../model/view.ts";
import type { ObjectRef } from "../net/overview.ts";

/** Returns the URL of an object, or null if the viewer cannot open the object. */
export function hrefOf(o: ObjectRef, tab = "", log?: LogSelection): string | null {
  if (o.resource === "" || o.name === "") return null;
  if (!includes(o, o.resource) || (tab === "logs" && !includes(o, "core/v1/pods/log"))) return null;
  return objectHref(o.resource, o, tab, log);
}

// Reports whether the viewer's share link includes `resource` of an object: the object itself, or other data such as
// its log. True for viewers who are not guests.
const includes = (o: ObjectRef, resource: string): boolean =>
  sharedParts()?.some(
    (p) =>
      p.resource === resource &&
      (p.name === "" || p.name === o.name) &&
      (p.namespaces.length === 0 || p.namespaces.includes(o.ns)),
  ) ?? true;

/** Returns the URL of a list, or null if the viewer cannot open it. */
export const listHref = (resource: string, ns: readonly string[], q = ""): string | null => {
  const parts = sharedParts();
  return parts === null || parts.some((p) => p.resource === resource && p.name === "")
    ? formatView({ ...defaultView(resource), ns, q })
    : null;
};
