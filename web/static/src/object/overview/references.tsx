// Shows the references to and from this object, on request, because the server must search other resources.

import type { TargetedMouseEvent } from "preact";
import { clockTime } from "../../text/age.ts";
import { Age } from "../../ui/view.tsx";
import { formatInteger } from "../../text/format.ts";
import { nodeHref, nodeLabel } from "../related/card.ts";
import { groupsOf, type Graph, type Relation } from "../related/graph.ts";
import { NodeState } from "../related/node-state.tsx";
import { RelatedPoller } from "../related/poller.ts";
import { SearchedDetails, wasSearched } from "../related/searched.tsx";
import type { TabHost } from "../tab.ts";
import { objectHref } from "../../model/view.ts";
import type { Problem } from "../../net/wire.ts";
import { Heading } from "./fact-view.tsx";

const maxPerGroup = 8;
// Other parts of the overview show the owners. The group "Indirect" contains, for example, the Services that select the
// pods of a Deployment.
const groupTitles = ["Owns", "Uses", "Used by", "Selects", "Selected by", "Indirect"];

export class ReferenceReader {
  graph: Graph | null = null;
  readAt = "";
  /** The reason why the previous request failed. Empty if it succeeded. */
  problem = "";
  isDeleted = false;
  private readonly poller: RelatedPoller;
  private objectUid = "";

  constructor(
    readonly host: TabHost,
    private readonly onChange: () => void,
  ) {
    this.poller = new RelatedPoller(
      host,
      (graph, at) => {
        this.graph = graph;
        this.readAt = new Date(at).toISOString();
        this.problem = "";
        this.onChange();
      },
      (problem) => this.failed(problem),
      () => this.onChange(),
    );
  }

  get isBusy(): boolean {
    return this.poller.isBusy;
  }

  request(): void {
    this.poller.request();
  }

  /** Sets the object whose references are shown. `uid` is empty if the viewer is not permitted to see the object. */
  show(uid: string, isDeleted: boolean): void {
    this.isDeleted = isDeleted;
    if (isDeleted || uid !== this.objectUid) {
      this.poller.close();
      this.problem = "";
    }
    if (uid !== this.objectUid) this.graph = null;
    this.objectUid = uid;
  }

  close(): void {
    this.poller.close();
  }

  private failed({ status, title, detail }: Problem): void {
    // If the viewer lost permission, remove the references from the screen.
    if (status === 403) this.graph = null;
    this.problem = `${title}. ${detail}${this.graph === null ? "" : " Showing the previous result."}`;
    this.onChange();
  }
}

const snapshotText = (at: string, now: number): string => `Snapshot from ${clockTime(at, now)}`;

export function References({ reader }: { reader: ReferenceReader }) {
  const { host, graph, isBusy } = reader;
  return (
    <section class="part uses">
      <Heading>References</Heading>
      <p class="uses-bar">
        <button type="button" hidden={reader.isDeleted} disabled={isBusy} onClick={() => reader.request()}>
          {graph === null ? "Find references" : "Refresh"}
        </button>
        <span class="related-time">
          {graph !== null ? <Age wire={reader.readAt} format={snapshotText} /> : isBusy && "Searching…"}
        </span>
        <a href={objectHref(host.kind.ref, host.name, "related")} onClick={openRelatedTab}>
          View all in Related
        </a>
      </p>
      <p role="status" data-level="warn">
        {reader.problem}
      </p>
      <div class="uses-list">{graph !== null && <Groups graph={graph} ns={host.name.ns} />}</div>
      {graph !== null && <SearchedDetails graph={graph} host={host} />}
    </section>
  );
}

// A plain click switches to the Related tab without loading a page.
function openRelatedTab(e: TargetedMouseEvent<HTMLAnchorElement>): void {
  if (e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
  e.preventDefault();
  document.getElementById("tab-related")?.click();
}

function Groups({ graph, ns }: { graph: Graph; ns: string }) {
  const groups = groupsOf(graph).filter((g) => groupTitles.includes(g.title));
  if (groups.length === 0)
    return (
      <p>
        {graph.searched.every((s) => wasSearched(s) && s.namespaces.length === 0)
          ? "No references found"
          : "No references found in the searched resource types and namespaces"}
      </p>
    );
  return (
    <dl class="pairs">
      {groups.map(({ title, relations }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            {relations.slice(0, maxPerGroup).map((relation) => (
              <Reference key={relation.node.id} relation={relation} ns={ns} />
            ))}
            {relations.length > maxPerGroup && (
              <span data-level="quiet">{`and ${formatInteger(relations.length - maxPerGroup)} more`}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Reference({ relation: { node, intermediate }, ns }: { relation: Relation; ns: string }) {
  const href = nodeHref(node, true, "");
  const name = nodeLabel(node);
  return (
    <span>
      <span class="kind">{node.kind}</span>{" "}
      {href === null ? (
        <span>{name}</span>
      ) : (
        <a href={href} data-address="">
          {name}
        </a>
      )}
      {node.ns !== "" && node.ns !== ns && <span class="where">{` in ${node.ns}`}</span>}
      {intermediate !== null && (
        <span class="where">
          {` ${intermediate.words} ${intermediate.object.kind} ${nodeLabel(intermediate.object)}`}
        </span>
      )}
      {node.state !== "there" && " "}
      <NodeState node={node} />
    </span>
  );
}
