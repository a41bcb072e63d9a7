// Share links are read-only URLs for guests. This file defines their scope and duration, and creates texts about them.

import { humanDuration } from "../text/age.ts";
import { readParts, type SharedPart } from "../model/guest.ts";
import { formatHome, type HomeView } from "../model/home-view.ts";
import type { Kind } from "../net/kinds.ts";
import { pluralOf } from "../net/plural-of.ts";
import { text } from "../net/text.ts";
import type { Watched } from "../net/overview.ts";
import { formatView, objectHref, defaultView, type ObjectName, type View } from "../model/view.ts";

/** What a user has selected to share. */
export type ShareChoice =
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
  | {
      readonly what: "home";
      readonly view: HomeView;
      readonly resources: readonly HomeResource[];
      readonly logs: boolean;
      readonly events: boolean;
    }
  | { readonly what: "kinds"; readonly kinds: readonly Kind[]; readonly ns: readonly string[] };

/** A resource whose problems the home page shows. */
interface HomeResource {
  readonly ref: string;
  readonly namespaces: readonly string[]; // empty for all, and for cluster-scoped resources
}

const pods = "core/v1/pods";
const logs = `${pods}/log`;
const events = "core/v1/events";

/** The namespace in which Kubernetes stores the events of cluster-scoped objects. */
export const clusterEventsNamespace = "default";

/** The lifetimes that the user can select for a link. The second one is the default. */
export const linkLifetimes = [
  { seconds: 3600, words: "1 hour" },
  { seconds: 86_400, words: "24 hours" },
  { seconds: 7 * 86_400, words: "7 days" },
  { seconds: 30 * 86_400, words: "30 days" },
] as const;

/** The maximum number of characters in the note of a link. */
export const maxNoteLength = 200;

const sharedPart = (resource: string, more: Partial<SharedPart> = {}): SharedPart => ({
  resource,
  namespaces: [],
  labels: "",
  name: "",
  q: "",
  about: "",
  ...more,
});

// The maximum number of parts in a link. The server refuses links with more.
const maxParts = 100;

/**
 * Returns the resources that a link to the home page shares: those that the page reads, in the selected namespaces.
 * It omits Secrets, because guests do not need the names of all Secrets to understand the problems.
 */
export function homeResources(
  ns: readonly string[],
  watched: readonly Pick<Watched, "resource" | "state" | "namespaces">[],
  kinds: readonly Kind[],
): HomeResource[] {
  return watched.flatMap(({ resource: ref, state, namespaces }) => {
    const kind = kinds.find((k) => k.ref === ref);
    if (kind === undefined || ref === "core/v1/secrets" || !(state === "live" || state === "stale")) return [];
    if (!kind.namespaced) return ns.length > 0 ? [] : [{ ref, namespaces: [] }];
    return [{ ref, namespaces: ns.length > 0 ? ns : namespaces }];
  });
}

/** Returns the resources that a link for this choice includes, each with its restrictions. */
export function partsOf(c: ShareChoice): SharedPart[] {
  switch (c.what) {
    case "kinds":
      return c.kinds.map((k) => sharedPart(k.ref, { namespaces: k.namespaced ? c.ns : [] }));
    case "home": {
      const part = ({ ref, namespaces }: HomeResource): SharedPart => sharedPart(ref, { namespaces });
      const pod = c.resources.filter((r) => r.ref === pods);
      // If a link has many parts, its description names only the first ones. So put pods and the unmasked logs and
      // events first.
      return [
        ...pod.map(part),
        ...(c.logs ? pod.map(({ namespaces }) => sharedPart(logs, { namespaces })) : []),
        ...(c.events ? c.resources.filter((r) => r.ref === events).map(part) : []),
        ...c.resources.filter((r) => r.ref !== pods && r.ref !== events).map(part),
      ].slice(0, maxParts);
    }
    case "view": {
      const { ns, labels, q } = c.view;
      const namespaces = c.kind.namespaced ? ns : [];
      const restriction = { namespaces, labels, q };
      return [
        sharedPart(c.kind.ref, restriction),
        ...(hasPodLogs(c.kind) && c.logs ? [sharedPart(logs, restriction)] : []),
        ...(hasKindEvents(c.kind) && c.events
          ? [sharedPart(events, { namespaces: c.kind.namespaced ? ns : [clusterEventsNamespace] })]
          : []),
      ];
    }
    case "object": {
      const { kind, name } = c;
      const restriction = { namespaces: kind.namespaced ? [name.ns] : [], name: name.name };
      const [group = ""] = kind.ref.split("/");
      const about = {
        namespaces: [kind.namespaced ? name.ns : clusterEventsNamespace],
        about: `${kind.kind.toLowerCase()}.${group}/${name.name}`,
      };
      return [
        sharedPart(kind.ref, restriction),
        ...(hasPodLogs(kind) && c.logs ? [sharedPart(logs, restriction)] : []),
        ...(hasKindEvents(kind) && c.events ? [sharedPart(events, about)] : []),
      ];
    }
  }
}

const hasPodLogs = (kind: Kind): boolean => kind.ref === pods;
const hasKindEvents = (kind: Kind): boolean => kind.resource !== "events";

/** Reports whether a link for this choice can include logs. */
export const hasLogs = (c: ShareChoice): boolean =>
  c.what === "home" ? c.resources.some((r) => r.ref === pods) : c.what !== "kinds" && hasPodLogs(c.kind);

/** Reports whether a link for this choice can include events. */
export const hasEvents = (c: ShareChoice): boolean =>
  c.what === "home" ? c.resources.some((r) => r.ref === events) : c.what !== "kinds" && hasKindEvents(c.kind);

/** Returns the URL path that a link for this choice opens. The path does not include the prefix of --base-path. */
export function targetPath(c: ShareChoice, base: string): string {
  const withoutBase = (href: string): string => href.slice(base.length).replace(/[?&]kiosk=1$/, "");
  switch (c.what) {
    case "view":
      return withoutBase(formatView(c.view));
    case "home":
      // The home page of several namespaces has no URL path, so use the path for all namespaces. The link shares only
      // data of the selected namespaces, so the page shows only these.
      return withoutBase(formatHome(c.view.ns.length === 1 ? c.view : { ...c.view, ns: [] }));
    case "object":
      return withoutBase(objectHref(c.kind.ref, c.name, c.tab));
    case "kinds": {
      const [first] = c.kinds;
      return first === undefined
        ? "/"
        : withoutBase(formatView({ ...defaultView(first.ref), ns: first.namespaced ? c.ns : [] }));
    }
  }
}

export const requestBody = (
  c: ShareChoice,
  base: string,
  seconds: number,
  note: string,
): { parts: SharedPart[]; to: string; seconds: number; note: string } => ({
  parts: partsOf(c),
  to: targetPath(c, base),
  seconds,
  note: note.trim(),
});

// Returns the ref of a part's resource. The part of logs names the subresource "log".
const refOf = ({ resource }: SharedPart): string => resource.split("/", 3).join("/");

/** Describes one shared resource, such as "Pods in shop with app=web that match “err”". */
function partText(p: SharedPart, kinds: readonly Kind[]): string {
  const sub = p.resource.split("/")[3];
  const logPrefix = sub === "log" ? "logs of " : "";
  const namespaceText = p.namespaces.length === 0 ? "" : ` in ${joinList(p.namespaces)}`;
  if (p.name !== "") {
    const name = p.namespaces.length === 1 ? `${p.namespaces[0]}/${p.name}` : p.name;
    return sub === "log"
      ? `the log of ${name}`
      : `${name} (${kinds.find((k) => k.ref === p.resource)?.kind ?? pluralOf(refOf(p), kinds)})`;
  }
  const labels = p.labels === "" ? "" : ` with ${p.labels}`;
  const q = p.q === "" ? "" : ` that match “${p.q}”`;
  const about = p.about === "" ? "" : ` about ${p.about.replace(".core/", "/")}`;
  const all = namespaceText + labels + q + about === "" ? "all " : "";
  return `${logPrefix}${all}${pluralOf(refOf(p), kinds)}${namespaceText}${labels}${q}${about}`;
}

/** Describes all shared resources in one text. Resources with the same namespaces are grouped. */
export function partsText(parts: readonly SharedPart[], kinds: readonly Kind[]): string {
  const [first, ...rest] = parts;
  if (first !== undefined && rest.length > 0 && rest.every((p) => companionText(first, p) !== null))
    return joinList([partText(first, kinds), ...rest.map((p) => companionText(first, p) ?? "")]);
  const isUniform =
    parts.length > 2 &&
    parts.every(
      (p) => p.name === "" && p.labels === "" && p.q === "" && p.about === "" && p.resource.split("/").length === 3,
    );
  const namespaceSets = [...new Set(parts.map((p) => p.namespaces.join()))].filter((ns) => ns !== "");
  if (!isUniform || namespaceSets.length > 1) return joinList(parts.map((p) => partText(p, kinds)));
  const { namespaces } = parts.find((p) => p.namespaces.length > 0) ?? { namespaces: [] };
  return (
    `${joinList(parts.map((p) => pluralOf(refOf(p), kinds)))}` +
    `${namespaces.length === 0 ? "" : ` in ${joinList(namespaces)}`}`
  );
}

/** Describes what the guests of a link see. The parameter `open` is true if the server requires no login. */
export function visibilityText(parts: readonly SharedPart[], kinds: readonly Kind[], open: boolean): string {
  if (parts.length === 0) return "Select at least one resource. For namespaced resources, also select namespaces.";
  const description = partsText(parts, kinds);
  return open
    ? `The link shows ${description}. Login is off: anyone who can reach this address can already see everything.`
    : `Viewers see ${description}, and nothing else.`;
}

// Returns a short text (such as "its log") if the part `p` only adds the logs or events of the part `main`. With this
// text, one phrase can describe both parts. Otherwise, returns null.
function companionText(main: SharedPart, p: SharedPart): string | null {
  const same = JSON.stringify({ ...p, resource: "" }) === JSON.stringify({ ...main, resource: "" });
  if (p.resource === logs && same) return main.name === "" ? "their logs" : "its log";
  if (p.resource !== events || main.name === "")
    return p.resource === events && p.q + p.about === "" && p.namespaces.join() === main.namespaces.join()
      ? "all Events in the same namespaces"
      : null;
  return p.about.endsWith(`/${main.name}`) ? "Events about it" : null;
}

function joinList(items: readonly string[]): string {
  if (items.length > 6) return `${items.slice(0, 5).join(", ")} and ${items.length - 5} more`;
  return items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;
}

/**
 * Returns a warning that logs or events in the link are unmasked and can contain sensitive values. Returns null if the
 * link includes neither.
 */
export function unmaskedText(parts: readonly SharedPart[]): string | null {
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
  readonly expires: string; // time in RFC 3339 format; created and lastUsed have the same format
  readonly created: string;
  readonly lastUsed: string; // time of the last use; empty if the link was never used
  readonly note: string;
  readonly creator: string; // empty if the server requires no login
  readonly viewers: number;
  readonly parts: readonly SharedPart[];
}

/** Decodes the response to GET /api/v1/shares. Returns null if it is invalid. */
export function readLinks(body: unknown): { links: Link[]; persistent: boolean } | null {
  const all = fieldsOf(body);
  if (!Array.isArray(all["shares"])) return null;
  return {
    links: all["shares"].map((s) => readLink(fieldsOf(s))).filter((s) => s.id !== ""),
    persistent: all["persistent"] === true,
  };
}

/** A link that was just created. The server sends the URL of a link only once. */
export interface NewLink {
  readonly url: string;
  readonly persistent: boolean; // whether the links remain valid after a restart of the program
  readonly link: Link;
}

/** Decodes the response to POST /api/v1/shares. Returns null if it is invalid. */
export function readCreated(body: unknown): NewLink | null {
  const created = fieldsOf(body);
  const url = text(created["url"]);
  return url === "" ? null : { url, persistent: created["persistent"] === true, link: readLink(created) };
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

const fieldsOf = (v: unknown): Readonly<Record<string, unknown>> =>
  typeof v === "object" && v !== null ? (v as Readonly<Record<string, unknown>>) : {};

/** Describes a link: its creator, its expiry, the number of viewers and its last use. */
export function linkText(l: Link, now: number): string {
  const remaining = Date.parse(l.expires) - now;
  return [
    ...(l.creator === "" ? [] : [`by ${l.creator}`]),
    remaining <= 0 ? "expired" : `expires in ${humanDuration(remaining > 3_600_000 ? remaining + 59_000 : remaining)}`,
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

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

/**
 * Returns a share link's URL in kiosk mode. Inserts the parameter before the fragment (the part after "#"), which
 * contains the secret token.
 */
export function kioskUrl(url: string): string {
  const at = url.indexOf("#");
  return at < 0 ? url : `${url.slice(0, at)}?kiosk=1${url.slice(at)}`;
}
