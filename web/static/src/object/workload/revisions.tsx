// The section with the revisions of a workload, and the differences between two of them.

import { useState } from "preact/hooks";
import { formatAges } from "../../text/age.ts";
import { forbiddenNote } from "../../model/status.ts";
import type { SubscriptionInfo } from "../../model/status.ts";
import { Age, useHighlight } from "../../ui/view.tsx";
import { FieldView } from "../changes/field-view.tsx";
import { Heading } from "../overview/fact-view.tsx";
import { changeSummary, differences, shortImage, type Revision } from "./revisions.ts";

interface Props {
  readonly revisions: readonly Revision[];
  readonly info: SubscriptionInfo | null;
  readonly ns: string;
  readonly resource: string; // plural of the resource, such as "ReplicaSets"
}

export function Revisions({ revisions, info, ns, resource }: Props) {
  const [opened, setOpened] = useState("");
  const isForbidden = info !== null && forbiddenNote(info, resource) !== null;
  if (info === null || (revisions.length === 0 && !isForbidden)) return null;
  return (
    <section class="part rollouts">
      <Heading id="revisions-heading">Rollouts</Heading>
      {isForbidden ? (
        <p class="pods-note">{`Revisions are not shown: you cannot list ${resource} in namespace ${ns}.`}</p>
      ) : (
        <table aria-labelledby="revisions-heading">
          <thead>
            <tr>
              <th scope="col">Revision</th>
              <th scope="col">Image</th>
              <th scope="col">Changes</th>
              <th scope="col" class="ready">
                Ready
              </th>
              <th scope="col">Age</th>
              <th scope="col">Diff</th>
            </tr>
          </thead>
          <tbody>
            {revisions.map((revision, i) => (
              <RevisionRow
                key={revision.key}
                revision={revision}
                previous={revisions[i + 1]}
                all={revisions}
                isOpen={opened === revision.key}
                toggle={() => setOpened(opened === revision.key ? "" : revision.key)}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface RowProps {
  revision: Revision;
  previous: Revision | undefined; // the revision before this one; undefined if this is the oldest
  all: readonly Revision[];
  isOpen: boolean;
  toggle: () => void;
}

const labelOf = ({ number, name }: Revision): string => (number === null ? name : String(number));

function RevisionRow({ revision, previous, all, isOpen, toggle }: RowProps) {
  const { name, images, replicas, created, isCurrent, cause } = revision;
  const ready = replicas === null ? "–" : `${replicas.ready}/${replicas.desired}`;
  const summary = previous === undefined ? "" : changeSummary(previous, revision);
  return (
    <>
      <tr data-current={isCurrent ? "" : undefined}>
        <th scope="row" title={name}>
          {labelOf(revision)}
          {isCurrent && <span class="current">latest</span>}
        </th>
        <td class="image" title={images.join("\n")}>
          {images.map((image) => (
            <span key={image}>{shortImage(image)}</span>
          ))}
        </td>
        <td class="change-summary">
          {summary || (previous === undefined ? "oldest revision shown" : "no changes")}
          {cause !== "" && <span class="change-cause">{cause}</span>}
        </td>
        <td class="ready" ref={useHighlight<HTMLTableCellElement>(ready)}>
          {ready}
        </td>
        <td title={created}>
          <Age wire={created} format={formatAges} />
        </td>
        <td>
          {all.length > 1 && (
            <button
              type="button"
              aria-expanded={isOpen}
              aria-label={`${isOpen ? "Hide" : "Show"} the differences of revision ${labelOf(revision)}`}
              onClick={toggle}
            >
              {isOpen ? "Hide" : "Show"}
            </button>
          )}
        </td>
      </tr>
      {isOpen && (
        <tr class="revision-diff">
          <td colSpan={6}>
            <Differences revision={revision} previous={previous} all={all} />
          </td>
        </tr>
      )}
    </>
  );
}

function Differences({ revision, previous, all }: Pick<RowProps, "revision" | "previous" | "all">) {
  const others = all.filter((r) => r.key !== revision.key);
  const [baseKey, setBaseKey] = useState((previous ?? others[0])?.key ?? "");
  const base = others.find((r) => r.key === baseKey) ?? previous ?? others[0];
  if (base === undefined) return null;
  const fields = differences(base, revision).filter((f) => f.pathText !== ".");
  return (
    <div class="revision-fields">
      <label>
        {"From revision "}
        <select value={base.key} onChange={(e) => setBaseKey(e.currentTarget.value)}>
          {others.map((r) => (
            <option key={r.key} value={r.key}>
              {labelOf(r)}
            </option>
          ))}
        </select>
        {` to revision ${labelOf(revision)}`}
      </label>
      {fields.length === 0 && <p class="pods-note">The pod templates are equal.</p>}
      {fields.map((field) => (
        <FieldView key={field.pathText} field={field} layout="inline" isNested />
      ))}
    </div>
  );
}
