// One resource that the activity follows: its changes, and how current they are. The subscription uses what is watched
// already, and does not cause the server to watch it.

import type { Scope } from "./activity.ts";
import type { Happenings } from "./happenings.ts";
import type { Kind } from "./kinds.ts";
import type { Handler, Live, Subscription } from "./live.ts";
import type { Problem, State } from "./wire.ts";

const most = 20; // resources that are followed at the same time
/** ms, the minimum time between two messages and between two redraws. A reader cannot follow faster updates. */
export const pause = 250;

/**
 * Splits the watched resources into those that the activity follows and the rest, for which there is no room. The
 * listed resource comes first. If namespaces are chosen, cluster-scoped resources are left out, because they have no
 * changes there.
 */
export function followed(
  watched: readonly Kind[],
  { kind, ns }: Pick<Scope, "kind" | "ns">,
): { kinds: readonly Kind[]; rest: readonly Kind[] } {
  const all = watched.filter((k) => ns.length === 0 || k.namespaced);
  const own = all.filter((k) => k.ref === kind.ref);
  const ranked = [...own, ...all.filter((k) => k.ref !== kind.ref)];
  return { kinds: ranked.slice(0, most), rest: ranked.slice(most) };
}

export class Source implements Handler {
  /** Whether the snapshot of recent changes has arrived. Later changes follow as events. */
  complete = false;
  state: State | null = null;
  problem: Problem | null = null;
  private readonly subscription: Subscription;

  constructor(
    readonly kind: Kind,
    live: Live,
    filter: { readonly ns: readonly string[]; readonly labels: string; readonly watched: boolean },
    private readonly happenings: Happenings,
    private readonly changed: () => void,
  ) {
    this.subscription = live.subscribe({ resource: kind.ref, view: "changes", every: pause, ...filter }, this);
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "changes") {
      this.happenings.begin(this.kind, m.since, m.events);
      this.complete = true;
      this.problem = null;
    } else if (m.type === "change-events") this.happenings.add(this.kind, m.events);
    else if (m.type === "state") this.state = m;
    else if (m.type === "error") this.problem = m.problem;
    // When permission is lost, the changes that it allowed are removed.
    if (m.type === "error" || (m.type === "state" && m.state === "forbidden")) {
      this.happenings.forget(this.kind.ref);
      this.complete = false;
    }
    this.changed();
  }

  // The shown changes stay until the new snapshot arrives, because they did happen.
  restart(): void {}

  close(): void {
    this.subscription.close();
    this.happenings.forget(this.kind.ref);
  }
}
