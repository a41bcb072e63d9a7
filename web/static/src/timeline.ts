// Selects and groups the changes that the changes tab shows. Consecutive quiet changes, which have no relevant fields,
// form one line.

import { fieldsOf, type Field } from "./fields.ts";
import type { Step } from "./history.ts";
import { masked } from "./masked.ts";
import type { By, Change } from "./wire.ts";

export const opWords = { add: "Created", update: "Changed", delete: "Deleted" } as const;

/** The label of a step that stands for missed changes. */
export const missedWord = "Missed";

/** Returns the authors of a change, newest first; empty if they are not known. */
export const authorsOf = (c: Change): readonly By[] => c.authors ?? (c.by === undefined ? [] : [c.by]);

/** A step (a change in an object's history) with those of its changed fields that are shown. */
export interface Shown {
  readonly step: Step;
  readonly fields: readonly Field[];
  /** Whether nothing in the step is worth a line of its own. */
  readonly quiet: boolean;
}

/** Consecutive quiet steps, or one step that is not quiet; newest first. */
export type Group = readonly [Shown, ...Shown[]];

export class Timeline {
  private fields = new WeakMap<Step, readonly Field[]>();

  /**
    * Returns the newest steps that contain every word of the filter, at most most of them. more: whether there are
    * others. Of an update, only those fields are shown whose path or author contains the words.
   */
  read(steps: readonly Step[], filter: string, most: number): { groups: Group[]; more: boolean } {
    const terms = filter.toLowerCase().split(/\s+/).filter((t) => t !== "");
    const groups: [Shown, ...Shown[]][] = [];
    let count = 0;
    for (let i = steps.length - 1; i >= 0; i--) {
      const shown = this.see(steps[i] as Step, terms);
      if (shown === null) continue;
      if (count++ === most) return { groups, more: true };
      const last = groups.at(-1);
      if (shown.quiet && last?.[0].quiet) last.push(shown);
      else groups.push([shown]);
    }
    return { groups, more: false };
  }

  private see(step: Step, terms: readonly string[]): Shown | null {
    const { change } = step;
    const has = (hay: string): boolean => terms.every((t) => hay.toLowerCase().includes(t));
    const words = (by: readonly By[]): string =>
      by.map((b) => `${b.manager} ${b.operation} ${b.subresource}`).join(" ");
    if (step.missed) return this.missed(step, has);
    if (change.op !== "update")
      return has(`${opWords[change.op]} ${words(authorsOf(change))}`) ? { step, fields: [], quiet: false } : null;
    let fields = this.fields.get(step);
    if (fields === undefined) this.fields.set(step, (fields = fieldsOf(step.before, change)));
    const found = terms.length === 0 ? fields : fields.filter((f) => has(`${f.words} ${words(f.by)}`));
    return found.length === 0 ? null : { step, fields: found, quiet: found.every((f) => f.noise) };
  }

  // Returns the step for missed changes; null if it does not match the filter. If a value is masked before and after,
  // it does not count as changed: the masked text has a count of changes, which restarts with the component that
  // counts.
  private missed(step: Step, has: (hay: string) => boolean): Shown | null {
    let fields = this.fields.get(step);
    if (fields === undefined)
      this.fields.set(
        step,
        (fields = fieldsOf(step.before, step.change).filter(
          (f) => ![f.before, f.after].every((v) => v.is === "value" && masked(v.value)),
        )),
      );
    const found = has(missedWord) ? fields : fields.filter((f) => has(f.words));
    return found.length > 0 || has(missedWord) ? { step, fields: found, quiet: false } : null;
  }
}
