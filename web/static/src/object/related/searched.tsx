// Shows which resources the server could not search, so that they are not mistaken for resources without results.

import { formatInteger } from "../../text/format.ts";
import { plural } from "../../net/kinds.ts";
import type { TabHost } from "../tab.ts";
import type { Graph, Searched } from "./graph.ts";

export function SearchedDetails({ graph: { searched, truncated }, host }: { graph: Graph; host: TabHost }) {
  const notSearched = searched.filter((s) => !wasSearched(s));
  const n = searched.length;
  if (n === 0 && !truncated) return null;
  const words =
    notSearched.length === 0
      ? `Searched the objects of ${formatInteger(n)} resource ${n === 1 ? "type" : "types"}`
      : `Searched the objects of ${formatInteger(n - notSearched.length)} of ${formatInteger(n)} resource types; ` +
        "the others may contain more related objects";
  const kindLabel = (ref: string): string => labelOf(ref, host);
  const searchedNames = searched
    .filter(wasSearched)
    .map(
      ({ ref, state, namespaces }) =>
        `${kindLabel(ref)}${state === "stale" ? " (stale)" : ""}` +
        `${namespaces.length === 0 ? "" : ` (only in ${namespaces.join(", ")})`}`,
    );
  return (
    <details class="searched" data-warn={notSearched.length > 0 || truncated ? "" : undefined}>
      <summary>{`${truncated ? "Not all related objects are shown. " : ""}${words}`}</summary>
      <ul>
        {notSearched.map(({ ref, state, reason }) => (
          <li key={ref} data-missed="">
            <span class="kind">{kindLabel(ref)}</span>
            {` not searched: ${reason === "" ? stateText(state) : reason}`}
          </li>
        ))}
        {searchedNames.length > 0 && <li>{`Searched: ${searchedNames.join(", ")}`}</li>}
      </ul>
    </details>
  );
}

// Returns the label of a resource. If the cluster does not serve the resource, ref has no version (group/resource), and
// the label is the name of the resource.
function labelOf(ref: string, host: TabHost): string {
  const kind = host.kindOfRef(ref);
  return kind === undefined ? (ref.split("/").at(-1) ?? ref) : plural(kind);
}

/** Returns the text for a graph without related objects: which resources were searched, and which were not. */
export function emptyText({ searched }: Graph, host: TabHost): string {
  const names = (all: readonly Searched[]): string => all.map(({ ref }) => labelOf(ref, host)).join(", ");
  const absent = (s: Searched): boolean => s.state === "absent"; // The cluster does not serve the resource.
  const found = searched.filter(wasSearched);
  const missed = searched.filter((s) => !wasSearched(s) && !absent(s));
  const where = found.length === 0 ? "" : ` in ${names(found)}`;
  return `No related objects found${where}${missed.length === 0 ? "" : `; not examined: ${names(missed)}`}.`;
}

const stateText = (state: string): string => (state === "syncing" ? "the list did not load in time" : state);

export const wasSearched = (s: Searched): boolean => s.state === "live" || s.state === "stale";
