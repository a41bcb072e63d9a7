// Subscribes to the changes of one resource for the activity feed. The subscription never starts a watch on the
// server.

import type { ListScope } from "./activity-types.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Kind } from "../net/kinds.ts";
import type { Handler, Live, Subscription } from "../net/live.ts";
import type { Problem, State } from "../net/wire.ts";

const maxResources = 20;
/** The minimum time in ms between two messages or redraws. People cannot read faster updates. */
export const updateInterval = 250;

/**
 * Returns the watched resources that the feed shows (`kinds`), and those beyond the feed's limit (`rest`). If
 * namespaces are selected, cluster-scoped resources are omitted.
 */
export function splitWatched(
  watched: readonly Kind[],
  { kind, ns }: Pick<ListScope, "kind" | "ns">,
): { kinds: readonly Kind[]; rest: readonly Kind[] } {
  const all = watched.filter((k) => ns.length === 0 || k.namespaced);
  const current = all.filter((k) => k.ref === kind.ref);
  const ranked = [...current, ...all.filter((k) => k.ref !== kind.ref)];
  return { kinds: ranked.slice(0, maxResources), rest: ranked.slice(maxResources) };
}

export class ActivitySource implements Handler {
  complete = false;
  state: State | null = null;
  problem: Problem | null = null;
  private readonly subscription: Subscription;

  constructor(
    readonly kind: Kind,
    live: Live,
    filter: { readonly ns: readonly string[]; readonly labels: string; readonly watched: boolean },
    private readonly changeLog: ChangeLog,
    private readonly onChange: () => void,
  ) {
    this.subscription = live.subscribe({ resource: kind.ref, view: "changes", every: updateInterval, ...filter }, this);
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "changes") {
      this.changeLog.addResource(this.kind, m.since, m.events);
      this.complete = true;
      this.problem = null;
    } else if (m.type === "change-events") this.changeLog.add(this.kind, m.events);
    else if (m.type === "state") this.state = m;
    else if (m.type === "error") this.problem = m.problem;
    // After a loss of permission, the changes must not stay on the screen.
    if (m.type === "error" || (m.type === "state" && m.state === "forbidden")) {
      this.changeLog.removeResource(this.kind.ref);
      this.complete = false;
    }
    this.onChange();
  }

  // Is called before a new snapshot, and does nothing, because the changes on the screen are still correct.
  restart(): void {}

  close(): void {
    this.subscription.close();
    this.changeLog.removeResource(this.kind.ref);
  }
}
