import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { clockTime } from "../../text/age.ts";
import { diffView, type DiffLayout } from "../../diff/diff-view.ts";
import { jsonText, type Field } from "../../model/fields.ts";
import { valueAt } from "../../model/paths.ts";
import type { HistoryStep } from "../../model/history.ts";
import { isMasked } from "../../model/masked.ts";
import { applicableOps } from "../../model/volatile-fields.ts";
import { changeAuthors, gapLabel, opLabels, type StepGroup } from "../../activity/timeline.ts";
import { valueLines } from "./values.ts";
import { Author, ChangeTime } from "../../ui/author.tsx";
import { memo, useNow } from "../../ui/view.tsx";
import type { Change, JsonObject } from "../../net/wire.ts";

const maxLines = 24; // a longer value is shortened at first
const maxBriefLength = 64; // characters of both values together, for a one-line change

/** Shows a change, or consecutive minor changes in a collapsed section. */
export const ChangeGroup = memo(({ group, layout }: { group: StepGroup; layout: DiffLayout }) => {
  const [wasOpened, setOpened] = useState(false);
  const [{ step, fields, isMinor }] = group;
  if (!isMinor) return <ChangeEntry step={step} fields={fields} layout={layout} />;
  return (
    <details class="minor-changes" onToggle={(e) => e.currentTarget.open && setOpened(true)}>
      <summary>
        {`${group.length} minor ${group.length === 1 ? "change" : "changes"}`}
        <ChangeTime at={step.change.time} />
      </summary>
      {wasOpened &&
        group.map((s) => <ChangeEntry key={s.step.number} step={s.step} fields={s.fields} layout={layout} />)}
    </details>
  );
});

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
        <ChangeTime at={change.time} />
        <span class="who">
          {authors.map((author) => (
            <Author author={author} />
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
            title="Heartbeats, resource versions and similar fields"
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
  const prefix = "Earlier changes were missed";
  if (before === null || after === null) return prefix;
  const uid = (o: JsonObject): unknown => valueAt(o, ["metadata", "uid"]);
  return `${prefix}; ${
    uid(before) === uid(after) ? "this is their combined result" : "deleted and recreated, with these differences"
  }`;
}

function FieldView({ field: f, layout, showAuthors }: { field: Field; layout: DiffLayout; showAuthors: boolean }) {
  const masked = [f.before, f.after].some((v) => v.type === "value" && isMasked(v.value));
  const [before, after] = [valueLines(f.before), valueLines(f.after)];
  const isShort =
    before.join("").length + after.join("").length <= maxBriefLength && before.length <= 1 && after.length <= 1;
  const isBrief = isShort && !masked && layout === "inline" && f.before.type !== "unknown";
  return (
    <div class={isBrief ? "field brief" : "field"}>
      <h3 class="path">
        {f.pathText}
        {showAuthors && f.by.map((author) => <Author author={author} />)}
      </h3>
      {isBrief ? (
        <span class="replacement">
          {before.map((line) => (
            <del>{line}</del>
          ))}
          {after.map((line) => (
            <ins>{line}</ins>
          ))}
        </span>
      ) : (
        <>
          {f.before.type === "unknown" && <p class="value-note">The previous value is unknown.</p>}
          <Diff field={f} layout={layout} />
          {masked && <p class="value-note">Masked value changed</p>}
        </>
      )}
    </div>
  );
}

function Diff({ field, layout }: { field: Field; layout: DiffLayout }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const diff = diffView(valueLines(field.before), valueLines(field.after), { layout, maxPairs: maxLines });
    place.current?.replaceChildren(diff);
  }, [field, layout]);
  return <div ref={place} />;
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
        "such as metadata.resourceVersion"
      }
      onClick={copy}
    >
      {result || "Copy patch"}
    </button>
  );
}
