import { stateLabels } from "./card.ts";
import type { GraphNode } from "./graph.ts";

/** Shows nothing for the normal state. */
export function NodeState({ node: { state, reason } }: { node: GraphNode }) {
  const [tone, symbol, word] = stateLabels[state];
  if (word === "") return null;
  return (
    <span class="state" data-tone={tone} title={reason === "" ? undefined : reason}>
      <span aria-hidden="true">{symbol}</span>
      {` ${word}`}
    </span>
  );
}
