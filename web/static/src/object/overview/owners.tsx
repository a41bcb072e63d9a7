import { useContext } from "preact/hooks";
import { withBase } from "../../net/base-path.ts";
import { ownerChain, type OwnerResult, type OwnerStep } from "../facts/owner-chain.ts";
import { ownersOf, type Owner } from "../facts/meta.ts";
import { sharedParts } from "../../model/guest.ts";
import type { TabHost } from "../tab.ts";
import type { JsonObject } from "../../net/wire.ts";
import { Heading, Overview } from "./fact-view.tsx";

export class OwnerReader {
  owners: readonly Owner[] = [];
  /** The known chain of owners, from the direct owner to the root owner. */
  steps: readonly OwnerStep[] = [];
  private readKey = "";
  private pendingRead = new AbortController();
  private readFailed = false;

  constructor(
    private readonly host: TabHost,
    private readonly onChange: () => void,
  ) {}

  /**
   * Reads the owners again if the owner references or the resources of the owners have changed, or if the last read
   * failed.
   */
  show(object: JsonObject): void {
    const owners = ownersOf(object);
    const readKey = JSON.stringify(owners.map((o) => [o, this.host.kindOf(o.apiVersion, o.kind)?.ref]));
    if (readKey === this.readKey && !this.readFailed) return;
    this.readKey = readKey;
    this.readFailed = false;
    this.pendingRead.abort();
    const pendingRead = (this.pendingRead = new AbortController());
    this.owners = owners;
    this.steps = owners.slice(0, 1).map((owner) => ({ owner, error: "" }));
    void ownerChain(object, (owner) => this.readOwner(owner, pendingRead.signal)).then((steps) => {
      if (pendingRead.signal.aborted) return;
      this.steps = steps;
      this.onChange();
    });
  }

  close(): void {
    this.pendingRead.abort();
  }

  private async readOwner(o: Owner, signal: AbortSignal): Promise<OwnerResult> {
    const kind = this.host.kindOf(o.apiVersion, o.kind);
    if (kind === undefined)
      return { failure: sharedParts() === null ? `unknown kind of ${o.apiVersion}` : "not shared with you" };
    const ns = kind.namespaced ? encodeURIComponent(this.host.name.ns) : "_";
    try {
      const response = await fetch(withBase(`/api/v1/object/${kind.ref}/${ns}/${encodeURIComponent(o.name)}`), {
        signal,
        headers: { accept: "application/json" },
      });
      if (response.ok) return { object: (await response.json()) as unknown };
      if (response.status === 404) return { failure: "not found" };
      if (response.status === 403) return { failure: "forbidden" };
      this.readFailed = !signal.aborted;
      return { failure: `could not be read (status ${response.status})` };
    } catch {
      this.readFailed = !signal.aborted;
      return { failure: "could not be read" };
    }
  }
}

interface OwnersProps {
  host: TabHost;
  owners: readonly Owner[];
  steps: readonly OwnerStep[];
}

export function Owners({ host: { kind, name }, owners, steps }: OwnersProps) {
  const others = owners.slice(1, 10);
  return (
    <nav class="part owners" aria-labelledby="owners" hidden={owners.length === 0}>
      <Heading id="owners">Owners</Heading>
      <ol>
        {[...steps].reverse().map(({ owner, error }) => (
          <li key={`${owner.uid} ${error}`}>
            <span class="kind">{owner.kind}</span> <OwnerLink owner={owner} ns={name.ns} />
            {error !== "" && (
              <>
                {" "}
                <em>{error}</em>
              </>
            )}
          </li>
        ))}
        <li key="self" aria-current="true">
          <span class="kind">{kind.kind}</span> {name.name}
        </li>
      </ol>
      <p class="others" hidden={others.length === 0}>
        Also owned by{" "}
        {others.map((owner, i) => (
          <>
            {i > 0 && ", "}
            {owner.kind} <OwnerLink owner={owner} ns={name.ns} />
          </>
        ))}
      </p>
    </nav>
  );
}

function OwnerLink({ owner, ns }: { owner: Owner; ns: string }) {
  const href = useContext(Overview).href({ ...owner, ns });
  return href === null ? (
    <span>{owner.name}</span>
  ) : (
    <a href={href} data-address="">
      {owner.name}
    </a>
  );
}
