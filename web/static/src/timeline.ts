// Which changes are to be seen, and how they stand together: quiet ones that
// follow each other are one line.

import { fieldsOf, type Field } from "./fields.ts";
import type { Step } from "./history.ts";
import { masked } from "./masked.ts";
import type { By, Change } from "./wire.ts";

export const opWords = { add: "Created", update: "Changed", delete: "Deleted" } as const;

/** What stands for changes that were not told. */
export const missedWord = "Missed";

/** Who made a change, newest first; nobody where that is not known. */
export const authorsOf = (c: Change): readonly By[] => c.authors ?? (c.by === undefined ? [] : [c.by]);

/** A step with the fields of it that are to be seen. */
export interface Shown {
  readonly step: Step;
  readonly fields: readonly Field[];
  /** Nothing in it is worth a line. */
  readonly quiet: boolean;
}

/** Quiet steps that follow each other, or one that is not quiet; newest first. */
export type Group = readonly [Shown, ...Shown[]];

export class Timeline {
  private fields = new WeakMap<Step, readonly Field[]>();

  /**
   * The newest steps in which every word of a filter is found: of an update the
   * fields that have them in path or author. At most so many; more says whether
   * there are others.
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
    const words = (by: readonly By[]): string => by.map((b) => `${b.manager} ${b.operation} ${b.subresource}`).join(" ");
    if (step.missed) return this.missed(step, has);
    if (change.op !== "update") return has(`${opWords[change.op]} ${words(authorsOf(change))}`) ? { step, fields: [], quiet: false } : null;
    let fields = this.fields.get(step);
    if (fields === undefined) this.fields.set(step, (fields = fieldsOf(step.before, change)));
    const found = terms.length === 0 ? fields : fields.filter((f) => has(`${f.words} ${words(f.by)}`));
    return found.length === 0 ? null : { step, fields: found, quiet: found.every((f) => f.noise) };
  }

  // How often a masked value was seen to change begins anew with what counts it.
  private missed(step: Step, has: (hay: string) => boolean): Shown | null {
    let fields = this.fields.get(step);
    if (fields === undefined) this.fields.set(step, (fields = fieldsOf(step.before, step.change).filter((f) => ![f.before, f.after].every((v) => v.is === "value" && masked(v.value)))));
    const found = has(missedWord) ? fields : fields.filter((f) => has(f.words));
    return found.length > 0 || has(missedWord) ? { step, fields: found, quiet: false } : null;
  }
}
