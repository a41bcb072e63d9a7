// The strip of facts above the problems: the API server, nodes, pods and requested resources.

import type { ComponentChildren } from "preact";
import { formatInteger } from "../text/format.ts";
import type { Amount, Overview, Quota } from "../net/overview.ts";
import { TimedText } from "../ui/view.tsx";
import { bytesOf, hasEvents, percent, plural, podsText, quotaText, shortNumber } from "./home-text.ts";
import { listHref } from "./links.ts";

const recent = 5 * 60_000; // ms; a warning counts as recent for this time

function Fact(props: {
  label: string;
  href?: string | null;
  level?: "good" | "warn" | "bad" | "";
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <div data-level={props.level || null} title={props.title}>
      <dt>{props.label}</dt>
      <dd>{props.href == null ? props.children : <a href={props.href}>{props.children}</a>}</dd>
    </div>
  );
}

/** A thin bar. The bar is hidden from screen readers, because a text next to it contains the value. */
const Meter = ({ value }: { value: number }) => (
  <span
    class="meter"
    aria-hidden="true"
    data-level={value > 100 ? "bad" : value >= 90 ? "warn" : null}
    style={{ "--share": `${Math.min(100, Math.max(0, value))}%` }}
  />
);

/** Shows what the pods request. Without permission for nodes, the allocatable amount is 0, and is omitted. */
function Requested(props: { label: string; amount: Amount | null; text: (part: number, total: number) => string }) {
  const { label, amount, text } = props;
  if (amount === null) return null;
  const { requested, allocatable } = amount;
  const value = percent(requested, allocatable);
  return (
    <Fact
      label={`${label} requested`}
      level={value > 100 ? "bad" : value >= 90 ? "warn" : ""}
      title={
        allocatable > 0
          ? `The pods request ${text(requested, allocatable)} that are allocatable on the nodes.`
          : "The allocatable amount of the nodes is unknown."
      }
    >
      {allocatable > 0 ? `${text(requested, allocatable)} (${value}%)` : text(requested, 0)}
      {allocatable > 0 && <Meter value={value} />}
    </Fact>
  );
}

function warningText({ warnings, watched }: Pick<Overview, "warnings" | "watched">, now: number): string {
  if (!hasEvents(watched)) return "unknown";
  const n = warnings.filter((w) => w.last !== "" && now - Date.parse(w.last) < recent).length;
  return n === 0 ? "none" : plural(n, "reason");
}

export function Strip({ overview, ns }: { overview: Overview; ns: readonly string[] }) {
  const { nodes, pods, cpu, memory, quotas, apiServer } = overview.summary;
  const facts = (
    <dl class="strip">
      <ServerFact server={apiServer} />
      {nodes !== null && (
        <Fact
          label="Nodes ready"
          href={listHref("core/v1/nodes", [], nodes.ready < nodes.total ? "is:failing" : "")}
          level={nodes.ready < nodes.total ? "bad" : ""}
        >
          {`${formatInteger(nodes.ready)} of ${formatInteger(nodes.total)}`}
        </Fact>
      )}
      {pods !== null && (
        <Fact
          label={`Pods ${formatInteger([...pods.values()].reduce((n, m) => n + m, 0))}`}
          href={listHref("core/v1/pods", ns)}
        >
          {podsText(pods) || "none"}
        </Fact>
      )}
      <Requested
        label="CPU"
        amount={cpu}
        text={(part, total) => `${shortNumber(part)}${total > 0 ? ` of ${shortNumber(total)}` : ""} cores`}
      />
      <Requested label="Memory" amount={memory} text={bytesOf} />
      <Fact label="Warnings, last 5 min" href={listHref("core/v1/events", ns)}>
        <TimedText format={(now) => warningText(overview, now)} />
      </Fact>
    </dl>
  );
  if (quotas.length === 0) return facts;
  return (
    <>
      {facts}
      <dl class="strip">
        {quotas.map((q) => (
          <QuotaFact key={`${q.name}/${q.resource}`} quota={q} />
        ))}
      </dl>
    </>
  );
}

function ServerFact({ server: { version, state, reason, latency } }: { server: Overview["summary"]["apiServer"] }) {
  const isLive = state === "live";
  return (
    <Fact
      label={`API server${version === "" ? "" : ` ${version}`}`}
      level={state === null ? "" : isLive ? "good" : "bad"}
      title={reason || (latency > 0 ? `The last API discovery took at most ${latency} ms.` : "")}
    >
      {state === null ? "unknown" : isLive ? `Responds${latency > 0 ? ` in ${latency} ms` : ""}` : "Unavailable"}
    </Fact>
  );
}

const QuotaFact = ({ quota: q }: { quota: Quota }) => (
  <Fact
    label={`Quota: ${q.resource}`}
    level={q.percent > 100 ? "bad" : q.percent >= 90 ? "warn" : ""}
    title={`ResourceQuota ${q.name}: ${q.used} of ${q.hard} used`}
  >
    {`${quotaText(q)} (${q.percent}%)`}
    <Meter value={q.percent} />
  </Fact>
);
