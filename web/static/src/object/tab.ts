// The interface between the panel, which shows one object, and the tabs of the panel.

import type { SubscriptionInfo } from "../model/status.ts";
import type { Kind } from "../net/kinds.ts";
import type { LastChange } from "../model/object-store.ts";
import type { Live } from "../net/live.ts";
import type { LogSelection, ObjectName } from "../model/view.ts";
import type { Health, JsonObject } from "../net/wire.ts";

/** The data and functions that the panel passes to each tab when it creates it. */
export interface TabHost {
  readonly live: Live;
  readonly now: () => number;
  readonly kind: Kind;
  readonly name: ObjectName;
  /**
   * Returns the resource for an apiVersion and a kind. Returns undefined if the cluster does not serve it, or if the
   * list of resources has not arrived yet.
   */
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  /**
   * Returns the resource with a ref (group/version/plural). Returns undefined if the cluster does not serve it, or if
   * the list of resources has not arrived yet.
   */
  readonly kindOfRef: (ref: string) => Kind | undefined;
  /** Returns the container log that the URL of the page selects. */
  readonly log: () => LogSelection;
  /** Selects another container log by changing the URL of the page. */
  readonly selectLog: (log: LogSelection) => void;
}

export interface TabData {
  /** The newest version of the object. After a delete, it is the last version. null if no version is known. */
  readonly object: JsonObject | null;
  readonly health: Health | null;
  readonly last: LastChange | null;
  readonly isDeleted: boolean;
  readonly info: SubscriptionInfo;
}

export interface Tab {
  readonly element: HTMLElement;
  /** Is called after the data has changed, at most once per animation frame. */
  show(shown: TabData): void;
  /**
   * Is called after the URL has changed. The new URL can select other content within this tab, such as the log of
   * another container.
   */
  urlChanged?(): void;
  /** Is called every second, to update ages. */
  tick?(): void;
  close(): void;
}

export interface TabDefinition {
  readonly id: string; // value of the URL parameter "tab"
  readonly label: string;
  /** The keyboard shortcut that opens the tab. */
  readonly key?: string;
  /** Reports whether the panel shows this tab for objects of a resource. */
  readonly appliesTo: (kind: Kind) => boolean;
  /**
   * Loads the code of the tab and returns its class. The caller creates the tab only if the user has not left it
   * meanwhile, because the constructor registers listeners.
   */
  readonly load: () => Promise<new (host: TabHost) => Tab>;
}
