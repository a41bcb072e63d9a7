// The chain of owners of an object, up to one without an owner.

import { ownersOf, type Owner } from "./meta.ts";
import { at, text } from "./read.ts";

/** The result of reading an owner: the object, or a text with the reason why it could not be read. */
export type Answer = { readonly object: unknown } | { readonly trouble: string };

export interface Step {
  readonly owner: Owner;
  /** Why the chain ends here; empty if the owner was read. */
  readonly trouble: string;
}

const highest = 10; // the maximum number of owners in the chain

/** Returns the chain of owners, the nearest first. If an object has several owners, its controller is next. */
export async function climb(object: unknown, read: (owner: Owner) => Promise<Answer>): Promise<Step[]> {
  const steps: Step[] = [];
  const seen = new Set([text(at(object, "metadata", "uid"))]);
  for (let [owner] = ownersOf(object); owner !== undefined && steps.length < highest; ) {
    const known = owner;
    if (seen.has(known.uid)) return [...steps, { owner: known, trouble: "circular ownership" }];
    seen.add(known.uid);
    const answer = await read(known);
    const trouble =
      "trouble" in answer
        ? answer.trouble
        : other(answer.object, known)
          ? "not found; another object has its name"
          : "";
    steps.push({ owner: known, trouble });
    if ("trouble" in answer || trouble !== "") break;
    [owner] = ownersOf(answer.object);
  }
  return steps;
}

const other = (object: unknown, owner: Owner): boolean =>
  owner.uid !== "" && text(at(object, "metadata", "uid")) !== owner.uid;
