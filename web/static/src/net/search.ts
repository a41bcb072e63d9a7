// Searches for objects on the server. A new request cancels the previous one.

import { withBase } from "./base-path.ts";
import { text } from "./text.ts";

export interface SearchResult {
  readonly ref: string;
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
}

/** A resource that the server searches. */
export interface SearchedResource {
  readonly ref: string;
  readonly state: string;
  /** The number of objects of this resource that were searched. null if the resource has not been searched yet. */
  readonly count: number | null;
}

/** A resource that the server does not search. */
export interface OmittedResource {
  readonly ref: string;
  /** Why no search includes the resource: "forbidden", "limit" (too many custom resources) or "unread". */
  readonly reason: string;
}

export interface SearchResponse {
  readonly results: readonly SearchResult[];
  readonly searched: readonly SearchedResource[];
  /** null before the server has responded, or if the server searches only the resources that it already watches. */
  readonly omitted: readonly OmittedResource[] | null;
  /** The reason why the search failed. Empty if it succeeded. */
  readonly error: string;
}

const debounceDelay = 120;
// ms until the search is repeated while the server still reads resources. The wait doubles each time, up to lastRepeat.
const firstRepeat = 400;
const lastRepeat = 6400;
export const emptyResponse: SearchResponse = { results: [], searched: [], omitted: null, error: "" };

/** Reports whether a resource was not searched yet, because the server is still reading its objects. */
export const isPending = ({ count, state }: SearchedResource): boolean =>
  count === null && (state === "syncing" || state === "stale");

/** The minimum length of a search text in characters. The page sends no search for a shorter text. */
export const minSearchLength = 2;

export class Search {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pending: AbortController | null = null;
  private isUnsupported = false;

  constructor(
    private readonly onResponse: (q: string, response: SearchResponse) => void,
    private readonly get: typeof fetch = (...a) => fetch(...a),
  ) {}

  /**
   * Sends a search after a short pause, and repeats it until the server has read all resources. The parameter `shown`
   * is the ref of the list on the page, or "". A later call of `request` or `stop` cancels the search.
   */
  request(q: string, shown: string): void {
    this.stop();
    if (q.length < minSearchLength) return;
    if (this.isUnsupported) return this.onResponse(q, { ...emptyResponse, error: unsupportedText });
    this.timer = setTimeout(() => void this.send(q, shown, firstRepeat), debounceDelay);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.pending?.abort();
    this.pending = null;
  }

  private async send(q: string, shown: string, wait: number): Promise<void> {
    const controller = (this.pending = new AbortController());
    const result = await this.fetch(q, shown, controller.signal).catch(
      (): SearchResponse => ({
        ...emptyResponse,
        error: "The server sent no valid response to the search.",
      }),
    );
    if (controller.signal.aborted) return;
    if (result.omitted !== null && result.searched.some(isPending))
      this.timer = setTimeout(() => void this.send(q, shown, Math.min(2 * wait, lastRepeat)), wait);
    this.onResponse(q, result);
  }

  private async fetch(q: string, shown: string, signal: AbortSignal): Promise<SearchResponse> {
    const params = new URLSearchParams({ q, limit: "20" });
    if (shown !== "") params.set("resource", shown);
    const response = await this.get(withBase(`/api/v1/search?${params.toString()}`), {
      headers: { accept: "application/json" },
      signal,
    });
    if (response.status === 404) {
      this.isUnsupported = true;
      return { ...emptyResponse, error: unsupportedText };
    }
    if (!response.ok) return { ...emptyResponse, error: `The search failed (status ${response.status}).` };
    return readSearchResponse(await response.json());
  }
}

const unsupportedText = "This server has no search API, so only the data on this page was searched.";

/** Decodes a search response. Invalid elements are skipped. */
export function readSearchResponse(body: unknown): SearchResponse {
  const member = (name: string): unknown =>
    typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  const list = (name: string): Readonly<Record<string, unknown>>[] => {
    const value = member(name);
    return Array.isArray(value)
      ? value.filter((v): v is Record<string, unknown> => typeof v === "object" && v !== null)
      : [];
  };
  return {
    results: list("objects")
      .map((r) => ({ ref: text(r["ref"]), kind: text(r["kind"]), ns: text(r["ns"]), name: text(r["name"]) }))
      .filter((r) => r.name !== "" && r.ref.split("/").length === 3),
    searched: list("searched")
      .map((s) => ({
        ref: text(s["ref"]),
        state: text(s["state"]),
        count: typeof s["count"] === "number" ? s["count"] : null,
      }))
      .filter((s) => s.ref !== ""),
    omitted: Array.isArray(member("notSearched"))
      ? list("notSearched")
          .map((o) => ({ ref: text(o["ref"]), reason: text(o["reason"]) }))
          .filter((o) => o.ref !== "")
      : null,
    error: "",
  };
}
