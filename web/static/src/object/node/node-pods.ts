// The pods on a node: their rows, and their resource requests and limits.

import { withBase } from "../../net/base-path.ts";
import { Feed, type FeedListener } from "../../model/feed.ts";
import { cellText, keyOf, type Entry } from "../../model/row-source.ts";
import type { SubscriptionInfo } from "../../model/status.ts";
import { hasEnded, podAmounts, sumAmounts, type Amounts } from "../facts/requests.ts";
import { list, text, valueAt } from "../facts/read.ts";
import type { TabHost } from "../tab.ts";

export const podsRef = "core/v1/pods";
// If the node has more pods than this, the page loads only a part of their rows. By default, a node runs at most 110
// pods.
const maxRows = 2000;
const minReadInterval = 10_000; // ms between two reads of the resource requests of the pods

export interface NodePod {
  readonly row: Entry;
  readonly status: string;
  readonly restarts: string;
  /** The resource requests and limits of the pod. null until they are read, and for a pod that has ended. */
  readonly amounts: PodAmounts | null;
}

interface PodAmounts {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export class NodePods implements FeedListener {
  /** The sums of the requests of the pods on the node. null until they are read. */
  requests: Amounts | null = null;
  limits: Amounts | null = null;
  /** The reason why the requests could not be read. Empty if they could be read. */
  problem = "";
  private readonly feed: Feed;
  private readonly byName = new Map<string, PodAmounts>();
  private readonly pendingRead = new AbortController();
  private readPods = "";
  private isReading = false;
  private readAt = -Infinity;

  constructor(
    private readonly host: TabHost,
    private readonly onChange: () => void,
  ) {
    this.feed = new Feed(
      host.live,
      { resource: podsRef, ns: [], fields: this.fieldSelector },
      { sort: null, q: "" },
      this,
      maxRows,
      0,
    );
  }

  close(): void {
    this.feed.close();
    this.pendingRead.abort();
  }

  /** Called when the connection is lost, and when it is restored. */
  reconnected(): void {
    this.feed.reconnected();
  }

  /** Called every second. Reads the requests again if the pods have changed. */
  tick(): void {
    void this.readRequests();
  }

  get isComplete(): boolean {
    return this.feed.rows.isComplete;
  }

  /** The pods, those with the worst problems first. */
  get pods(): readonly NodePod[] {
    const indexes = new Map(this.feed.rows.columns.map((c, i) => [c.name.toLowerCase(), i]));
    const cell = (row: Entry, column: string): string => cellText(row.cells[indexes.get(column) ?? -1]);
    return [...this.feed.rows.all()]
      .sort((a, b) => severityRank(a) - severityRank(b))
      .map((row) => ({
        row,
        status: cell(row, "status"),
        restarts: cell(row, "restarts"),
        amounts: this.byName.get(row.key) ?? null,
      }));
  }

  info(): SubscriptionInfo {
    return this.feed.info();
  }

  snapshotArrived(): void {
    void this.readRequests();
    this.onChange();
  }
  rowsChanged(): void {
    void this.readRequests();
    this.onChange();
  }
  rowsDiscarded(): void {
    this.requests = this.limits = null;
    this.byName.clear();
    this.readPods = "";
    this.onChange();
  }
  statusChanged(): void {
    this.onChange();
  }

  private get fieldSelector(): string {
    return `spec.nodeName=${this.host.name.name}`;
  }

  // Reads the pod objects, because table rows do not contain resource requests. Reads them again only after a pod was
  // added, was removed or has ended.
  private async readRequests(): Promise<void> {
    if (!this.isComplete || this.isReading) return;
    const key = this.pods
      .map(({ row, status }) => `${row.key} ${row.created} ${/^(Completed|Error|Evicted)$/.test(status)}`)
      .sort()
      .join();
    const now = this.host.now();
    if (key === this.readPods || now < this.readAt + minReadInterval) return;
    this.isReading = true;
    this.readAt = now;
    try {
      const fields = encodeURIComponent(this.fieldSelector);
      const response = await fetch(withBase(`/api/v1/snapshot/${podsRef}?view=objects&fields=${fields}`), {
        signal: this.pendingRead.signal,
        headers: { accept: "application/json" },
      });
      if (!response.ok) throw new Error(`status ${response.status}`);
      this.apply(list(valueAt(await response.json(), "objects")));
      this.readPods = key;
      this.problem = "";
    } catch (e) {
      if (this.pendingRead.signal.aborted) return;
      const reason = e instanceof Error ? e.message : String(e);
      this.problem = `Could not read the resource requests of the pods (${reason}). Retrying…`;
    } finally {
      this.isReading = false;
    }
    this.onChange();
  }

  private apply(pods: readonly unknown[]): void {
    this.requests = sumAmounts(pods, "requests");
    this.limits = sumAmounts(pods, "limits");
    this.byName.clear();
    for (const pod of pods) {
      if (hasEnded(pod)) continue;
      const m = valueAt(pod, "metadata");
      this.byName.set(keyOf(text(valueAt(m, "namespace")), text(valueAt(m, "name"))), {
        requests: podAmounts(pod, "requests"),
        limits: podAmounts(pod, "limits"),
      });
    }
  }
}

const severities: readonly string[] = ["failed", "degraded", "progressing"];

function severityRank(row: Entry): number {
  const rank = severities.indexOf(row.verdict.severity);
  return rank < 0 ? severities.length : rank;
}
