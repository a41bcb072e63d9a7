// The owners of an object, up to the one that nobody owns.

import { ownersOf, type Owner } from "./meta.ts";
import { at, text } from "./read.ts";

/** What became of reading an owner: the object, or in words why not. */
export type Answer = { readonly object: unknown } | { readonly trouble: string };

export interface Step {
  readonly owner: Owner;
  /** Why nothing more is known of it; empty where it was read. */
  readonly trouble: string;
}

const highest = 10; // steps

/** The owners one above the other, the nearest first; of several the one that controls. */
export async function climb(object: unknown, read: (owner: Owner) => Promise<Answer>): Promise<Step[]> {
  const steps: Step[] = [];
  const seen = new Set([text(at(object, "metadata", "uid"))]);
  for (let [owner] = ownersOf(object); owner !== undefined && steps.length < highest; ) {
    const known = owner;
    if (seen.has(known.uid)) return [...steps, { owner: known, trouble: "owns itself, in a circle" }];
    seen.add(known.uid);
    const answer = await read(known);
    const trouble = "trouble" in answer ? answer.trouble : other(answer.object, known) ? "is gone; another has its name" : "";
    steps.push({ owner: known, trouble });
    if ("trouble" in answer || trouble !== "") break;
    [owner] = ownersOf(answer.object);
  }
  return steps;
}

const other = (object: unknown, owner: Owner): boolean => owner.uid !== "" && text(at(object, "metadata", "uid")) !== owner.uid;
