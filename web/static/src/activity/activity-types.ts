// The types that the activity line and the activity feed share.

import type { Kind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import type { ObjectName } from "../model/view.ts";

/** The part of the cluster that the page lists. */
export interface ListScope {
  readonly kind: Kind;
  readonly ns: readonly string[];
  readonly labels: string;
}

export interface ActivityHost {
  readonly live: Live;
  readonly now: () => number;
  /** Returns the resources that the server watches now, the most important first; null if they are not known yet. */
  readonly watched: () => readonly Kind[] | null;
  /** Returns the URL of an object's changes. open navigates to it. */
  readonly href: (kind: Kind, o: ObjectName) => string;
  readonly open: (kind: Kind, o: ObjectName) => void;
}

/** The user's preferences for the activity feed, which the browser stores. */
export interface ActivityPreferences {
  readonly height: number;
  /** Whether the feed shows the changes of all watched resources, not only those of the list on the page. */
  readonly all: boolean;
}
