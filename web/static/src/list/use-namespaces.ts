// A hook that watches the namespaces of the cluster while a component is shown.

import { useLayoutEffect, useState } from "preact/hooks";
import { Feed } from "../model/feed.ts";
import type { Live } from "../net/live.ts";

interface ListedNamespaces {
  /** The names of all namespaces of the cluster. null while they are unknown. */
  readonly names: readonly string[] | null;
  /** Whether the server refuses to list the namespaces. */
  readonly isRefused: boolean;
}

/** Returns the namespaces of the cluster. If `live` is null, subscribes to nothing, so the names stay unknown. */
export function useNamespaces(live: Live | null): ListedNamespaces {
  const [listed, setListed] = useState<ListedNamespaces>({ names: null, isRefused: false });
  useLayoutEffect(() => {
    if (live === null) return;
    const update = (): void => {
      const state = feed.info().state?.state;
      setListed({
        names: feed.rows.isComplete ? [...feed.rows.all()].map((e) => e.name) : null,
        isRefused: state === "forbidden" || state === "failed" || state === "absent",
      });
    };
    const feed = new Feed(
      live,
      { resource: "core/v1/namespaces" },
      { sort: null, q: "" },
      { snapshotArrived: update, rowsChanged: update, rowsDiscarded: update, statusChanged: update },
      Infinity,
      0,
    );
    return () => feed.close();
  }, [live]);
  return listed;
}
