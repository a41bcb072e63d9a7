// Groups the changes for an object's changes tab. Consecutive minor changes, such as lease renewals, form one line,
// and so do consecutive updates of the status.

import { fieldsOf, type Field } from "../model/fields.ts";
import type { HistoryStep } from "../model/history.ts";
import { isMasked } from "../model/masked.ts";
import type { ChangeAuthor, Change } from "../net/wire.ts";

export const opLabels = { add: "Created", update: "Changed", delete: "Deleted" } as const;

/** The label of an entry for changes that the page has missed. */
export const gapLabel = "Missed";

/** Returns the field managers that made a change, newest first. */
export const changeAuthors = (c: Change): readonly ChangeAuthor[] => c.authors ?? (c.by === undefined ? [] : [c.by]);

/** The parts of an object. All fields outside status and metadata count as spec (also the data of a ConfigMap). */
export const parts = ["spec", "status", "metadata"] as const;
export type Part = (typeof parts)[number];

export interface TimelineFilter {
  /** Words that the path of a changed field, or the text about its authors, must contain. */
  readonly text: string;
  readonly part: Part | null; // null for all parts
  readonly peopleOnly: boolean;
}

/** Parses a filter from the URL, such as "is:spec by:people image". */
export function parseFilter(find: string): TimelineFilter {
  const words = find.split(" ");
  return {
    text: words.filter((w) => w !== people && partOfWord(w) === null).join(" "),
    part: words.map(partOfWord).find((part) => part !== null) ?? null,
    peopleOnly: words.includes(people),
  };
}

export const formatFilter = ({ text, part, peopleOnly }: TimelineFilter): string =>
  [...(part === null ? [] : [`is:${part}`]), ...(peopleOnly ? [people] : []), ...(text === "" ? [] : [text])].join(" ");

const people = "by:people";
const partOfWord = (word: string): Part | null => parts.find((part) => word === `is:${part}`) ?? null;

/** One change of an object, with the fields that match the filter. */
export interface ShownStep {
  readonly step: HistoryStep;
  readonly fields: readonly Field[];
  readonly isMinor: boolean;
  /** Whether only the status changed. */
  readonly isStatus: boolean;
}

/**
 * The steps (changes) that the timeline shows as one line, newest first. There are three types of groups: consecutive
 * minor steps; consecutive changes of the status, possibly with minor steps between them; one other step.
 */
export type StepGroup = readonly [ShownStep, ...ShownStep[]];

/** Whether a group is a burst: several updates of the status. */
export const isBurst = (group: StepGroup): boolean => group.filter((s) => !s.isMinor && s.isStatus).length > 1;

export const partOf = ({ pathText }: Field): Part =>
  /^status\b/.test(pathText) ? "status" : /^metadata\b/.test(pathText) ? "metadata" : "spec";

// Field managers of tools that make changes on behalf of people. internal/watch/fieldmanager/controller.go has the same
// patterns. Tests check both against internal/watch/fieldmanager/testdata/managers.json.
const deploymentTools = /^(argocd|kustomize-controller|helm-controller|flux)/;
const controllers =
  /^(kubelet|kube-|cloud-controller-manager|kwok$)|-(controller|controller-manager|operator|scheduler|autoscaler)$/;

/** Whether a person made a change, directly or through a deployment tool, according to its field manager. */
export const isByPeople = ({ manager, subresource }: ChangeAuthor): boolean =>
  manager !== "" &&
  (deploymentTools.test(manager)
    ? subresource !== "status"
    : !controllers.test(manager.toLowerCase()) && subresource !== "status");

export class Timeline {
  private fields = new WeakMap<HistoryStep, readonly Field[]>();

  /** Returns at most maxSteps matching steps, newest first. `more` is true if there are further ones. */
  read(
    steps: readonly HistoryStep[],
    filter: TimelineFilter,
    maxSteps: number,
  ): { groups: StepGroup[]; more: boolean } {
    const terms = wordsOf(filter.text);
    const runs: [ShownStep, ...ShownStep[]][] = [];
    let count = 0;
    let more = false;
    for (let i = steps.length - 1; i >= 0 && !more; i--) {
      const shown = matching(this.shownStepOf(steps[i] as HistoryStep, terms), filter);
      if (shown === null) continue;
      if (count++ === maxSteps) {
        more = true;
        break;
      }
      const last = runs.at(-1);
      if (canFold(shown) && last !== undefined && canFold(last[0])) last.push(shown);
      else runs.push([shown]);
    }
    // If the filter shows only the status, show each update of the status on its own line.
    return { groups: runs.flatMap((run) => (filter.part !== "status" && isBurst(run) ? [run] : unfold(run))), more };
  }

  /** Counts, for each part of an object, the changes that match the text and affect this part. */
  counts(steps: readonly HistoryStep[], text: string): ReadonlyMap<Part, number> {
    const terms = wordsOf(text);
    const counts = new Map<Part, number>(parts.map((part) => [part, 0]));
    for (const step of steps) {
      const fields = this.shownStepOf(step, terms)?.fields ?? [];
      for (const part of partsOf(fields)) counts.set(part, (counts.get(part) ?? 0) + 1);
    }
    return counts;
  }

  private shownStepOf(step: HistoryStep, terms: readonly string[]): ShownStep | null {
    const { change } = step;
    const matches = (haystack: string): boolean => terms.every((t) => haystack.toLowerCase().includes(t));
    const authorText = (by: readonly ChangeAuthor[]): string =>
      by.map((b) => `${b.manager} ${b.operation} ${b.subresource}`).join(" ");
    if (step.isGap) return this.shownGapOf(step, matches);
    if (change.op !== "update")
      return matches(`${opLabels[change.op]} ${authorText(changeAuthors(change))}`)
        ? { step, fields: [], isMinor: false, isStatus: false }
        : null;
    let fields = this.fields.get(step);
    if (fields === undefined) this.fields.set(step, (fields = fieldsOf(step.before, change)));
    const matchingFields =
      terms.length === 0 ? fields : fields.filter((f) => matches(`${f.pathText} ${authorText(f.by)}`));
    return matchingFields.length === 0
      ? null
      : {
          step,
          fields: matchingFields,
          isMinor: matchingFields.every((f) => f.isVolatile),
          isStatus: partsOf(matchingFields).join() === "status",
        };
  }

  // Returns a gap: a step for changes that the page missed. A field whose value is masked both before and after the gap
  // is omitted, because it may be unchanged.
  private shownGapOf(step: HistoryStep, matches: (haystack: string) => boolean): ShownStep | null {
    let fields = this.fields.get(step);
    if (fields === undefined)
      this.fields.set(
        step,
        (fields = fieldsOf(step.before, step.change).filter(
          // Omit fields that are masked before and after: a mask can contain a counter that restarts with the server,
          // so different masks do not prove a change.
          (f) => ![f.before, f.after].every((v) => v.type === "value" && isMasked(v.value)),
        )),
      );
    const matchingFields = matches(gapLabel) ? fields : fields.filter((f) => matches(f.pathText));
    return matchingFields.length > 0 || matches(gapLabel)
      ? { step, fields: matchingFields, isMinor: false, isStatus: false }
      : null;
  }
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((t) => t !== "");

const canFold = (s: ShownStep): boolean => s.isMinor || s.isStatus;

// Splits a run of steps into single steps. Consecutive minor steps stay together.
function unfold(run: readonly ShownStep[]): StepGroup[] {
  const groups: [ShownStep, ...ShownStep[]][] = [];
  for (const shown of run) {
    const last = groups.at(-1);
    if (shown.isMinor && last?.[0].isMinor === true) last.push(shown);
    else groups.push([shown]);
  }
  return groups;
}

/**
 * Returns the parts that a change affects. Minor fields count only if no other fields have changed. The resource
 * version is different after every change, so it counts only if nothing else has changed.
 */
export function partsOf(fields: readonly Field[]): Part[] {
  const relevant = fields.filter((f) => !f.isVolatile);
  const rest = fields.filter((f) => f.pathText !== "metadata.resourceVersion");
  return [...new Set((relevant.length > 0 ? relevant : rest.length > 0 ? rest : fields).map(partOf))];
}

// Reduces a step to the fields that match; null if none. Creation, deletion and missed changes match any part.
function matching(shown: ShownStep | null, { part, peopleOnly }: TimelineFilter): ShownStep | null {
  if (shown === null) return null;
  const { step, fields } = shown;
  if (peopleOnly && (step.isGap === true || !changeAuthors(step.change).some(isByPeople))) return null;
  if (step.isGap === true || step.change.op !== "update") return shown;
  let kept = part === null ? fields : partsOf(fields).includes(part) ? fields.filter((f) => partOf(f) === part) : [];
  if (peopleOnly) kept = kept.filter((f) => f.by.length === 0 || f.by.some(isByPeople));
  return kept.length === 0 ? null : { ...shown, fields: kept };
}
