// Follows the pods of a workload or Service, and the objects between them and the workload, such as ReplicaSets.

import { isCounted } from "../../model/severity.ts";
import { severities } from "../../net/verdict.ts";
import type { Entry } from "../../model/row-source.ts";
import type { SubscriptionInfo } from "../../model/status.ts";
import type { JsonObject, Verdict } from "../../net/wire.ts";
import type { TabHost } from "../tab.ts";
import { controllerOf, ownsPod, podQueryOf, podsOfJobs, uidOf, type PodQuery } from "./ownership.ts";
import type { SeverityCounts } from "./replicas.ts";
import { SelectedObjects } from "./selected-objects.ts";

/** The maximum number of pods whose complete objects are loaded, or whose logs are read. */
export const maxPodObjects = 20;
const maxIntermediates = 12; // limit of loaded ReplicaSets, Jobs or ControllerRevisions; by default, 10 old ones exist

export interface OwnedPod {
  readonly name: string;
  readonly verdict: Verdict;
  readonly created: string;
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
  readonly node: string;
  readonly object: JsonObject | null; // null if it is not loaded
}

export class WorkloadPods {
  private query: PodQuery | null = null;
  private key = "";
  private uid = "";
  private podList: SelectedObjects | null = null;
  private intermediateList: SelectedObjects | null = null;

  constructor(
    private readonly host: TabHost,
    private readonly onChange: () => void,
    /** The maximum number of pods whose complete objects are loaded. */
    private readonly maxPods = maxPodObjects,
  ) {}

  /** Subscribes to the pods that the given version of the workload selects. null closes all subscriptions. */
  show(object: JsonObject | null): void {
    const query = object === null ? null : podQueryOf(this.host.kind.ref, object);
    const key = query === null ? "" : JSON.stringify([query, uidOf(object)]);
    if (key === this.key) {
      this.podList?.reconnected();
      this.intermediateList?.reconnected();
      return;
    }
    this.close();
    this.key = key;
    this.query = query;
    this.uid = uidOf(object);
    if (query === null) return;
    const between = query.intermediate;
    if (between !== null)
      this.intermediateList = new SelectedObjects(
        this.host,
        { ...between, ns: this.host.name.ns, maxObjects: maxIntermediates, compare: newestFirst },
        () => this.intermediatesChanged(),
      );
    this.followPods(query.labels);
  }

  close(): void {
    this.podList?.close();
    this.intermediateList?.close();
    this.podList = this.intermediateList = null;
    this.key = "";
    this.query = null;
  }

  /** Whether the object selects pods. */
  get hasPods(): boolean {
    return this.query !== null;
  }

  get ownsPods(): boolean {
    return this.query?.ownsPods === true;
  }

  /** The label selector of the pods. Empty if it is not known. */
  get labels(): string {
    return this.podList?.selection.labels ?? "";
  }

  /** The status of the list of pods. null if it is not known yet which pods to list. */
  get info(): SubscriptionInfo | null {
    return this.podList?.info() ?? null;
  }

  /** The status of the list of intermediates, such as ReplicaSets. null if there is no such list. */
  get intermediateInfo(): SubscriptionInfo | null {
    return this.intermediateList?.info() ?? null;
  }

  get isComplete(): boolean {
    return this.podList?.isComplete ?? this.intermediateList?.isComplete ?? false;
  }

  /** The number of selected pods, which can be more than `pods` contains. */
  get total(): number {
    return Math.max(this.podList?.total ?? 0, this.pods.length);
  }

  /** The number of pods by severity. */
  get severityCounts(): SeverityCounts {
    const counts = { failed: 0, degraded: 0, progressing: 0 };
    for (const { severity } of this.pods.map((pod) => pod.verdict)) if (isCounted(severity)) counts[severity]++;
    return counts;
  }

  /** The ReplicaSets, ControllerRevisions or Jobs of the workload, newest first. */
  get intermediates(): readonly JsonObject[] {
    return (this.intermediateList?.objects ?? []).filter((o) => controllerOf(o)?.uid === this.uid);
  }

  /** The pods, the worst first. */
  get pods(): readonly OwnedPod[] {
    const { podList } = this;
    if (podList === null) return [];
    const cell = podList.cellReader();
    return podList.rows
      .map(
        (row): OwnedPod => ({
          name: row.name,
          verdict: row.verdict,
          created: row.created,
          ready: cell(row, "ready"),
          status: cell(row, "status"),
          restarts: cell(row, "restarts"),
          node: cell(row, "node").replace(/^<none>$/, ""),
          object: podList.object(row.name),
        }),
      )
      .filter((pod) => this.isOwned(pod.object));
  }

  private isOwned(pod: JsonObject | null): boolean {
    if (!this.ownsPods || pod === null) return true;
    return ownsPod(this.uid, pod, ({ name }) => this.intermediateList?.object(name));
  }

  // A CronJob has no label selector for its pods. When its Jobs change, select the pods of the current Jobs.
  private intermediatesChanged(): void {
    if (this.query?.labels === "") this.followPods(podsOfJobs(this.intermediates.map((job) => nameOf(job)).sort()));
    this.onChange();
  }

  private followPods(labels: string): void {
    if (labels === this.labels) return;
    this.podList?.close();
    this.podList =
      labels === ""
        ? null
        : new SelectedObjects(
            this.host,
            {
              ref: "core/v1/pods",
              ns: this.host.name.ns,
              labels,
              namePrefix: "",
              maxObjects: this.maxPods,
              compare: worstFirst,
            },
            this.onChange,
          );
  }
}

const nameOf = (o: JsonObject): string => String((o["metadata"] as JsonObject | undefined)?.["name"] ?? "");

const byName = (a: Entry, b: Entry): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
const newestFirst = (a: Entry, b: Entry): number =>
  a.created > b.created ? -1 : a.created < b.created ? 1 : byName(a, b);
const worstFirst = (a: Entry, b: Entry): number =>
  severities.indexOf(b.verdict.severity) - severities.indexOf(a.verdict.severity) || byName(a, b);
