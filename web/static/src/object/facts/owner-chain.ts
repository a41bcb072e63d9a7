// The chain of owners of an object, up to one without an owner.

import { ownersOf, type Owner } from "./meta.ts";
import { valueAt, text } from "./read.ts";

/** The result of reading an owner: the object, or a text with the reason why it could not be read. */
export type OwnerResult = { readonly object: unknown } | { readonly trouble: string };

export interface OwnerStep {
  readonly owner: Owner;
  /** Why the chain ends here; empty if the owner was read. */
  readonly error: string;
}

const maxOwners = 10; // the maximum number of owners in the chain

/** Returns the chain of owners, the nearest first. If an object has several owners, its controller is next. */
export async function ownerChain(object: unknown, read: (owner: Owner) => Promise<OwnerResult>): Promise<OwnerStep[]> {
  const steps: OwnerStep[] = [];
  const seen = new Set([text(valueAt(object, "metadata", "uid"))]);
  for (let [owner] = ownersOf(object); owner !== undefined && steps.length < maxOwners; ) {
    const current = owner;
    if (seen.has(current.uid)) return [...steps, { owner: current, error: "circular ownership" }];
    seen.add(current.uid);
    const result = await read(current);
    const error =
      "trouble" in result
        ? result.trouble
        : isOther(result.object, current)
          ? "not found; another object has its name"
          : "";
    steps.push({ owner: current, error });
    if ("trouble" in result || error !== "") break;
    [owner] = ownersOf(result.object);
  }
  return steps;
}

const isOther = (object: unknown, owner: Owner): boolean =>
  owner.uid !== "" && text(valueAt(object, "metadata", "uid")) !== owner.uid;
