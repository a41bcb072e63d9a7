// Selects and groups the changes that the changes tab of an object shows. Consecutive minor changes form one line. A
// change is minor if only volatile fields changed, such as timestamps of heartbeats.

import { fieldsOf, type Field } from "../model/fields.ts";
import type { HistoryStep } from "../model/history.ts";
import { isMasked } from "../model/masked.ts";
import type { ChangeAuthor, Change } from "../net/wire.ts";

export const opLabels = { add: "Created", update: "Changed", delete: "Deleted" } as const;

/** The label of a step that represents changes that the page has missed. */
export const gapLabel = "Missed";

/** Returns the authors (field managers) of a change, newest first. The result is empty if no author is known. */
export const changeAuthors = (c: Change): readonly ChangeAuthor[] => c.authors ?? (c.by === undefined ? [] : [c.by]);

/** One step (one change in the history of an object), with the changed fields that are shown. */
export interface ShownStep {
  readonly step: HistoryStep;
  readonly fields: readonly Field[];
  /** Whether the step changed only volatile fields, such as heartbeat timestamps. */
  readonly isMinor: boolean;
}

/** One or more consecutive minor steps, or one step that is not minor; newest first. */
export type StepGroup = readonly [ShownStep, ...ShownStep[]];

export class Timeline {
  private fields = new WeakMap<HistoryStep, readonly Field[]>();

  /**
   * Returns the newest steps that contain every word of the filter, at most maxSteps of them. more reports whether
   * older steps match too. Of an update, only the fields are returned whose path or author contains the words.
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

  // Returns the step that represents missed changes, or null if it does not match the filter. A value that is masked
  // before and after the step is left out. Its masked text contains a counter, which restarts with the server or the
  // API component that counts, so a difference does not prove a change.
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
