// The data and functions of the page that the share dialog uses.

import type { Kind, ListedKind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import type { HomeView } from "../model/home-view.ts";
import type { ObjectName, View } from "../model/view.ts";
import type { Watched } from "../net/overview.ts";

/** What a list or object page shows now, which the dialog offers to share. */
interface ObjectContent {
  readonly kind: Kind;
  /** The view of a list page. null on an object's own page. */
  readonly view: View | null;
  /** The object that is open, or null if none is open. */
  readonly object: ObjectName | null;
  /** The open tab of the object. Empty for the first tab. */
  readonly tab: string;
}

/** What the home page shows now: the problems in some namespaces, found in the watched resources. */
export interface HomeContent {
  readonly home: HomeView;
  readonly watched: readonly Pick<Watched, "resource" | "state" | "namespaces">[];
}

export type PageContent = ObjectContent | HomeContent;

/** The data and functions of the page that the dialog uses. */
export interface ShareHost {
  readonly live: Live;
  readonly now: () => number;
  pageContent(): PageContent | null;
  kinds(): readonly ListedKind[];
}
