// The tabs of the panel. The code of each tab is loaded when the tab is first opened. A tab follows the changes of the
// object.

import { isShared, shared } from "./guest.ts";
import type { Known } from "./status.ts";
import type { Kind } from "./kinds.ts";
import type { LastChange } from "./held.ts";
import type { Live } from "./live.ts";
import type { LogName, ObjectName } from "./view.ts";
import type { Health, Tree } from "./wire.ts";

/** What a tab receives on creation. */
export interface Host {
  readonly live: Live;
  readonly now: () => number;
  readonly kind: Kind;
  readonly name: ObjectName;
  /**
   * Returns the resource for an apiVersion and a kind. It is undefined if the cluster does not serve it, or if it is
   * not known yet.
   */
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  /** Returns the resource of a ref; undefined as above. */
  readonly kindOfRef: (ref: string) => Kind | undefined;
  /** Returns the log that the address names. */
  readonly log: () => LogName;
  /** Makes the address name another log. */
  readonly nameLog: (log: LogName) => void;
}

/** The data that a tab shows. */
export interface Shown {
  /** The newest version of the object, or the last one before it was deleted; null if none is known. */
  readonly object: Tree | null;
  readonly health: Health | null;
  readonly last: LastChange | null;
  /** Whether the object is deleted. object is its last version then. */
  readonly gone: boolean;
  readonly known: Known;
}

export interface Tab {
  readonly element: HTMLElement;
  /** Called when the data has changed, at most once per frame. */
  show(shown: Shown): void;
  /** Called when the address may name another part of the tab. */
  look?(): void;
  /** Called every second, to update ages. */
  tick?(): void;
  close(): void;
}

export interface TabKind {
  readonly id: string; // in the address
  readonly label: string;
  /** The key that opens the tab. */
  readonly key?: string;
  /** Whether objects of this resource have the tab. */
  readonly of: (kind: Kind) => boolean;
  /**
   * Loads the class of the tab. The tab is created later, so that one that fails to load or is no longer wanted
   * registers no listeners.
   */
  readonly load: () => Promise<new (host: Host) => Tab>;
}

const every = (): boolean => true;

/** All tabs. The first is the default. */
export const tabs: readonly TabKind[] = [
  {
    id: "overview",
    label: "Overview",
    key: "o",
    of: every,
    load: async () => (await import("./tabs/overview.ts")).Overview,
  },
  { id: "yaml", label: "YAML", key: "y", of: every, load: async () => (await import("./tabs/yaml.ts")).YamlTab },
  {
    id: "changes",
    label: "Changes",
    key: "c",
    of: every,
    load: async () => (await import("./tabs/changes.ts")).Changes,
  },
  {
    id: "events",
    label: "Events",
    key: "e",
    of: (kind) => kind.resource !== "events" && isShared("core/v1/events"),
    load: async () => (await import("./tabs/events.ts")).EventsTab,
  },
  {
    id: "related",
    label: "Related",
    key: "r",
    of: () => shared() === null,
    load: async () => (await import("./tabs/related.ts")).Related,
  },
  {
    id: "logs",
    label: "Logs",
    key: "l",
    of: (kind) => kind.ref === "core/v1/pods" && isShared("core/v1/pods/log"),
    load: async () => (await import("./tabs/logs.ts")).Logs,
  },
];

/** Returns the tabs for objects of a resource. */
export const tabsOf = (kind: Kind): readonly TabKind[] => tabs.filter((t) => t.of(kind));
