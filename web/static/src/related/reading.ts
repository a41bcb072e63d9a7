// Reads the related objects from the server, on request and at most every five seconds: a request before that waits.
// While the tab is visible, they are also read every ten seconds.

import { under } from "../base.ts";
import { problemOf } from "../problem.ts";
import type { Host } from "../tabs.ts";
import type { Problem } from "../wire.ts";
import { readGraph, type Graph } from "./graph.ts";

const apart = 5000; // the minimum interval between reads in milliseconds
/** The interval between the reads that happen without a request, in milliseconds. */
export const every = 10_000;

export class Reading {
  private last = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private abort: AbortController | null = null;
  private more = false; // a new request arrived during a read
  private wanted = false; // whether a request has not been answered yet

  constructor(
    private readonly host: Host,
    private readonly read: (graph: Graph, at: number) => void,
    private readonly failed: (problem: Problem) => void,
    private readonly told: () => void,
  ) {}

  /** Whether requested data has not arrived yet. */
  get busy(): boolean {
    return this.wanted;
  }

  /** Reads again if the last result is old. */
  look(): void {
    if (this.abort === null && this.timer === undefined && performance.now() - this.last >= every) void this.run();
  }

  ask(): void {
    this.wanted = true;
    if (this.abort !== null) this.more = true;
    else this.timer ??= setTimeout(() => void this.run(), Math.max(0, this.last + apart - performance.now()));
    this.told();
  }

  /** Aborts the read. A new request is possible. */
  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.abort?.abort();
    this.abort = null;
    this.more = this.wanted = false;
  }

  private async run(): Promise<void> {
    this.timer = undefined;
    this.last = performance.now();
    const { signal } = (this.abort = new AbortController());
    const { kind, name, now } = this.host;
    const at = now();
    try {
      const answer = await fetch(
        under(
          `/api/v1/related/${kind.ref}/${name.ns === "" ? "_" : encodeURIComponent(name.ns)}/` +
            `${encodeURIComponent(name.name)}`,
        ),
        { cache: "no-store", headers: { accept: "application/json" }, signal },
      );
      const graph = answer.ok ? readGraph(await answer.json()) : null;
      if (signal.aborted) return;
      if (graph !== null) this.read(graph, at);
      else
        this.failed(
          answer.ok ? { title: "Invalid response", status: 0, detail: "Not a graph." } : await problemOf(answer),
        );
    } catch {
      if (signal.aborted) return;
      this.failed({ title: "Connection lost", status: 0, detail: "Glasshouse is not reachable." });
    }
    this.abort = null;
    this.wanted = this.more;
    if (this.more) {
      this.more = false;
      this.ask();
    }
    this.told();
  }
}
