// The problems of the home page, the worst first. web/templates/home.templ renders the same elements, except the
// objects in progress.

import { formatInteger } from "../text/format.ts";
import { formatAges } from "../text/age.ts";
import type { Finding, Member, ObjectRef, Overview, SpecChange } from "../net/overview.ts";
import { Age, memo, useHighlight } from "../ui/view.tsx";
import { changeText, crashedPod, nameOf, otherCause, otherOwner, pluralOfWatched, sentenceOf } from "./home-text.ts";
import { hrefOf, listHref } from "./links.ts";

/** Shows how many objects of each resource are progressing, for example during a rollout. */
export const InProgress = ({ overview, ns }: { overview: Overview; ns: readonly string[] }) =>
  overview.progressing.length === 0 ? null : (
    <p class="progressing">
      {"In progress: "}
      {overview.progressing.map((p, n) => {
        const text = `${formatInteger(p.count)} ${p.count === 1 ? p.kind : pluralOfWatched(p)}`;
        const href = listHref(p.resource, ns, "is:progressing");
        return (
          <span key={p.resource}>
            {n > 0 && ", "}
            {href === null ? text : <a href={href}>{text}</a>}
          </span>
        );
      })}
    </p>
  );

export const keyOf = (o: ObjectRef): string => `${o.resource}/${nameOf(o)}`;

interface LinkProps {
  of: ObjectRef;
  kind?: boolean;
  name?: string;
  exists?: boolean;
  tab?: string;
  /** A namespace that the page already shows near the link. The link's text then omits this namespace. */
  within?: string;
}

export function ObjectLink({
  of,
  kind = false,
  name = "object-link",
  exists = true,
  tab = "",
  within = "",
}: LinkProps) {
  const content = (
    <>
      {kind && (
        <>
          <span class="kind">{of.kind}</span>{" "}
        </>
      )}
      {of.ns !== within && <span class="ns">{`${of.ns}/`}</span>}
      <span class="name">{of.name}</span>
    </>
  );
  const href = exists ? hrefOf(of, tab) : null;
  return href === null ? (
    <span class={name}>{content}</span>
  ) : (
    <a class={name} href={href}>
      {content}
    </a>
  );
}

function Change({ change, of }: { change: SpecChange; of: ObjectRef | null }) {
  const href = change.isDeletion ? null : hrefOf(change, "changes");
  const content = (
    <>
      {`${changeText(change, of)} `}
      <Ago at={change.at} />
    </>
  );
  return href === null ? (
    <span class="spec-change" title={change.what || undefined}>
      {content}
    </span>
  ) : (
    <a class="spec-change" href={href} title={change.what || undefined}>
      {content}
    </a>
  );
}

export function Ago({ at }: { at: string }) {
  const wire = at === "" ? "" : `${wireTime(at)} ago`;
  return (
    <span data-wire={wire}>
      <Age wire={wire} format={formatAges} />
    </span>
  );
}

// Formats a time as the server does: in UTC, with full seconds.
const wireTime = (at: string): string => new Date(at).toISOString().replace(/\.\d+/, "");

const severityWord = (m: Member): string => m.verdict.severity.slice(0, 1).toUpperCase() + m.verdict.severity.slice(1);

function Facts({ finding }: { finding: Finding }) {
  const cause = otherCause(finding);
  const owner = otherOwner(finding);
  const crashed = crashedPod(finding);
  const log = crashed === null ? null : hrefOf(crashed.pod, "logs", crashed.log);
  if (finding.count <= 1 && !(cause ?? owner ?? log ?? finding.lastChange)) return null;
  return (
    <ul class="facts">
      {cause !== null && (
        <li>
          {"Cause: "}
          <ObjectLink
            of={cause}
            kind
            name="cause"
            exists={!cause.missing}
            within={cause.ns === finding.ns ? cause.ns : ""}
          />
          {cause.missing && <span class="missing"> (missing)</span>}
        </li>
      )}
      {owner !== null && (
        <li>
          {"Owner: "}
          <ObjectLink of={owner} kind name="owner" within={owner.ns === finding.ns ? owner.ns : ""} />
        </li>
      )}
      {log !== null && (
        <li>
          <a class="log" href={log}>
            Previous log
          </a>
        </li>
      )}
      {finding.lastChange !== null && (
        <li>
          <Change change={finding.lastChange} of={finding} />
        </li>
      )}
      {finding.count > 1 && (
        <li class="members">
          <Members finding={finding} />
        </li>
      )}
    </ul>
  );
}

const Path = ({ finding: { chain, cause, ns } }: { finding: Finding }) => (
  <li class="path">
    {"Path to the cause: "}
    {chain.map((o, i) => (
      <ObjectLink
        of={o}
        kind
        name="hop"
        exists={i < chain.length - 1 || cause?.missing !== true}
        within={o.ns === ns ? ns : ""}
      />
    ))}
  </li>
);

function Members({ finding }: { finding: Finding }) {
  const { count, members } = finding;
  return (
    <details>
      <summary>{`${formatInteger(count)} objects`}</summary>
      <ul>
        {finding.chain.length > 1 && <Path finding={finding} />}
        {members.map((m) => (
          <li key={keyOf(m)} data-severity={m.verdict.severity} data-key={keyOf(m)}>
            <ObjectLink of={m} kind />
            <span class="sentence">{sentenceOf(m)}</span>
          </li>
        ))}
        {count > members.length && <li class="rest">{`and ${formatInteger(count - members.length)} more`}</li>}
      </ul>
    </details>
  );
}

/** Renders one problem. Its parameter is JSON, so that an unchanged problem in a new message is not rendered again. */
const Problem = memo<{ json: string }>(({ json }) => {
  const finding = JSON.parse(json) as Finding;
  const { severity } = finding.verdict;
  const sentence = sentenceOf(finding);
  const highlight = useHighlight<HTMLParagraphElement>(`${severity} ${sentence}`);
  const since = finding.since === "" ? "" : wireTime(finding.since);
  return (
    <li class="finding" data-severity={severity} data-key={keyOf(finding)}>
      <div class="what">
        <ObjectLink of={finding} />
        <p class="of">
          <span class="severity">{severityWord(finding)}</span> <span class="kind">{finding.kind}</span>
        </p>
      </div>
      <div class="why">
        <p class="sentence" ref={highlight}>
          {sentence}
        </p>
        <Facts finding={finding} />
      </div>
      <span class="since" data-wire={since}>
        <Age wire={since} format={formatAges} />
      </span>
    </li>
  );
});

export const Problems = ({ findings }: { findings: readonly Finding[] }) => (
  <ol id="rows" class="findings">
    {findings.map((finding) => (
      <Problem key={keyOf(finding)} json={JSON.stringify(finding)} />
    ))}
  </ol>
);
