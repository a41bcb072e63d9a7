import type { SubscriptionInfo } from "../model/status.ts";
import type { Kind } from "../net/kinds.ts";
import type { LastChange } from "../model/object-store.ts";
import type { Live } from "../net/live.ts";
import type { LogSelection, ObjectName } from "../model/view.ts";
import type { Health, JsonObject, Verdict } from "../net/wire.ts";

export interface TabHost {
  readonly live: Live;
  readonly now: () => number;
  readonly kind: Kind;
  readonly name: ObjectName;
  /**
   * Finds the resource of a kind. Returns undefined if the cluster does not serve the kind, or if the resource types
   * are not loaded yet.
   */
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  /** Finds a resource by its ref (group/version/plural). Returns undefined if it is not served or not loaded yet. */
  readonly kindOfRef: (ref: string) => Kind | undefined;
  readonly log: () => LogSelection;
  readonly selectLog: (log: LogSelection, how?: "push" | "replace") => void;
  /** Returns the search text of a tab, which is in the URL. Empty for none. */
  readonly find: (tab: string) => string;
  readonly setFind: (tab: string, text: string) => void;
}

export interface TabData {
  /** The newest version of the object, or its final one if it was deleted. null if no version is known. */
  readonly object: JsonObject | null;
  readonly health: Health | null;
  readonly verdict: Verdict;
  readonly last: LastChange | null;
  readonly isDeleted: boolean;
  readonly info: SubscriptionInfo;
}

export interface Tab {
  readonly element: HTMLElement;
  /** Is called after a change of the data, at most once per animation frame. */
  show(shown: TabData): void;
  /** Is called after a change of the URL, which can select other content in this tab, such as another log. */
  urlChanged?(): void;
  /** Is called every second, to update ages. */
  tick?(): void;
  close(): void;
}

export type TabId = "overview" | "yaml" | "changes" | "events" | "related" | "logs";

export interface TabDefinition {
  readonly id: TabId; // value of the URL parameter "tab"
  readonly label: string;
  readonly key?: string;
  /** Reports whether the panel shows this tab for objects of a resource. */
  readonly appliesTo: (kind: Kind) => boolean;
}
