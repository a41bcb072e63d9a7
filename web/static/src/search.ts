// Searches for objects across all watched resources on the server. Typing is debounced, and a request whose result is
// no longer needed is canceled.

import { under } from "./base.ts";

export interface Found {
  readonly ref: string;
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
}

/** A resource that the server searched. */
export interface Searched {
  readonly ref: string;
  readonly state: string;
  readonly count: number | null;
}

export interface Answer {
  readonly results: readonly Found[];
  readonly searched: readonly Searched[];
  /** Why the search returned nothing; empty if it was executed. */
  readonly trouble: string;
}

const pause = 120;
export const none: Answer = { results: [], searched: [], trouble: "" };

export class Search {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked: AbortController | null = null;
  private absent = false;

  constructor(
    private readonly answered: (q: string, answer: Answer) => void,
    private readonly get: typeof fetch = (...a) => fetch(...a),
  ) {}

  /** Sends a search after a short pause, unless a new search or stop replaces it. */
  ask(q: string): void {
    this.stop();
    if (q.length < 2) return;
    if (this.absent) return this.answered(q, { ...none, trouble: missing });
    this.timer = setTimeout(() => void this.send(q), pause);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.asked?.abort();
    this.asked = null;
  }

  private async send(q: string): Promise<void> {
    const asked = (this.asked = new AbortController());
    const answer = await this.fetch(q, asked.signal).catch((): Answer => ({
      ...none,
      trouble: "The server did not respond to the search.",
    }));
    if (!asked.signal.aborted) this.answered(q, answer);
  }

  private async fetch(q: string, signal: AbortSignal): Promise<Answer> {
    const response = await this.get(under(`/api/v1/search?${new URLSearchParams({ q, limit: "20" }).toString()}`), {
      headers: { accept: "application/json" },
      signal,
    });
    if (response.status === 404) {
      this.absent = true;
      return { ...none, trouble: missing };
    }
    if (!response.ok) return { ...none, trouble: `The search failed (status ${response.status}).` };
    return readAnswer(await response.json());
  }
}

const missing = "This server cannot search other resources.";

/** Decodes a search response. Entries that cannot be read are dropped. */
export function readAnswer(body: unknown): Answer {
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
