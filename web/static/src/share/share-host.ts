// What the share dialog needs from the page.

import type { Kind, ListedKind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import type { ObjectName, View } from "../model/view.ts";

/** What the page shows now, which the dialog offers to share. */
export interface PageContent {
  readonly kind: Kind;
  /** The view of a list page. null on an object's own page. */
  readonly view: View | null;
  /** The open object, or null. */
  readonly object: ObjectName | null;
  /** The open tab. Empty for the first tab. */
  readonly tab: string;
}

/** The data and functions of the page that the dialog uses. */
export interface ShareHost {
  readonly live: Live;
  readonly now: () => number;
  pageContent(): PageContent | null;
  kinds(): readonly ListedKind[];
}
