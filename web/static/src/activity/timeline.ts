// Selects and groups the changes that the changes tab shows. Consecutive quiet changes, which have no relevant fields,
// form one line.

import { fieldsOf, type Field } from "../model/fields.ts";
import type { HistoryStep } from "../model/history.ts";
import { isMasked } from "../model/masked.ts";
import type { ChangeAuthor, Change } from "../net/wire.ts";

export const opLabels = { add: "Created", update: "Changed", delete: "Deleted" } as const;

/** The label of a step that represents missed changes. */
export const gapLabel = "Missed";

/** Returns the authors of a change, newest first; empty if they are not known. */
export const changeAuthors = (c: Change): readonly ChangeAuthor[] => c.authors ?? (c.by === undefined ? [] : [c.by]);

/** A step (a change in an object's history) with those of its changed fields that are shown. */
export interface ShownStep {
  readonly step: HistoryStep;
  readonly fields: readonly Field[];
  /** Whether nothing in the step is worth a line of its own. */
  readonly isMinor: boolean;
}

/** Consecutive quiet steps, or one step that is not quiet; newest first. */
export type StepGroup = readonly [ShownStep, ...ShownStep[]];

export class Timeline {
  private fields = new WeakMap<HistoryStep, readonly Field[]>();

  /**
   * Returns the newest steps that contain every word of the filter, at most maxSteps of them. more: whether there
   * are others. Of an update, only those fields are shown whose path or author contains the words.
   */
  read(steps: readonly HistoryStep[], filter: string, maxSteps: number): { groups: StepGroup[]; more: boolean } {
    const terms = filter.toLowerCase().split(/\s+/).filter((t) => t !== "");
    const groups: [ShownStep, ...ShownStep[]][] = [];
    let count = 0;
    for (let i = steps.length - 1; i >= 0; i--) {
      const shown = this.shownStepOf(steps[i] as HistoryStep, terms);
      if (shown === null) continue;
      if (count++ === maxSteps) return { groups, more: true };
      const last = groups.at(-1);
      if (shown.isMinor && last?.[0].isMinor) last.push(shown);
      else groups.push([shown]);
    }
    return { groups, more: false };
  }

  private shownStepOf(step: HistoryStep, terms: readonly string[]): ShownStep | null {
    const { change } = step;
    const matches = (haystack: string): boolean => terms.every((t) => haystack.toLowerCase().includes(t));
    const authorText = (by: readonly ChangeAuthor[]): string =>
      by.map((b) => `${b.manager} ${b.operation} ${b.subresource}`).join(" ");
    if (step.isGap) return this.shownGapOf(step, matches);
    if (change.op !== "update")
      return matches(`${opLabels[change.op]} ${authorText(changeAuthors(change))}`)
        ? { step, fields: [], isMinor: false }
        : null;
    let fields = this.fields.get(step);
    if (fields === undefined) this.fields.set(step, (fields = fieldsOf(step.before, change)));
    const matchingFields =
      terms.length === 0 ? fields : fields.filter((f) => matches(`${f.pathText} ${authorText(f.by)}`));
    return matchingFields.length === 0
      ? null
      : { step, fields: matchingFields, isMinor: matchingFields.every((f) => f.isVolatile) };
  }

  // Returns the step for missed changes; null if it does not match the filter. If a value is masked before and after,
  // it does not count as changed: the masked text has a count of changes, which restarts with the component that
  // counts.
  private shownGapOf(step: HistoryStep, matches: (haystack: string) => boolean): ShownStep | null {
    let fields = this.fields.get(step);
    if (fields === undefined)
      this.fields.set(
        step,
        (fields = fieldsOf(step.before, step.change).filter(
          (f) => ![f.before, f.after].every((v) => v.type === "value" && isMasked(v.value)),
        )),
      );
    const matchingFields = matches(gapLabel) ? fields : fields.filter((f) => matches(f.pathText));
    return matchingFields.length > 0 || matches(gapLabel) ? { step, fields: matchingFields, isMinor: false } : null;
  }
}
