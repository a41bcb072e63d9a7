import { isCounted } from "../../model/severity.ts";
import { stateLabels } from "./card.ts";
import type { GraphNode } from "./graph.ts";

/** Shows the state of an object. Shows nothing if the object exists and has no problem. */
export function NodeState({ node: { state, reason, severity } }: { node: GraphNode }) {
  const [level, symbol, word] = stateLabels[state];
  if (word !== "")
    return (
      <span class="state" data-level={level} title={reason === "" ? undefined : reason}>
        <span aria-hidden="true">{symbol}</span>
        {` ${word}`}
      </span>
    );
  return isCounted(severity) ? (
    <span class="state" data-severity={severity}>
      <span class="shape" aria-hidden="true" />
      {` ${severity}`}
    </span>
  ) : null;
}
