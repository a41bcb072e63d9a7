import "../../shared-code.ts";
import { plural } from "../../net/kinds.ts";
import { escapeInvisible } from "../../text/invisible-chars.ts";
import { containersOf, defaultContainer, isScheduled, restartedContainer, type Container } from "./containers.ts";
import type { Line } from "./lines.ts";
import { LogView } from "./log-view.tsx";
import { LogStream, type LogState, type Reader } from "./stream.ts";
import { emptyNote, logFooter, type LogSituation } from "./status-text.ts";
import { forbiddenNote, type Note } from "../../model/status.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import type { LogSelection } from "../../model/view.ts";

export class LogsTab implements Tab, Reader {
  private readonly view: LogView;
  readonly element: HTMLElement;
  private stream: LogStream | null = null;
  private logState: LogState | null = null;
  private tabData: TabData | null = null;
  private containers: readonly Container[] = [];
  private openedKey = ""; // the parameters of the open log, to detect when they change
  private isFollowing = false;
  private containerId = ""; // ID of the run of the container whose log is open; differs after a restart

  constructor(private readonly host: TabHost) {
    this.view = new LogView(host, {
      logSelected: () => this.logSelected(),
      retryNow: () => this.stream?.retryNow(),
      reopen: () => this.open(true),
      updateStatus: () => this.updateStatus(),
      fileName: () => `${host.name.name}-${this.view.bar.choice.container}`,
    });
    this.element = this.view.element;
    this.view.start();
  }

  show(tabData: TabData): void {
    this.tabData = tabData;
    if (this.forbidden !== null) this.closeLog();
    this.containers = this.forbidden === null ? containersOf(tabData.object) : [];
    this.urlChanged();
  }

  urlChanged(): void {
    this.view.restoreFind();
    const { selectedLog: seen } = this;
    this.view.bar.showContainers(this.containers, seen);
    const named = this.host.log().container;
    const exists = named === "" || this.containers.length === 0 || named === seen.container;
    // If the URL names a container that does not exist, show this in the banner.
    this.view.showBanner(
      exists ? "" : `Container ${escapeInvisible(named)} not found. Showing the log of ${seen.container}.`,
    );
    this.open(false);
    this.updateStatus();
  }

  // Returns the selected log. If its container is not named or does not exist, selects the pod's default container. For
  // a previous instance without a named container, selects a container that was restarted, if there is one.
  private get selectedLog(): LogSelection {
    const log = this.host.log();
    if (this.containers.some((c) => c.name === log.container)) return log;
    const restarted = log.previous && log.container === "" ? restartedContainer(this.containers) : "";
    return { ...log, container: restarted || defaultContainer(this.tabData?.object ?? null, this.containers) };
  }

  private logSelected(): void {
    const { selectedLog: seen } = this;
    const { container, previous } = this.view.bar.choice;
    if (container !== seen.container || previous !== seen.previous)
      this.host.selectLog({ ...this.host.log(), container, previous });
    this.urlChanged();
  }

  tick(): void {
    this.updateStatus();
  }

  close(): void {
    this.stream?.close();
    this.view.close();
  }

  lines(lines: readonly Line[], gap: boolean): void {
    if (gap) this.view.appendNote("The log was interrupted; lines may be missing here");
    this.view.buffer.append(lines);
    this.view.search.update();
    this.view.screen.schedule();
  }

  stateChanged(state: LogState): void {
    this.logState = state;
    // If the viewer lost permission, remove the lines from the screen.
    if (state.at === "refused" && state.problem.status === 403) this.view.clear();
    // Store the container ID again: a resumed log can belong to a new run of the container, which has another ID.
    if (state.at === "reading") this.containerId = this.selectedContainer()?.id ?? this.containerId;
    if (state.at === "ended") this.open(false);
    this.updateStatus();
  }

  private selectedContainer(): Container | undefined {
    return this.containers.find((c) => c.name === this.view.bar.choice.container);
  }

  // Opens the selected log. A log that is already open is opened again only after a restart of the container, or if
  // `reopen` is true.
  private open(reopen: boolean): void {
    const { kind, name } = this.host;
    const { choice } = this.view.bar;
    const container = this.selectedContainer();
    if (container === undefined || kind.resource !== "pods") return;
    const { follow, ...which } = choice;
    const requestKey = JSON.stringify(which);
    if (requestKey === this.openedKey && !reopen && follow !== this.isFollowing) {
      this.isFollowing = follow;
      return this.stream?.follow(follow);
    }
    if (requestKey === this.openedKey && !reopen) {
      // The log can start before the pod's status contains the container ID. Store the ID as soon as it is known.
      if (this.logState?.at === "reading" && container.id.endsWith(this.containerId)) this.containerId = container.id;
      if (container.id === this.containerId || choice.previous || container.phase !== "running") return;
      if (this.logState?.at === "refused" && this.logState.again) {
        this.containerId = container.id; // the retry of the stream reads the log of this new run
        return this.stream?.retryNow();
      }
      if (this.logState?.at !== "ended" && this.logState?.at !== "refused") return;
      if (this.view.buffer.size > 0) this.view.appendNote("A new run of the container starts here");
    } else {
      this.view.clear();
    }
    this.openedKey = requestKey;
    this.isFollowing = follow;
    this.containerId = container.id;
    this.view.setLabel(`Log of ${container.name}`);
    this.stream?.close();
    this.stream = this.logState = null;
    this.stream = new LogStream({ ns: name.ns, pod: name.name, ...choice }, this, this.host.live, this.host.now);
    this.updateStatus();
  }

  private get forbidden(): Note | null {
    return this.tabData === null ? null : forbiddenNote(this.tabData.info, plural(this.host.kind));
  }

  // Closes the log and removes its lines, because the viewer lost permission.
  private closeLog(): void {
    if (this.openedKey === "") return;
    this.stream?.close();
    this.stream = null;
    this.logState = null;
    this.openedKey = "";
    this.view.clear();
  }

  private situation(): LogSituation {
    const { tabData } = this;
    const { buffer } = this.view;
    const { follow, previous } = this.view.bar.choice;
    const object = tabData?.object ?? null;
    return {
      state: this.logState,
      disconnectedSince: this.disconnectedSince,
      container: this.selectedContainer(),
      follow,
      previous,
      isScheduled: isScheduled(object),
      isDeleted: tabData?.isDeleted === true,
      podIsKnown: object !== null,
      forbidden: this.forbidden,
      lines: buffer.size,
      dropped: buffer.first,
      ns: this.host.name.ns,
    };
  }

  private get disconnectedSince(): number | null {
    const { connection, since } = this.host.live;
    return connection === "lost" ? since : null;
  }

  private get willRetry(): boolean {
    const { logState: at } = this;
    return at?.at === "refused" ? at.again : at?.at === "requesting" && this.disconnectedSince !== null;
  }

  private get retryIsPointless(): boolean {
    return this.tabData?.isDeleted === true && this.willRetry;
  }

  private updateStatus(): void {
    // Stop retries for a deleted pod. Draw nothing here: stop() reports a new state, which calls updateStatus again.
    if (this.retryIsPointless && this.stream !== null) return this.stream.stop();
    const s = this.situation();
    this.view.showStatus(logFooter(s, this.host.now()), this.willRetry, emptyNote(s));
  }
}
