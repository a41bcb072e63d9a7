import { ownersOf, type Owner } from "./meta.ts";
import { valueAt, text } from "./read.ts";

export type OwnerResult = { readonly object: unknown } | { readonly failure: string };

export interface OwnerStep {
  readonly owner: Owner;
  /** The reason why the chain ends at this owner. Empty if the owner could be read. */
  readonly error: string;
}

const maxOwners = 10;

/** Follows the owner references up to an object without an owner. Of several owners, it follows the controller. */
export async function ownerChain(object: unknown, read: (owner: Owner) => Promise<OwnerResult>): Promise<OwnerStep[]> {
  const steps: OwnerStep[] = [];
  const seen = new Set([text(valueAt(object, "metadata", "uid"))]);
  for (let [owner] = ownersOf(object); owner !== undefined && steps.length < maxOwners; ) {
    const current = owner;
    if (seen.has(current.uid)) return [...steps, { owner: current, error: "circular ownership" }];
    seen.add(current.uid);
    const result = await read(current);
    const error =
      "failure" in result
        ? result.failure
        : isOther(result.object, current)
          ? "not found; another object has its name"
          : "";
    steps.push({ owner: current, error });
    if ("failure" in result || error !== "") break;
    [owner] = ownersOf(result.object);
  }
  return steps;
}

const isOther = (object: unknown, owner: Owner): boolean =>
  owner.uid !== "" && text(valueAt(object, "metadata", "uid")) !== owner.uid;
