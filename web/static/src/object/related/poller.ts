// Reads the related objects on request, and every 10 s while the tab is visible.

import { withBase } from "../../net/base-path.ts";
import { problemOf } from "../../net/problem.ts";
import type { TabHost } from "../tab.ts";
import type { Problem } from "../../net/wire.ts";
import { readGraph, type Graph } from "./graph.ts";

const minInterval = 1000; // ms between two reads; an earlier request is delayed
/** The time in ms between two automatic reads. */
export const refreshInterval = 10_000;

export class RelatedPoller {
  private lastReadAt = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private abort: AbortController | null = null;
  private requestedAgain = false;
  private isWaiting = false;

  constructor(
    private readonly host: TabHost,
    private readonly onGraph: (graph: Graph, at: number) => void,
    private readonly onError: (problem: Problem) => void,
    private readonly onStatus: () => void,
  ) {}

  get isBusy(): boolean {
    return this.isWaiting;
  }

  refreshIfOld(): void {
    if (this.abort === null && this.timer === undefined && performance.now() - this.lastReadAt >= refreshInterval)
      void this.poll();
  }

  request(): void {
    this.isWaiting = true;
    if (this.abort !== null) this.requestedAgain = true;
    else
      this.timer ??= setTimeout(() => void this.poll(), Math.max(0, this.lastReadAt + minInterval - performance.now()));
    this.onStatus();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.abort?.abort();
    this.abort = null;
    this.requestedAgain = this.isWaiting = false;
  }

  private async poll(): Promise<void> {
    this.timer = undefined;
    this.lastReadAt = performance.now();
    const { signal } = (this.abort = new AbortController());
    const { kind, name, now } = this.host;
    const at = now();
    try {
      const response = await fetch(
        withBase(
          `/api/v1/related/${kind.ref}/${name.ns === "" ? "_" : encodeURIComponent(name.ns)}/` +
            `${encodeURIComponent(name.name)}`,
        ),
        { cache: "no-store", headers: { accept: "application/json" }, signal },
      );
      const graph = response.ok ? readGraph(await response.json()) : null;
      if (signal.aborted) return;
      if (graph !== null) this.onGraph(graph, at);
      else
        this.onError(
          response.ok
            ? { title: "Invalid response", status: 0, detail: "This page cannot read the response. Reload the page." }
            : await problemOf(response),
        );
    } catch {
      if (signal.aborted) return;
      this.onError({ title: "Connection lost", status: 0, detail: "Glasshouse is not reachable." });
    }
    this.abort = null;
    this.isWaiting = this.requestedAgain;
    if (this.requestedAgain) {
      this.requestedAgain = false;
      this.request();
    }
    this.onStatus();
  }
}
