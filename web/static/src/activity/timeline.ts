// Groups the changes for an object's changes tab. Consecutive minor changes, such as heartbeats, form one line.

import { fieldsOf, type Field } from "../model/fields.ts";
import type { HistoryStep } from "../model/history.ts";
import { isMasked } from "../model/masked.ts";
import type { ChangeAuthor, Change } from "../net/wire.ts";

export const opLabels = { add: "Created", update: "Changed", delete: "Deleted" } as const;

/** Label for changes that the page has missed. */
export const gapLabel = "Missed";

/** Returns field managers, newest first. */
export const changeAuthors = (c: Change): readonly ChangeAuthor[] => c.authors ?? (c.by === undefined ? [] : [c.by]);

/** One change of an object, with the fields that match the filter. */
export interface ShownStep {
  readonly step: HistoryStep;
  readonly fields: readonly Field[];
  readonly isMinor: boolean;
}

/** Either consecutive minor steps, newest first, or one step that is not minor. */
export type StepGroup = readonly [ShownStep, ...ShownStep[]];

export class Timeline {
  private fields = new WeakMap<HistoryStep, readonly Field[]>();

  /** Returns at most maxSteps matching steps, newest first. The field more reports whether there are further ones. */
  read(steps: readonly HistoryStep[], filter: string, maxSteps: number): { groups: StepGroup[]; more: boolean } {
    const terms = filter
      .toLowerCase()
      .split(/\s+/)
      .filter((t) => t !== "");
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

  // A gap is a step for changes that the page missed. A value that is masked before and after the gap is omitted,
  // because its change is not certain.
  private shownGapOf(step: HistoryStep, matches: (haystack: string) => boolean): ShownStep | null {
    let fields = this.fields.get(step);
    if (fields === undefined)
      this.fields.set(
        step,
        (fields = fieldsOf(step.before, step.change).filter(
          // A masked text can contain a counter, which restarts with the server.
          (f) => ![f.before, f.after].every((v) => v.type === "value" && isMasked(v.value)),
        )),
      );
    const matchingFields = matches(gapLabel) ? fields : fields.filter((f) => matches(f.pathText));
    return matchingFields.length > 0 || matches(gapLabel) ? { step, fields: matchingFields, isMinor: false } : null;
  }
}
