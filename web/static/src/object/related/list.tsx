import { formatInteger } from "../../text/format.ts";
import { nodeDescription, nodeHref, nodeLabel } from "./card.ts";
import { groupsOf, type Graph, type GraphNode, type Relation } from "./graph.ts";
import { NodeState } from "./node-state.tsx";

interface RelatedListProps {
  graph: Graph;
  inPanel: boolean;
  ns: string;
}

export const RelatedList = ({ graph, inPanel, ns }: RelatedListProps) => (
  <div class="related-list" tabIndex={0} role="region" aria-label="Related objects as a list">
    {groupsOf(graph).map(({ title, relations }) => (
      <section key={title}>
        <h3 aria-level={inPanel ? undefined : 2}>
          {title}
          <span class="count">{formatInteger(relations.reduce((n, r) => n + Math.max(1, r.node.count), 0))}</span>
        </h3>
        <ul>
          {relations.map((r) => (
            <Item key={`${r.node.id} ${r.via}`} relation={r} inPanel={inPanel} ns={ns} />
          ))}
        </ul>
      </section>
    ))}
  </div>
);

interface ItemProps {
  relation: Relation;
  inPanel: boolean;
  ns: string;
}

const Item = ({ relation: { node, intermediate, via }, inPanel, ns }: ItemProps) => (
  <li>
    <span class="kind">{node.kind}</span>
    <div>
      <NodeLink node={node} inPanel={inPanel} />
      {node.ns !== "" && node.ns !== ns && <span class="where">{`in ${node.ns}`}</span>}
      <NodeState node={node} />
      {intermediate !== null && (
        <span class="through">
          {`${intermediate.words} ${intermediate.object.kind} ${nodeLabel(intermediate.object)}`}
        </span>
      )}
      <span class="via">{via}</span>
      {node.reason !== "" && <span class="reason">{node.reason}</span>}
    </div>
  </li>
);

function NodeLink({ node, inPanel }: { node: GraphNode; inPanel: boolean }) {
  const href = nodeHref(node, inPanel);
  const description = nodeDescription(node, false);
  const attributes = {
    "data-id": node.id,
    "data-state": node.state,
    "data-grouped": node.count > 0 ? "" : undefined,
    title: description,
  };
  return href === null ? (
    <span {...attributes} tabIndex={0} role="group" aria-label={description}>
      {nodeLabel(node)}
    </span>
  ) : (
    <a {...attributes} href={href} data-address="">
      {nodeLabel(node)}
    </a>
  );
}
