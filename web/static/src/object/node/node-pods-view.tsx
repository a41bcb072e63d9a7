// The section with the pods on a node, and their requests and limits, as in the output of "kubectl describe node".

import { useContext } from "preact/hooks";
import { formatAges } from "../../text/age.ts";
import { formatInteger } from "../../text/format.ts";
import { coverageText, forbiddenNote, status } from "../../model/status.ts";
import { defaultView, formatView } from "../../model/view.ts";
import { Age, memo, useHighlight } from "../../ui/view.tsx";
import { fact, piece, type Fact } from "../facts/fact.ts";
import { amount, quantity } from "../facts/quantity.ts";
import { valueAt } from "../facts/read.ts";
import type { Amounts } from "../facts/requests.ts";
import { FactList, Heading, Overview } from "../overview/fact-view.tsx";
import { podsRef, type NodePod, type NodePods } from "./node-pods.ts";

const maxShown = 50;

interface Props {
  readonly pods: NodePods;
  readonly node: unknown;
  readonly name: string;
  readonly now: number;
}

export function NodePodsView({ pods, node, name, now }: Props) {
  const all = pods.pods;
  const note = noteOf(pods, all.length, now);
  return (
    <section class="part node-pods">
      <Heading id="node-pods">Pods on this node</Heading>
      <FactList facts={requestFacts(node, pods.requests, pods.limits)} />
      {note !== "" && <p class="note-line">{note}</p>}
      {all.length > 0 && (
        <div class="fact-table">
          <table aria-labelledby="node-pods">
            <thead>
              <tr>
                <th scope="col">Pod</th>
                <th scope="col">Status</th>
                <th scope="col">Restarts</th>
                <th scope="col">Age</th>
                {amountColumns.map(({ label }) => (
                  <th key={label} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {all.slice(0, maxShown).map((pod) => (
                <PodRow
                  key={pod.row.key}
                  {...pod}
                  cpu={allocatableOf(node, "cpu")}
                  memory={allocatableOf(node, "memory")}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {all.length > maxShown && (
        <p class="note-line">
          {`Showing ${maxShown} of ${formatInteger(all.length)} pods, those with problems first. `}
          <a href={formatView({ ...defaultView(podsRef), q: name })} data-address="">
            {`Search all pods for ${name}`}
          </a>
        </p>
      )}
    </section>
  );
}

function noteOf(pods: NodePods, count: number, now: number): string {
  const info = pods.info();
  if (forbiddenNote(info, "Pods") !== null) return "Not shown: you cannot list Pods.";
  if (info.problem !== null) return `Not shown: ${info.problem.detail || info.problem.title}`;
  if (!pods.isComplete) return status(info, now).text;
  if (pods.problem !== "") return pods.problem;
  return coverageText(info) ?? (count === 0 ? "No pods" : "");
}

const amountColumns = [
  { label: "CPU request", resource: "cpu", kind: "requests" },
  { label: "CPU limit", resource: "cpu", kind: "limits" },
  { label: "Memory request", resource: "memory", kind: "requests" },
  { label: "Memory limit", resource: "memory", kind: "limits" },
] as const;

const allocatableOf = (node: unknown, resource: string): number | null =>
  quantity(valueAt(node, "status", "allocatable", resource));

/** Returns the percentage of the node's allocatable amount, such as " (25 %)". Empty if that amount is unknown. */
const shareText = (n: number, allocatable: number | null): string =>
  allocatable === null || allocatable <= 0 ? "" : ` (${Math.round((100 * n) / allocatable)} %)`;

const preferredOrder = ["cpu", "memory", "ephemeral-storage"];

/** Returns the sums of requests and limits by resource, each with its percentage of the node's allocatable amount. */
function requestFacts(node: unknown, requests: Amounts | null, limits: Amounts | null): Fact[] {
  if (requests === null || limits === null) return [];
  const names = [...new Set(["cpu", "memory", ...requests.keys(), ...limits.keys()])].slice(0, 20);
  names.sort((a, b) => (preferredOrder.indexOf(a) + 1 || 9) - (preferredOrder.indexOf(b) + 1 || 9));
  return names.flatMap((name) => {
    const allocatable = allocatableOf(node, name);
    const [requested, limited] = [requests.get(name) ?? 0, limits.get(name) ?? 0];
    const f = fact(
      name,
      `${amount(name, requested)} requested${shareText(requested, allocatable)}`,
      piece(allocatable === null ? "" : `of ${amount(name, allocatable)} allocatable`, { level: "quiet" }),
      piece(limited === 0 ? "" : `limits ${amount(name, limited)}${shareText(limited, allocatable)}`, {
        level: "quiet",
      }),
    );
    if (f === null) return [];
    const hasBar = allocatable !== null && allocatable > 0;
    return [hasBar ? { ...f, bar: { actual: requested, desired: allocatable, level: "good" as const } } : f];
  });
}

interface PodRowProps extends NodePod {
  readonly cpu: number | null; // allocatable on the node
  readonly memory: number | null; // allocatable on the node
}

const PodRow = memo(({ row, status, restarts, amounts, ...allocatable }: PodRowProps) => {
  const address = useContext(Overview).href({ apiVersion: "v1", kind: "Pod", ns: row.ns, name: row.name });
  const { severity, sentence } = row.verdict;
  const name = `${row.ns}/${row.name}`;
  const level = severity === "failed" ? "bad" : severity === "degraded" ? "warn" : undefined;
  return (
    <tr title={sentence || undefined}>
      <th scope="row">
        {address === null ? (
          name
        ) : (
          <a href={address} data-address="">
            {name}
          </a>
        )}
      </th>
      <td data-level={level} ref={useHighlight<HTMLTableCellElement>(status)}>
        {status}
      </td>
      <td ref={useHighlight<HTMLTableCellElement>(restarts)}>
        <Age wire={restarts} format={formatAges} />
      </td>
      <td title={row.created}>
        <Age wire={row.created} format={formatAges} />
      </td>
      {amountColumns.map(({ label, resource, kind }) => {
        const n = amounts?.[kind].get(resource);
        return (
          <td key={label}>{n === undefined ? "–" : `${amount(resource, n)}${shareText(n, allocatable[resource])}`}</td>
        );
      })}
    </tr>
  );
});
