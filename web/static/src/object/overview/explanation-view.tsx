// Shows the path from an object to the cause of its verdict, and the objects that it affects.

import { useContext, useState } from "preact/hooks";
import { formatInteger } from "../../text/format.ts";
import type { Severity } from "../../net/wire.ts";
import type { AffectedObject, Explanation, Hop } from "./explanation.ts";
import { Heading, Overview } from "./fact-view.tsx";

const words: Readonly<Record<Severity, string>> = {
  none: "",
  ok: "OK",
  progressing: "Progressing",
  degraded: "Degraded",
  failed: "Failed",
};

export const Chain = ({ hops }: { hops: readonly Hop[] }) => (
  <ol class="chain" aria-label="Path to the cause">
    {hops.map((hop, i) => (
      <HopView key={`${hop.resource}/${hop.ns}/${hop.name}`} hop={hop} from={hops[0]} isCause={i === hops.length - 1} />
    ))}
  </ol>
);

function HopView({ hop, from, isCause }: { hop: Hop; from: Hop | undefined; isCause: boolean }) {
  const { severity, sentence, rule, state } = hop;
  const stateText = state === "missing" ? "missing" : state === "unknown" ? "not examined" : "";
  return (
    <>
      <li
        class="hop"
        data-severity={state === "missing" ? "failed" : severity}
        data-cause={isCause ? "" : undefined}
        aria-current={hop === from ? "true" : undefined}
        title={sentence || undefined}
      >
        <Mark severity={state === "missing" ? "failed" : severity} isNamed={state === "there"} />
        <ObjectName object={hop} ns={from?.ns ?? ""} isLink={hop !== from && state !== "missing"} />
        {stateText !== "" && <em>{stateText}</em>}
        {isCause && <strong class="stop">Cause</strong>}
      </li>
      {rule !== "" && (
        <li class="hop rule" title="The rule whose requests reach no pod">
          <span class="kind">Rule</span> <span class="name">{rule}</span>
        </li>
      )}
    </>
  );
}

/** A severity as a shape with a name for screen readers. */
function Mark({ severity, isNamed = true }: { severity: Severity; isNamed?: boolean }) {
  return isNamed && words[severity] !== "" ? (
    <span class="shape" role="img" aria-label={words[severity]} title={words[severity]} />
  ) : (
    <span class="shape" aria-hidden="true" />
  );
}

// Shows the kind and the name of an object. Its namespace is omitted if the object in the panel has the same namespace.
function ObjectName({ object, ns, isLink }: { object: AffectedObject; ns: string; isLink: boolean }) {
  const { hrefOf } = useContext(Overview);
  const href = isLink && object.resource !== "" ? hrefOf(object.resource, object) : null;
  const name = object.ns === "" || object.ns === ns ? object.name : `${object.ns}/${object.name}`;
  return (
    <>
      <span class="kind">{object.kind}</span>{" "}
      {href === null ? (
        <span class="name">{name}</span>
      ) : (
        <a class="name" href={href} data-address="">
          {name}
        </a>
      )}
    </>
  );
}

const initiallyShown = 8;

const titles: Readonly<Record<string, string>> = {
  "core/v1/resourcequotas": "Refuses new objects of",
};

interface AffectedObjectsProps {
  explanation: Explanation;
  resource: string; // ref of the panel's object; this object affects the listed objects
  ns: string;
}

/** Lists the affected objects. Shows nothing if no object is affected. */
export function AffectedObjects({ explanation, resource, ns }: AffectedObjectsProps) {
  const [isOpen, setOpen] = useState(false);
  const { affected, affectedTotal } = explanation;
  if (affectedTotal === 0) return null;
  const shown = isOpen ? affected : affected.slice(0, initiallyShown);
  const rest = affectedTotal - affected.length;
  return (
    <section class="part affected">
      <Heading>{`${titles[resource] ?? "Affects"} (${formatInteger(affectedTotal)})`}</Heading>
      <ul>
        {shown.map((o) => (
          <li key={`${o.resource}/${o.ns}/${o.name}`} class="hop" data-severity={o.severity}>
            <Mark severity={o.severity} />
            <ObjectName object={o} ns={ns} isLink />
          </li>
        ))}
        {isOpen && rest > 0 && <li class="rest">{`and ${formatInteger(rest)} more`}</li>}
      </ul>
      {affected.length > initiallyShown && (
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show fewer" : rest > 0 ? `Show ${formatInteger(affected.length)}` : "Show all"}
        </button>
      )}
    </section>
  );
}

/** Lists what was not examined. Shows nothing if everything was examined. */
export const Unexamined = ({ sentences }: { sentences: readonly string[] }) =>
  sentences.length === 0 ? null : (
    <details class="part unexamined">
      <summary>Not examined</summary>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </details>
  );
