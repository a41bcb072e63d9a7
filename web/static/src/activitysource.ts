// A Source is the activity feed's subscription to the changes of one resource. It receives data only while the server
// watches the resource for another reason, and does not make the server watch it.

import type { Scope } from "./activity.ts";
import type { Happenings } from "./happenings.ts";
import type { Kind } from "./kinds.ts";
import type { Handler, Live, Subscription } from "./live.ts";
import type { Problem, State } from "./wire.ts";

const most = 20; // the maximum number of resources whose changes the feed shows
/** The minimum time in ms between two messages, and between two redraws. People cannot read faster updates. */
export const pause = 250;

/**
  * Splits the watched resources into those whose changes the feed shows, and the rest above the limit. The resource of
  * the list on the page comes first. If namespaces are chosen, cluster-scoped resources are left out, because they have
  * no changes there.
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
    // After permission is lost, the changes must not stay on the screen.
    if (m.type === "error" || (m.type === "state" && m.state === "forbidden")) {
      this.happenings.forget(this.kind.ref);
      this.complete = false;
    }
    this.changed();
  }

  // Called when a new snapshot will arrive. Does nothing: the changes on the screen stay, because they did happen.
  restart(): void {}

  close(): void {
    this.subscription.close();
    this.happenings.forget(this.kind.ref);
  }
}
