// The choices for a share link (a read-only URL for guests): what to share and for how long, and texts about them.

import { humanDuration } from "./age.ts";
import { readParts, type Part } from "./guest.ts";
import type { Kind } from "./kinds.ts";
import { formatView, objectHref, plain, type ObjectName, type View } from "./view.ts";

/** What a user wants to share. */
export type Choice =
  | {
      readonly what: "view";
      readonly kind: Kind;
      readonly view: View;
      readonly logs: boolean;
      readonly events: boolean;
    }
  | {
      readonly what: "object";
      readonly kind: Kind;
      readonly name: ObjectName;
      readonly tab: string;
      readonly logs: boolean;
      readonly events: boolean;
    }
  | { readonly what: "kinds"; readonly kinds: readonly Kind[]; readonly ns: readonly string[] };

export const pods = "core/v1/pods";
const logs = `${pods}/log`;
const events = "core/v1/events";

/** The namespace of the events of cluster-scoped objects. */
export const eventsOfNone = "default";

/** The lifetimes of a link that the user can choose from. The second is the default. */
export const times = [
  { seconds: 3600, words: "1 hour" },
  { seconds: 86_400, words: "24 hours" },
  { seconds: 7 * 86_400, words: "7 days" },
  { seconds: 30 * 86_400, words: "30 days" },
] as const;

/** The maximum length of the note on a link, in characters. */
export const longestNote = 200;

const part = (resource: string, more: Partial<Part> = {}): Part => ({
  resource,
  namespaces: [],
  labels: "",
  name: "",
  q: "",
  about: "",
  ...more,
});

/** Returns the parts of the cluster that a link with this choice shares. */
export function partsOf(c: Choice): Part[] {
  switch (c.what) {
    case "kinds":
      return c.kinds.map((k) => part(k.ref, { namespaces: k.namespaced ? c.ns : [] }));
    case "view": {
      const { ns, labels, q } = c.view;
      const namespaces = c.kind.namespaced ? ns : [];
      const own = { namespaces, labels, q };
      return [
        part(c.kind.ref, own),
        ...(hasLogs(c.kind) && c.logs ? [part(logs, own)] : []),
        ...(hasEvents(c.kind) && c.events
          ? [part(events, { namespaces: c.kind.namespaced ? ns : [eventsOfNone] })]
          : []),
      ];
    }
    case "object": {
      const { kind, name } = c;
      const own = { namespaces: kind.namespaced ? [name.ns] : [], name: name.name };
      const [group = ""] = kind.ref.split("/");
      const about = {
        namespaces: [kind.namespaced ? name.ns : eventsOfNone],
        about: `${kind.kind.toLowerCase()}.${group}/${name.name}`,
      };
      return [
        part(kind.ref, own),
        ...(hasLogs(kind) && c.logs ? [part(logs, own)] : []),
        ...(hasEvents(kind) && c.events ? [part(events, about)] : []),
      ];
    }
  }
}

export const hasLogs = (kind: Kind): boolean => kind.ref === pods;
export const hasEvents = (kind: Kind): boolean => kind.resource !== "events";

/** Returns the URL path that a link with this choice opens, relative to the server's base path. */
export function toOf(c: Choice, base: string): string {
  const own = (href: string): string => href.slice(base.length).replace(/[?&]kiosk=1$/, "");
  switch (c.what) {
    case "view":
      return own(formatView(c.view));
    case "object":
      return own(objectHref(c.kind.ref, c.name, c.tab));
    case "kinds": {
      const [first] = c.kinds;
      return first === undefined ? "/" : own(formatView({ ...plain(first.ref), ns: first.namespaced ? c.ns : [] }));
    }
  }
}

/** Returns the body of the API request that creates a link. */
export const bodyOf = (
  c: Choice,
  base: string,
  seconds: number,
  note: string,
): { parts: Part[]; to: string; seconds: number; note: string } => ({
  parts: partsOf(c),
  to: toOf(c, base),
  seconds,
  note: note.trim(),
});

/** Describes one shared part: "pods in shop with app=web that match “err”". */
export function partWords(p: Part): string {
  const [, , resource = p.resource, sub] = p.resource.split("/");
  const of = sub === "log" ? "logs of " : "";
  const where = p.namespaces.length === 0 ? "" : ` in ${listed(p.namespaces)}`;
  if (p.name !== "") {
    const name = p.namespaces.length === 1 ? `${p.namespaces[0]}/${p.name}` : p.name;
    return sub === "log" ? `the log of ${name}` : `${name} (${resource})`;
  }
  const labels = p.labels === "" ? "" : ` with ${p.labels}`;
  const q = p.q === "" ? "" : ` that match “${p.q}”`;
  const about = p.about === "" ? "" : ` about ${p.about.replace(".core/", "/")}`;
  const all = where + labels + q + about === "" ? "all " : "";
  return `${of}${all}${resource}${where}${labels}${q}${about}`;
}

/** Describes several shared parts in one text. Parts in the same namespaces are grouped. */
export function partsWords(parts: readonly Part[]): string {
  const [first, ...rest] = parts;
  if (first !== undefined && rest.length > 0 && rest.every((p) => besideWords(first, p) !== null))
    return listed([partWords(first), ...rest.map((p) => besideWords(first, p) ?? "")]);
  const alike =
    parts.length > 2 &&
    parts.every(
      (p) => p.name === "" && p.labels === "" && p.q === "" && p.about === "" && p.resource.split("/").length === 3,
    );
  const spaces = [...new Set(parts.map((p) => p.namespaces.join()))].filter((ns) => ns !== "");
  if (!alike || spaces.length > 1) return listed(parts.map(partWords));
  const { namespaces } = parts.find((p) => p.namespaces.length > 0) ?? { namespaces: [] };
  return `${listed(parts.map((p) => p.resource.split("/")[2] ?? p.resource))}` +
    `${namespaces.length === 0 ? "" : ` in ${listed(namespaces)}`}`;
}

/** Describes what guests of a link with these parts see. open: whether the server requires no login. */
export function seesWords(parts: readonly Part[], open: boolean): string {
  if (parts.length === 0) return "Select at least one resource and its namespaces.";
  const words = partsWords(parts);
  return open
    ? `The link shows ${words}. Login is off: anyone who can reach this address can already see everything.`
    : `Viewers see ${words}, and nothing else.`;
}

// Describes p if it only accompanies the part of, as a pod's log accompanies the pod; otherwise returns null.
function besideWords(of: Part, p: Part): string | null {
  const same = JSON.stringify({ ...p, resource: "" }) === JSON.stringify({ ...of, resource: "" });
  if (p.resource === logs && same) return of.name === "" ? "their logs" : "its log";
  if (p.resource !== events || of.name === "")
    return p.resource === events && p.q + p.about === "" && p.namespaces.join() === of.namespaces.join()
      ? "all events in the same namespaces"
      : null;
  return p.about.endsWith(`/${of.name}`) ? "events about it" : null;
}

function listed(words: readonly string[]): string {
  if (words.length > 6) return `${words.slice(0, 5).join(", ")} and ${words.length - 5} more`;
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** Names the content that guests see without masking of sensitive values; null if everything is masked. */
export function bareWords(parts: readonly Part[]): string | null {
  const log = parts.some((p) => p.resource === logs);
  const event = parts.some((p) => /\/events$/.test(p.resource));
  if (!log && !event) return null;
  const what = log && event ? "Logs and event messages" : log ? "Logs" : "Event messages";
  return `${what} are not masked.`;
}

/** An existing share link, as the server lists it. */
export interface Link {
  readonly id: string;
  readonly to: string;
  readonly expires: string; // RFC 3339, as created and lastUsed
  readonly created: string;
  readonly lastUsed: string; // empty: never used
  readonly note: string;
  readonly creator: string; // empty if the server requires no login
  readonly viewers: number;
  readonly parts: readonly Part[];
}

/** Decodes the response to GET /api/v1/shares; null if it is invalid. */
export function readLinks(body: unknown): { links: Link[]; persistent: boolean } | null {
  const all = fieldsOf(body);
  if (!Array.isArray(all["shares"])) return null;
  return {
    links: all["shares"].map((s) => readLink(fieldsOf(s))).filter((s) => s.id !== ""),
    persistent: all["persistent"] === true,
  };
}

/** Decodes the response to POST /api/v1/shares; null if it is invalid. */
export function readMade(body: unknown): { url: string; persistent: boolean; link: Link } | null {
  const made = fieldsOf(body);
  const url = text(made["url"]);
  return url === "" ? null : { url, persistent: made["persistent"] === true, link: readLink(made) };
}

function readLink(s: Readonly<Record<string, unknown>>): Link {
  const viewers = s["viewers"];
  return {
    id: text(s["id"]),
    to: text(s["to"]),
    expires: text(s["expires"]),
    created: text(s["created"]),
    lastUsed: text(s["lastUsed"]),
    note: text(s["note"]),
    creator: text(s["creator"]) || text(fieldsOf(s["creator"])["name"]),
    viewers: typeof viewers === "number" ? viewers : 0,
    parts: readParts(s["parts"]),
  };
}

const text = (v: unknown): string => (typeof v === "string" ? v : "");
const fieldsOf = (v: unknown): Readonly<Record<string, unknown>> =>
  typeof v === "object" && v !== null ? (v as Readonly<Record<string, unknown>>) : {};

/** Describes a link: its creator, its expiry, the number of viewers and the time of the last use. */
export function linkWords(l: Link, now: number): string {
  const left = Date.parse(l.expires) - now;
  return [
    ...(l.creator === "" ? [] : [`by ${l.creator}`]),
    left <= 0 ? "expired" : `expires in ${humanDuration(left > 3_600_000 ? left + 59_000 : left)}`,
    `${l.viewers} viewing`,
    l.viewers > 0
      ? ""
      : l.lastUsed === ""
        ? "never used"
        : `last used ${humanDuration(Math.max(0, now - Date.parse(l.lastUsed)))} ago`,
  ]
    .filter((w) => w !== "")
    .join(" · ");
}

/** Whether a host name is a loopback address. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

/** Returns the URL of a link that opens in kiosk mode (for wall displays). The secret after "#" stays at the end. */
export function kioskUrl(url: string): string {
  const at = url.indexOf("#");
  return at < 0 ? url : `${url.slice(0, at)}?kiosk=1${url.slice(at)}`;
}
