// The interface between the panel, which shows one object, and its tabs.

import type { SubscriptionInfo } from "../model/status.ts";
import type { Kind } from "../net/kinds.ts";
import type { LastChange } from "../model/object-store.ts";
import type { Live } from "../net/live.ts";
import type { LogSelection, ObjectName } from "../model/view.ts";
import type { Health, JsonObject } from "../net/wire.ts";

/** The data and functions that the panel passes to each tab on creation. */
export interface TabHost {
  readonly live: Live;
  readonly now: () => number;
  readonly kind: Kind;
  readonly name: ObjectName;
  /**
   * Returns the resource for an apiVersion and a kind. Returns undefined if the cluster does not serve the resource,
   * or if the list of resources has not arrived yet.
   */
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  /** Returns the resource with a ref (group/version/plural); undefined if it is not served or not known yet. */
  readonly kindOfRef: (ref: string) => Kind | undefined;
  /** Returns the container log that the page's URL selects. */
  readonly log: () => LogSelection;
  /** Changes the page's URL to select another container log. */
  readonly selectLog: (log: LogSelection) => void;
}

/** The data that a tab shows. */
export interface TabData {
  /** The newest version of the object, or the last one before it was deleted; null if none is known. */
  readonly object: JsonObject | null;
  readonly health: Health | null;
  readonly last: LastChange | null;
  /** Whether the object is deleted. object is its last version then. */
  readonly isDeleted: boolean;
  readonly info: SubscriptionInfo;
}

export interface Tab {
  readonly element: HTMLElement;
  /** Called when the data has changed, at most once per frame. */
  show(shown: TabData): void;
  /** Called when the URL may select other content within this tab, such as another container's log. */
  urlChanged?(): void;
  /** Called every second, to update ages. */
  tick?(): void;
  close(): void;
}

export interface TabDefinition {
  readonly id: string; // the value of the URL's tab parameter
  readonly label: string;
  /** The key that opens the tab. */
  readonly key?: string;
  /** Whether objects of this resource have the tab. */
  readonly appliesTo: (kind: Kind) => boolean;
  /**
   * Loads the code and returns the class of the tab. The caller creates the tab only if it is still wanted, because a
   * tab registers listeners when it is created.
   */
  readonly load: () => Promise<new (host: TabHost) => Tab>;
}
