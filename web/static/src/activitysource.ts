// One kind that the activity follows: its changes, and how well they are known.
// What is watched anyway is followed without having it watched for that.

import type { Scope } from "./activity.ts";
import type { Happenings } from "./happenings.ts";
import type { Kind } from "./kinds.ts";
import type { Handler, Live, Subscription } from "./live.ts";
import type { Problem, State } from "./wire.ts";

const most = 20; // kinds that are followed together
/** How often what has happened is told, and drawn, at most, in milliseconds: more often nobody reads. */
export const pause = 250;

/** Of the kinds that are watched those that are followed together, and those for which there is no room: first the one that is listed. Where namespaces are chosen, those that have none tell nothing of them. */
export function followed(watched: readonly Kind[], { kind, ns }: Pick<Scope, "kind" | "ns">): { kinds: readonly Kind[]; rest: readonly Kind[] } {
  const all = watched.filter((k) => ns.length === 0 || k.namespaced);
  const own = all.filter((k) => k.ref === kind.ref);
  const ranked = [...own, ...all.filter((k) => k.ref !== kind.ref)];
  return { kinds: ranked.slice(0, most), rest: ranked.slice(most) };
}

export class Source implements Handler {
  /** Its past has come, and what happens is told from then on. */
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
    // A right that was lost takes with it what was seen.
    if (m.type === "error" || (m.type === "state" && m.state === "forbidden")) {
      this.happenings.forget(this.kind.ref);
      this.complete = false;
    }
    this.changed();
  }

  // What is shown stays until the snapshot has come: it has happened.
  restart(): void {}

  close(): void {
    this.subscription.close();
    this.happenings.forget(this.kind.ref);
  }
}
