import { useLayoutEffect, useRef } from "preact/hooks";
import { diffView, type DiffLayout } from "../../diff/diff-view.ts";
import type { Field } from "../../model/fields.ts";
import { isMasked } from "../../model/masked.ts";
import { Author } from "../../ui/author.tsx";
import { partOf } from "../../activity/timeline.ts";
import { valueLines } from "./values.ts";

const maxLines = 24; // a value with more lines is shortened until the user expands it
const maxBriefLength = 64; // characters; a change is drawn on one line if both values together are not longer

interface FieldViewProps {
  field: Field;
  layout: DiffLayout;
  showAuthors?: boolean;
  /** Whether the field is below the heading of a section, so that its own heading is one level lower. */
  isNested?: boolean;
}

/** Shows a changed field with its previous and its new value. */
export function FieldView({ field: f, layout, showAuthors = false, isNested = false }: FieldViewProps) {
  const Path = isNested ? "h4" : "h3";
  const maskedCount = [f.before, f.after].filter((v) => v.type === "value" && isMasked(v.value)).length;
  const [before, after] = [valueLines(f.before), valueLines(f.after)];
  const isShort =
    before.join("").length + after.join("").length <= maxBriefLength && before.length <= 1 && after.length <= 1;
  const isBrief = isShort && maskedCount === 0 && layout === "inline" && f.before.type !== "unknown";
  return (
    <div class={isBrief ? `field brief${partOf(f) === "status" ? " neutral" : ""}` : "field"}>
      <Path class="path">
        {f.pathText}
        {showAuthors && f.by.map((author) => <Author author={author} />)}
      </Path>
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
          {maskedCount > 0 && (
            <p class="value-note">{maskedCount === 2 ? "Masked value changed" : "The value is masked."}</p>
          )}
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
