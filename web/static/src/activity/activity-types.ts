// Types that both the activity line (activity.ts) and the activity feed (activity-feed.ts) use.

import type { Kind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import type { ObjectName } from "../model/view.ts";

/** What a list page shows: the objects of one resource, filtered by namespaces and a label selector. */
export interface ListScope {
  readonly kind: Kind;
  readonly ns: readonly string[];
  readonly labels: string;
}

export interface ActivityHost {
  readonly live: Live;
  readonly now: () => number;
  /**
   * Returns the resources that the server watches now, the most important first. Returns null if they are not known
   * yet.
   */
  readonly watched: () => readonly Kind[] | null;
  /** Returns the URL of the page with an object's changes. open navigates to that URL. */
  readonly href: (kind: Kind, o: ObjectName) => string;
  readonly open: (kind: Kind, o: ObjectName) => void;
}

export interface ActivityPreferences {
  readonly height: number;
  /** Whether the feed shows the changes of all watched resources. If false, it shows only the list on the page. */
  readonly all: boolean;
}
