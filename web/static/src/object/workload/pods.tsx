// The section with the replica bar and the pods of a workload or Service.

import type { ComponentChild } from "preact";
import { useContext } from "preact/hooks";
import { formatAges } from "../../text/age.ts";
import { formatInteger } from "../../text/format.ts";
import { forbiddenNote, status } from "../../model/status.ts";
import { isShared } from "../../model/guest.ts";
import { defaultView, formatView, logHref } from "../../model/view.ts";
import { Age, memo, useHighlight } from "../../ui/view.tsx";
import type { Severity } from "../../net/wire.ts";
import { containersOf, restartedContainer } from "../logs/containers.ts";
import { Heading, Overview } from "../overview/fact-view.tsx";
import { isCrash } from "../overview/cause.ts";
import type { Replicas } from "./replicas.ts";
import type { OwnedPod, WorkloadPods } from "./workload-pods.ts";

const maxShown = 50;

const severityLabels: Readonly<Record<Severity, string>> = {
  none: "",
  ok: "",
  progressing: "Progressing",
  degraded: "Degraded",
  failed: "Failed",
};

interface Props {
  readonly workload: WorkloadPods;
  readonly replicas: Replicas | null;
  readonly ns: string;
  readonly isDeleted: boolean;
  readonly now: number;
  /** The chart below the bar of replicas. */
  readonly chart?: ComponentChild;
}

export function Pods({ workload, replicas, ns, isDeleted, now, chart }: Props) {
  const pods = workload.hasPods ? workload.pods : [];
  const note = workload.hasPods ? noteOf(workload, pods.length, ns, isDeleted, now) : "";
  const { total, labels } = workload;
  if (replicas === null && !workload.hasPods) return null;
  const showsLinks = isShared("core/v1/pods/log");
  return (
    <section class="part pods">
      <Heading id="pods-heading">{workload.hasPods ? "Pods" : "Replicas"}</Heading>
      {replicas !== null && <ReplicaBar replicas={replicas} />}
      {replicas !== null && chart}
      {pods.length > 0 && (
        <table aria-labelledby="pods-heading">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Ready</th>
              <th scope="col">Status</th>
              <th scope="col">Restarts</th>
              <th scope="col" class="node">
                Node
              </th>
              <th scope="col" class="age">
                Age
              </th>
              {showsLinks && <th scope="col">Log</th>}
            </tr>
          </thead>
          <tbody>
            {pods.slice(0, maxShown).map((pod) => (
              <PodRow key={pod.name} {...pod} ns={ns} showsLinks={showsLinks} />
            ))}
          </tbody>
        </table>
      )}
      {note !== "" && <p class="pods-note">{note}</p>}
      {pods.length > 0 && labels !== "" && (
        <p class="pods-foot">
          {total > maxShown && `Showing ${maxShown} of ${formatInteger(total)} pods, those with problems first. `}
          <a href={formatView({ ...defaultView("core/v1/pods"), ns: [ns], labels })} data-address="">
            View as a list
          </a>
        </p>
      )}
    </section>
  );
}

function noteOf(workload: WorkloadPods, count: number, ns: string, isDeleted: boolean, now: number): string {
  if (!isShared("core/v1/pods")) return "The share link does not include pods.";
  const info = workload.info ?? workload.intermediateInfo;
  if (info === null) return "";
  // Until the Jobs of a CronJob are known, its pods are not known either.
  const resource = workload.info === null ? "Jobs" : "Pods";
  if (forbiddenNote(info, resource) !== null)
    return `Pods are not shown: you cannot list ${resource} in namespace ${ns}.`;
  if (info.problem !== null) return `Pods are not shown: ${info.problem.detail || info.problem.title}`;
  if (count > 0) return "";
  if (info.state?.state === "absent" || info.state?.state === "failed")
    return `Pods are not shown: ${info.state.reason}`;
  if (!workload.isComplete) return `${status(info, now).text}…`.replace("……", "…");
  if (isDeleted) return "No pods are left.";
  return workload.ownsPods ? "No pods" : "The selector matches no pods.";
}

function ReplicaBar({ replicas: { segments, text, level } }: { replicas: Replicas }) {
  return (
    <div class="replicas">
      {segments.length > 0 && (
        <span class="replica-bar" aria-hidden="true">
          {segments.map((s) => (
            <i
              key={s.label}
              data-level={s.level}
              title={`${formatInteger(s.count)} ${s.label}`}
              style={{ flexGrow: s.count }}
            />
          ))}
        </span>
      )}
      <span ref={useHighlight<HTMLSpanElement>(text)} data-level={level}>
        {text}
      </span>
    </div>
  );
}

const PodRow = memo(
  ({ name, ns, verdict, created, ready, status, restarts, node, object, showsLinks }: OwnedPod & RowProps) => {
    const { hrefOf, href } = useContext(Overview);
    const podHref = hrefOf("core/v1/pods", { ns, name });
    const nodeHref = node === "" ? null : href({ apiVersion: "v1", kind: "Node", ns: "", name: node });
    const { severity, reason, sentence } = verdict;
    const [count = "", when = ""] = restarts.split(/ (?=\()/);
    const crashed = isCrash(reason, sentence);
    const container = crashed ? restartedContainer(containersOf(object)) : "";
    return (
      <>
        <tr data-severity={severity}>
          <th scope="row">
            <span class="glyph" aria-hidden="true" />
            <span class="severity">{severityLabels[severity]}</span>
            {podHref === null ? (
              name
            ) : (
              <a href={podHref} data-address="" title={name}>
                {name}
              </a>
            )}
          </th>
          <td ref={useHighlight<HTMLTableCellElement>(ready)}>{ready}</td>
          <td class="state" ref={useHighlight<HTMLTableCellElement>(status)}>
            {status}
          </td>
          <td ref={useHighlight<HTMLTableCellElement>(restarts)}>
            {count}
            {when !== "" && (
              <span class="when">
                {" "}
                <Age wire={when} />
              </span>
            )}
          </td>
          <td class="node">
            {nodeHref === null ? (
              node || "–"
            ) : (
              <a href={nodeHref} data-address="" title={node}>
                {node}
              </a>
            )}
          </td>
          <td class="age" title={created}>
            <Age wire={created} format={formatAges} />
          </td>
          {showsLinks && (
            <td>
              <a
                href={logHref("core/v1/pods", { ns, name }, { container, previous: crashed })}
                data-address=""
                aria-label={`${crashed ? "Previous log" : "Log"} of ${name}`}
                title={crashed ? "Log of the previous container instance, before the crash" : "Log"}
              >
                {crashed ? "Previous" : "Log"}
              </a>
            </td>
          )}
        </tr>
        {sentence !== "" && (
          <tr class="why">
            <td colSpan={showsLinks ? 7 : 6}>{sentence}</td>
          </tr>
        )}
      </>
    );
  },
);

interface RowProps {
  readonly ns: string;
  readonly showsLinks: boolean;
}
