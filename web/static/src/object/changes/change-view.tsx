import { useState } from "preact/hooks";
import { clockTime } from "../../text/age.ts";
import type { DiffLayout } from "../../diff/diff-view.ts";
import { jsonText, type Field } from "../../model/fields.ts";
import { isMasked } from "../../model/masked.ts";
import { valueAt } from "../../model/paths.ts";
import type { HistoryStep } from "../../model/history.ts";
import { applicableOps } from "../../model/volatile-fields.ts";
import { changeAuthors, gapLabel, isBurst, isByPeople, opLabels, type StepGroup } from "../../activity/timeline.ts";
import { netChanges } from "./net-changes.ts";
import { FieldView } from "./field-view.tsx";
import { Author, ChangeTime } from "../../ui/author.tsx";
import { memo, useNow } from "../../ui/view.tsx";
import type { Change, JsonObject } from "../../net/wire.ts";

/** Shows one change, or a collapsed run of minor changes (such as lease renewals) or of status updates. */
export const ChangeGroup = memo(({ group, layout }: { group: StepGroup; layout: DiffLayout }) => {
  const [wasOpened, setOpened] = useState(false);
  const [{ step, fields, isMinor }] = group;
  const burst = isBurst(group);
  if (!isMinor && !burst) return <ChangeEntry step={step} fields={fields} layout={layout} />;
  return (
    <details class="minor-changes" onToggle={(e) => e.currentTarget.open && setOpened(true)}>
      <summary title={burst ? undefined : "Lease renewals, resource versions and similar fields"}>
        {burst ? <Burst group={group} /> : `${group.length} minor ${group.length === 1 ? "change" : "changes"}`}
        <ChangeTime at={step.change.time} />
      </summary>
      {wasOpened &&
        group.map((s) => <ChangeEntry key={s.step.number} step={s.step} fields={s.fields} layout={layout} />)}
    </details>
  );
});

function Burst({ group }: { group: StepGroup }) {
  const now = useNow();
  const updates = group.filter((s) => !s.isMinor);
  const clock = (s: StepGroup[number] | undefined): string => clockTime(s?.step.change.time ?? "", now());
  const authors = [...new Set(updates.flatMap((s) => changeAuthors(s.step.change).map((a) => a.manager)))];
  const [from, to] = [clock(updates.at(-1)), clock(updates[0])];
  return (
    <span class="burst">
      <span class="range">{from === to ? to : `${from}–${to}`}</span>{" "}
      <b>{`${authors.slice(0, 3).join(", ")}${authors.length > 3 ? ", …" : ""}`}</b>
      {` ${updates.length} status updates`}
      {netChanges(updates).map((text, i) => `${i === 0 ? ": " : ", "}${text}`)}
    </span>
  );
}

interface ChangeEntryProps {
  step: HistoryStep;
  fields: readonly Field[];
  layout: DiffLayout;
}

function ChangeEntry({ step, fields, layout }: ChangeEntryProps) {
  const now = useNow();
  const [showsMinor, setShowsMinor] = useState(false);
  const { change, isGap } = step;
  const authors = changeAuthors(change);
  const op = isGap ? gapLabel : opLabels[change.op];
  const isUpdate = change.op === "update";
  const relevant = fields.filter((f) => !f.isVolatile);
  const minor = fields.filter((f) => f.isVolatile);
  const hidesMinor = relevant.length > 0 && minor.length > 0 && !showsMinor;
  const shown = hidesMinor ? relevant : [...relevant, ...minor];
  return (
    <article
      class="change-entry"
      data-op={isGap ? "missed" : change.op}
      aria-label={`${op} ${clockTime(change.time, now())}`}
    >
      <header>
        <span class="op">{op}</span>
        <span class="at">{clockTime(change.time, now())}</span>
        <ChangeTime at={change.time} />
        <span class="who">
          {authors.map((author) => (
            <Author author={author} isPerson={isByPeople(author)} />
          ))}
          {authors.length === 0 && (
            <span class="by">
              <span class="how">{isGap ? missedText(step) : "Unknown author"}</span>
            </span>
          )}
        </span>
        {isUpdate && hidesMinor && (
          <button
            type="button"
            class="copy"
            title="Show lease renewals, resource versions and similar fields"
            onClick={() => setShowsMinor(true)}
          >
            {`${minor.length} minor ${minor.length === 1 ? "field" : "fields"}`}
          </button>
        )}
        {isUpdate && !isGap && <CopyButton change={change} />}
      </header>
      {isUpdate &&
        shown.map((f) => <FieldView key={f.pathText} field={f} layout={layout} showAuthors={authors.length > 1} />)}
    </article>
  );
}

function missedText({ before, after }: HistoryStep): string {
  const missed = "Some changes before this time were not received";
  if (before === null || after === null) return missed;
  const uid = (o: JsonObject): unknown => valueAt(o, ["metadata", "uid"]);
  return uid(before) === uid(after)
    ? `${missed}; only their combined difference is shown`
    : "The object was deleted and recreated before this time; only the combined difference is shown";
}

function CopyButton({ change }: { change: Change }) {
  const [result, setResult] = useState("");
  const showResult = (text: string): void => {
    setResult(text);
    setTimeout(() => setResult(""), 2000);
  };
  const copy = (): void => {
    navigator.clipboard.writeText(jsonText(applicableOps(change.patch))).then(
      () => showResult("Copied"),
      () => showResult("Copy failed"),
    );
  };
  return (
    <button
      type="button"
      class="copy"
      title={
        "Copy this change as a JSON Patch (RFC 6902), without fields that the API server sets, " +
        `such as metadata.resourceVersion.${isMasked(change.patch) ? " Masked values stay masked." : ""}`
      }
      onClick={copy}
    >
      {result || "Copy patch"}
    </button>
  );
}
