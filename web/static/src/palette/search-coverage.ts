// Describes what a search of the palette covers, and what it does not cover.

import type { SearchContext } from "./palette-search.ts";
import { plural, type ListedKind } from "../net/kinds.ts";
import { pluralOf } from "../net/plural-of.ts";
import { isPending, type OmittedResource, type SearchedResource, type SearchResponse } from "../net/search.ts";
import { formatInteger } from "../text/format.ts";

/** Returns sentences about what was searched, in the page and on the server, and about what was not. */
export function searchCoverage(context: SearchContext, response: SearchResponse): string {
  const error = response.error === "" ? "" : ` ${response.error}`;
  const here = joinWithAnd(searchedHere(context, response));
  if (response.omitted === null)
    return `Searched the names of ${here}.${searchedByServer(response.searched, context.kinds)}${error}`;
  const searched = response.searched.filter((s) => s.count !== null);
  const objects = countText(sum(searched), "object");
  const { length } = response.searched;
  const sentences = [
    response.searched.some(isPending)
      ? `Searched ${objects} of ${searched.length} of ${typesText(length)} so far. The server is still reading others.`
      : `Searched ${objects} of ${typesText(searched.length)}.`,
    `Also searched: the names of ${here}.`,
    ...notSearched(response, context.kinds).map(({ title, names }) => `${title}: ${limited(names)}.`),
  ];
  return sentences.join(" ");
}

/** Returns all names that the sentences of searchCoverage shorten, one line per category, such as "Searched". */
export function coverageDetails(
  { searched, omitted }: SearchResponse,
  kinds: readonly ListedKind[],
): string | undefined {
  if (omitted === null) return undefined;
  const nameOf = namesIn(kinds);
  const found = searched.flatMap((s) => (s.count === null ? [] : [`${formatInteger(s.count)} ${nameOf(s)}`]));
  return [
    { title: "Searched", names: found },
    { title: "Not read yet", names: searched.filter(isPending).map(nameOf) },
    ...notSearched({ searched, omitted }, kinds),
  ]
    .filter(({ names }) => names.length > 0)
    .map(({ title, names }) => `${title}: ${names.join(", ")}`)
    .join("\n");
}

interface Names {
  readonly title: string;
  readonly names: readonly string[];
}

function notSearched(
  { searched, omitted }: Pick<SearchResponse, "searched" | "omitted">,
  kinds: readonly ListedKind[],
): Names[] {
  const nameOf = namesIn(kinds);
  const rare = new Set(kinds.filter((k) => k.isRare).map((k) => k.ref));
  const sorted = [...(omitted ?? [])].sort((a, b) => Number(rare.has(a.ref)) - Number(rare.has(b.ref)));
  const withReason = (reason: string): string[] => sorted.filter((o) => o.reason === reason).map(nameOf);
  return [
    { title: "Not searched", names: withReason("unread") },
    { title: "Forbidden", names: withReason("forbidden") },
    { title: "Not searched, because there are too many custom resource types", names: withReason("limit") },
    {
      title: "Not available",
      names: searched.filter((s) => s.count === null && !isPending(s)).map((s) => `${nameOf(s)} (${s.state})`),
    },
    { title: "Possibly out of date", names: searched.filter((s) => s.count !== null && !isCurrent(s)).map(nameOf) },
  ].filter(({ names }) => names.length > 0);
}

// Returns texts with the numbers of resource types, namespaces and rows that were searched in the page itself.
function searchedHere(context: SearchContext, response: SearchResponse): string[] {
  const parts = [typesText(context.kinds.length)];
  if (context.namespaces.length > 0) parts.push(countText(context.namespaces.length, "namespace"));
  const kind = context.kinds.find((k) => k.ref === context.view?.ref);
  const windowTotal = response.searched.some((s) => s.ref === kind?.ref && s.count !== null)
    ? context.windowTotal
    : null;
  const rows = context.rows?.total ?? windowTotal;
  if (rows !== null && kind !== undefined)
    parts.push(
      `${formatInteger(rows)} ${rows === 1 ? kind.kind : plural(kind)} in this list${
        context.rows?.isComplete === false ? " (still loading)" : ""
      }`,
    );
  return parts;
}

// Returns which watched resources the server has searched, for a server that searches only watched resources.
function searchedByServer(searched: readonly SearchedResource[], kinds: readonly ListedKind[]): string {
  if (searched.length === 0) return "";
  const nameOf = namesIn(kinds);
  const names = searched.map(
    (s) => `${s.count === null ? "" : `${formatInteger(s.count)} `}${nameOf(s)}${isCurrent(s) ? "" : ` (${s.state})`}`,
  );
  const more = names.length - maxNames;
  return ` On the server: ${[
    ...names.slice(0, maxNames),
    ...(more > 0 ? [`${more} more resource ${more === 1 ? "type" : "types"}`] : []),
  ].join(", ")}.`;
}

const maxNames = 6;
const maxOmitted = 3;
const limited = (names: readonly string[]): string =>
  names.length <= maxOmitted
    ? names.join(", ")
    : `${names.slice(0, maxOmitted).join(", ")} and ${names.length - maxOmitted} more`;

const namesIn =
  (kinds: readonly ListedKind[]) =>
  ({ ref }: SearchedResource | OmittedResource): string =>
    pluralOf(ref, kinds);
const isCurrent = ({ state }: SearchedResource): boolean => state === "live" || state === "";
const sum = (searched: readonly SearchedResource[]): number => searched.reduce((n, s) => n + (s.count ?? 0), 0);
const countText = (n: number, word: string): string => `${formatInteger(n)} ${word}${n === 1 ? "" : "s"}`;
const typesText = (n: number): string => countText(n, "resource type");

const joinWithAnd = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1] ?? ""}`;
