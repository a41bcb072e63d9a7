// The tabs of an object. Each is a part of the script that is loaded when it is
// first opened, and shows the object as it changes.

import { isShared, shared } from "./guest.ts";
import type { Known } from "./status.ts";
import type { Kind } from "./kinds.ts";
import type { LastChange } from "./held.ts";
import type { Live } from "./live.ts";
import type { LogName, ObjectName } from "./view.ts";
import type { Health, Tree } from "./wire.ts";

/** What a tab is made with. */
export interface Host {
  readonly live: Live;
  readonly now: () => number;
  readonly kind: Kind;
  readonly name: ObjectName;
  /** The kind that an object of this apiVersion and kind has; undefined where the cluster does not serve it, or it is not known yet. */
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  /** The kind of a ref; undefined as above. */
  readonly kindOfRef: (ref: string) => Kind | undefined;
  /** Which log the address names. */
  readonly log: () => LogName;
  /** Has the address name another. */
  readonly nameLog: (log: LogName) => void;
}

/** What a tab shows. */
export interface Shown {
  /** The newest object, or the last that there was; null where none is known. */
  readonly object: Tree | null;
  readonly health: Health | null;
  readonly last: LastChange | null;
  /** It is deleted; the object is how it was last. */
  readonly gone: boolean;
  readonly known: Known;
}

export interface Tab {
  readonly element: HTMLElement;
  /** Called when there is something else to show, once a frame at most. */
  show(shown: Shown): void;
  /** Called when the address may name another part of what the tab shows. */
  look?(): void;
  /** Called every second, for times that pass. */
  tick?(): void;
  close(): void;
}

export interface TabKind {
  readonly id: string; // in the address
  readonly label: string;
  /** The letter by which the keyboard opens it. */
  readonly key?: string;
  /** Whether objects of this kind have it. */
  readonly of: (kind: Kind) => boolean;
  /** Loads what makes it: one that does not come, or is not wanted any more, listens to nothing. */
  readonly load: () => Promise<new (host: Host) => Tab>;
}

const every = (): boolean => true;

/** The tabs, the first being the one that is shown where the address names none. */
export const tabs: readonly TabKind[] = [
  { id: "overview", label: "Overview", key: "o", of: every, load: async () => (await import("./tabs/overview.ts")).Overview },
  { id: "yaml", label: "YAML", key: "y", of: every, load: async () => (await import("./tabs/yaml.ts")).YamlTab },
  { id: "changes", label: "Changes", key: "c", of: every, load: async () => (await import("./tabs/changes.ts")).Changes },
  { id: "events", label: "Events", key: "e", of: (kind) => kind.resource !== "events" && isShared("core/v1/events"), load: async () => (await import("./tabs/events.ts")).EventsTab },
  { id: "related", label: "Related", key: "r", of: () => shared() === null, load: async () => (await import("./tabs/related.ts")).Related },
  { id: "logs", label: "Logs", key: "l", of: (kind) => kind.ref === "core/v1/pods" && isShared("core/v1/pods/log"), load: async () => (await import("./tabs/logs.ts")).Logs },
];

/** The tabs of a kind's objects. */
export const tabsOf = (kind: Kind): readonly TabKind[] => tabs.filter((t) => t.of(kind));
