import type { Kind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import type { ObjectName } from "../model/view.ts";

export interface ListScope {
  readonly kind: Kind;
  readonly ns: readonly string[];
  readonly labels: string;
}

export interface ActivityHost {
  readonly live: Live;
  readonly now: () => number;
  /** Returns the resources that the server watches, the most important one first, or null if they are not known yet. */
  readonly watched: () => readonly Kind[] | null;
  readonly href: (kind: Kind, o: ObjectName) => string;
  readonly open: (kind: Kind, o: ObjectName) => void;
  /** Changes the part of the URL that describes the feed. For its form, see View.activity. */
  readonly select: (activity: string, how: "push" | "replace") => void;
}

export interface ActivityPreferences {
  readonly height: number;
  /** Whether the feed shows all watched resources, or only the list on the page. */
  readonly all: boolean;
  readonly filter: string;
}
