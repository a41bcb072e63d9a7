// Searches for objects in all resources that the server watches. A new request cancels the previous one.

import { withBase } from "./base-path.ts";

export interface SearchResult {
  readonly ref: string;
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
}

/** A resource whose objects the server has searched. */
export interface SearchedResource {
  readonly ref: string;
  readonly state: string;
  readonly count: number | null;
}

export interface SearchResponse {
  readonly results: readonly SearchResult[];
  readonly searched: readonly SearchedResource[];
  /** The reason why the search failed. Empty if it succeeded. */
  readonly trouble: string;
}

const debounceDelay = 120;
export const emptyResponse: SearchResponse = { results: [], searched: [], trouble: "" };

export class Search {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pending: AbortController | null = null;
  private isUnsupported = false;

  constructor(
    private readonly onResponse: (q: string, answer: SearchResponse) => void,
    private readonly get: typeof fetch = (...a) => fetch(...a),
  ) {}

  /** Sends a search after a short pause. A later call of request or stop cancels it. */
  request(q: string): void {
    this.stop();
    if (q.length < 2) return;
    if (this.isUnsupported) return this.onResponse(q, { ...emptyResponse, trouble: unsupportedText });
    this.timer = setTimeout(() => void this.send(q), debounceDelay);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.pending?.abort();
    this.pending = null;
  }

  private async send(q: string): Promise<void> {
    const controller = (this.pending = new AbortController());
    const result = await this.fetch(q, controller.signal).catch(
      (): SearchResponse => ({
        ...emptyResponse,
        trouble: "The server did not respond to the search.",
      }),
    );
    if (!controller.signal.aborted) this.onResponse(q, result);
  }

  private async fetch(q: string, signal: AbortSignal): Promise<SearchResponse> {
    const response = await this.get(withBase(`/api/v1/search?${new URLSearchParams({ q, limit: "20" }).toString()}`), {
      headers: { accept: "application/json" },
      signal,
    });
    if (response.status === 404) {
      this.isUnsupported = true;
      return { ...emptyResponse, trouble: unsupportedText };
    }
    if (!response.ok) return { ...emptyResponse, trouble: `The search failed (status ${response.status}).` };
    return readSearchResponse(await response.json());
  }
}

const unsupportedText = "This server cannot search other resources.";

/** Decodes a search response. Invalid elements are skipped. */
export function readSearchResponse(body: unknown): SearchResponse {
  const list = (name: string): Readonly<Record<string, unknown>>[] => {
    const value = typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined;
    return Array.isArray(value)
      ? value.filter((v): v is Record<string, unknown> => typeof v === "object" && v !== null)
      : [];
  };
  const text = (v: unknown): string => (typeof v === "string" ? v : "");
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
    trouble: "",
  };
}
