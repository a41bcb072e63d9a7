// The logs of all containers of a workload's pods, merged by time.

import "../../shared-code.ts";
import type { LogSelection } from "../../model/view.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import { maxPodObjects, WorkloadPods } from "../workload/workload-pods.ts";
import { containersOf, type Container } from "./containers.ts";
import type { Line, LineSource } from "./lines.ts";
import { LogView } from "./log-view.tsx";
import { byTime, sourceLabel } from "./merge.ts";
import { maxStreams, MergedStreams, nameOf, type LogTarget, type MergedReader } from "./merged-streams.ts";
import { limitText, mergedFooter, mergedNote, type MergedSituation } from "./merged-text.ts";

const defaultTail = 100; // lines to read of each container

export class MergedLogsTab implements Tab, MergedReader {
  private readonly view: LogView;
  readonly element: HTMLElement;
  private readonly workload: WorkloadPods;
  private readonly streams: MergedStreams;
  private tabData: TabData | null = null;
  private openedKey = "";
  private frame = 0;

  constructor(private readonly host: TabHost) {
    this.view = new LogView(
      host,
      {
        logSelected: () => this.logSelected(),
        retryNow: () => this.streams.retryNow(),
        updateStatus: () => this.updateStatus(),
        fileName: () => host.name.name,
      },
      { allLabel: "All containers", tail: defaultTail },
    );
    this.view.setLabel("Merged log");
    this.element = this.view.element;
    this.streams = new MergedStreams(host.name.ns, host.live, host.now, this);
    this.workload = new WorkloadPods(host, () => this.schedule());
    this.view.start();
  }

  show(tabData: TabData): void {
    this.tabData = tabData;
    this.workload.show(tabData.object);
    this.update();
  }

  urlChanged(): void {
    this.view.restoreFind();
    this.update();
  }

  tick(): void {
    this.updateStatus();
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.streams.close();
    this.workload.close();
    this.view.close();
  }

  merged(lines: readonly Line[]): void {
    const { buffer, search, screen } = this.view;
    const from = buffer.merge(lines, byTime);
    search.restartAt(from);
    screen.redrawFrom(from);
  }

  interrupted({ name }: LineSource): void {
    this.view.appendNote(`The log of ${name} was interrupted; lines may be missing here`);
  }

  statesChanged(): void {
    this.schedule();
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.update());
  }

  // All containers of the loaded pods. Main containers are first, because only the logs of the first 20 (maxStreams)
  // are read.
  private get targets(): readonly LogTarget[] {
    const pods = this.workload.pods.map(({ name, object }) => ({ name, containers: containersOf(object) }));
    const hasSeveral = pods.some((p) => p.containers.filter(({ role }) => role === "").length > 1);
    const all = pods.flatMap(({ name, containers }) =>
      containers.map(
        (container): LogTarget => ({
          pod: name,
          container,
          label: sourceLabel(this.host.name.name, name, container.name, hasSeveral || container.role !== ""),
        }),
      ),
    );
    return [...all.filter((t) => t.container.role === ""), ...all.filter((t) => t.container.role !== "")];
  }

  private update(): void {
    this.frame = 0;
    const { targets } = this;
    const selected = this.selectedLog(targets);
    this.view.bar.showContainers(targets.map(optionOf), selected);
    const { container, ...options } = this.view.bar.choice;
    const key = JSON.stringify([container, options]);
    if (key !== this.openedKey) {
      this.openedKey = key;
      this.streams.close();
      this.view.clear();
    }
    const readable = this.readableTargets(targets);
    this.streams.show(readable.slice(0, maxStreams), options);
    const width = Math.max(0, ...readable.slice(0, maxStreams).map((t) => t.label.length));
    this.view.screen.element.style.setProperty("--source-width", `${width}ch`);
    // If all containers are selected, a banner reports if logs are omitted because of a limit (maxStreams or
    // maxPodObjects).
    this.view.showBanner(
      container === "" ? limitText(readable.length, maxStreams, this.workload.total, maxPodObjects) : "",
    );
    this.updateStatus();
  }

  private selectedLog(targets: readonly LogTarget[]): LogSelection {
    const log = this.host.log();
    return targets.some((t) => nameOf(t) === log.container) ? log : { ...log, container: "" };
  }

  private readableTargets(targets: readonly LogTarget[]): readonly LogTarget[] {
    const { container, previous } = this.view.bar.choice;
    const chosen = container === "" ? targets : targets.filter((t) => nameOf(t) === container);
    // A container without a status has not started, so it has no log. Only a restarted one has a previous log.
    return chosen.filter((t) => (previous ? t.container.restarts > 0 : t.container.phase !== ""));
  }

  private logSelected(): void {
    const before = this.selectedLog(this.targets);
    const { container, previous } = this.view.bar.choice;
    if (container !== before.container || previous !== before.previous)
      this.host.selectLog({ ...this.host.log(), container, previous });
    this.update();
  }

  private situation(): MergedSituation {
    const { follow, previous } = this.view.bar.choice;
    const { connection, since } = this.host.live;
    const { workload, tabData } = this;
    return {
      states: this.streams.states,
      podInfo: workload.info ?? workload.intermediateInfo,
      podResource: workload.info === null ? "Jobs" : "Pods",
      isComplete: workload.isComplete,
      hasPods: workload.hasPods,
      objectIsKnown: tabData !== null && tabData.object !== null,
      pods: workload.pods.length,
      disconnectedSince: connection === "lost" ? since : null,
      follow,
      previous,
      lines: this.view.buffer.size,
      ns: this.host.name.ns,
      kind: this.host.kind.kind,
    };
  }

  private updateStatus(): void {
    const s = this.situation();
    const canRetry = s.states.some((state) => state.at === "refused" && state.again);
    this.view.showStatus(mergedFooter(s, this.host.now()), canRetry, mergedNote(s));
  }
}

const optionOf = (target: LogTarget): Container => ({ ...target.container, name: nameOf(target) });
