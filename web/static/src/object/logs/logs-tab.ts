import "../../shared-code.ts";
import { plural } from "../../net/kinds.ts";
import { clockTime } from "../../text/age.ts";
import { copyText } from "../../ui/clipboard.ts";
import { h, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { escapeInvisible } from "../../text/invisible-chars.ts";
import { Bar } from "./bar.tsx";
import { LogBuffer } from "./buffer.ts";
import { containersOf, defaultContainer, isScheduled, restartedContainer, type Container } from "./containers.ts";
import type { Line } from "./lines.ts";
import { LogViewport } from "./viewport.ts";
import { Search } from "./search.ts";
import { LogStream, type LogState, type Reader } from "./stream.ts";
import { emptyNote, logFooter, lineCountText, type LogSituation } from "./status-text.ts";
import { forbiddenNote, type Note } from "../../model/status.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import type { LogSelection } from "../../model/view.ts";

export class LogsTab implements Tab, Reader {
  private readonly buffer = new LogBuffer();
  private readonly search = new Search(this.buffer);
  private readonly bar: Bar;
  private readonly screen: LogViewport;
  // Shown if the URL names a container that does not exist.
  private readonly fallbackBanner = h("p", { class: "banner", role: "status", hidden: true });
  private readonly note = h("div", { class: "note", hidden: true });
  private readonly toEndButton = h("button", { type: "button", class: "log-below", hidden: true });
  private readonly state = h("span", { class: "status", role: "status" });
  private readonly lineCount = h("span", { class: "log-size" });
  private readonly retryButton = h("button", { type: "button", hidden: true }, "Retry now");
  readonly element: HTMLElement;
  private stream: LogStream | null = null;
  private logState: LogState | null = null;
  private tabData: TabData | null = null;
  private containers: readonly Container[] = [];
  private openedKey = ""; // the parameters of the open log, to detect when they change
  private isFollowing = false;
  private containerId = ""; // container ID of the run whose log is open; a restarted container has another ID

  constructor(private readonly host: TabHost) {
    const { buffer, search } = this;
    this.bar = new Bar({
      logSelected: () => this.logSelected(),
      displayChanged: () => this.applyDisplayOptions(),
      setQuery: (words) => {
        search.setQuery(words);
        host.setFind("logs", words);
        if (words === "") this.screen.redraw();
        else this.step(1);
      },
      step: (by) => this.step(by),
      focusText: () => this.screen.element.focus({ preventScroll: true }),
      copy: () => copyText(buffer.text(this.bar.showsTimes)),
      download: () => this.download(),
    });
    this.screen = new LogViewport(buffer, search, () => this.viewportDrawn());
    this.toEndButton.addEventListener("click", () => {
      this.screen.scrollToEnd();
      this.screen.element.focus({ preventScroll: true });
    });
    this.retryButton.addEventListener("click", () => this.stream?.retryNow());
    this.element = h(
      "div",
      { class: "logs" },
      this.bar.element,
      this.fallbackBanner,
      h("div", { class: "log-body" }, this.screen.element, this.note, this.toEndButton),
      h("div", { class: "log-foot" }, this.state, this.retryButton, h("span", { class: "spring" }), this.lineCount),
    );
    this.element.addEventListener("keydown", (e) => this.key(e));
    this.applyDisplayOptions();
    this.restoreFind();
  }

  // Searches for the text in the URL.
  private restoreFind(): void {
    const words = this.host.find("logs");
    if (words === this.bar.find.query) return;
    this.bar.find.restore(words);
    this.search.setQuery(words);
    this.screen.redraw();
  }

  show(tabData: TabData): void {
    this.tabData = tabData;
    if (this.forbidden !== null) this.closeLog();
    this.containers = this.forbidden === null ? containersOf(tabData.object) : [];
    this.urlChanged();
  }

  urlChanged(): void {
    this.restoreFind();
    const { selectedLog: seen } = this;
    this.bar.showContainers(this.containers, seen);
    const named = this.host.log().container;
    this.fallbackBanner.hidden = named === "" || this.containers.length === 0 || named === seen.container;
    setText(
      this.fallbackBanner,
      this.fallbackBanner.hidden
        ? ""
        : `Container ${escapeInvisible(named)} not found. Showing the log of ${seen.container}.`,
    );
    this.open(false);
    this.updateStatus();
  }

  // Returns the selected log. If the selected container does not exist, it uses the pod's default container instead.
  // For the log of a previous run, it uses the container that was restarted.
  private get selectedLog(): LogSelection {
    const log = this.host.log();
    if (this.containers.some((c) => c.name === log.container)) return log;
    const restarted = log.previous && log.container === "" ? restartedContainer(this.containers) : "";
    return { ...log, container: restarted || defaultContainer(this.tabData?.object ?? null, this.containers) };
  }

  private logSelected(): void {
    const { selectedLog: seen } = this;
    const { container, previous } = this.bar.choice;
    if (container !== seen.container || previous !== seen.previous) this.host.selectLog({ container, previous });
    this.urlChanged();
  }

  tick(): void {
    this.updateStatus();
  }

  close(): void {
    this.stream?.close();
    this.screen.close();
    this.bar.close();
  }

  lines(lines: readonly Line[], gap: boolean): void {
    if (gap) this.appendNote("The log was interrupted; lines may be missing here");
    this.buffer.append(lines);
    this.search.update();
    this.screen.schedule();
  }

  stateChanged(state: LogState): void {
    this.logState = state;
    // If the viewer lost permission, remove the lines from the screen.
    if (state.at === "refused" && state.problem.status === 403) this.clear();
    // A resumed log can be the log of a new run of the container, which has another container ID.
    if (state.at === "reading") this.containerId = this.selectedContainer()?.id ?? this.containerId;
    if (state.at === "ended") this.open(false);
    this.updateStatus();
  }

  private selectedContainer(): Container | undefined {
    return this.containers.find((c) => c.name === this.bar.choice.container);
  }

  // Opens the log again only if the parameter reopen is true, or after a restart of the container.
  private open(reopen: boolean): void {
    const { kind, name } = this.host;
    const { choice } = this.bar;
    const container = this.selectedContainer();
    if (container === undefined || kind.resource !== "pods") return;
    const { follow, ...which } = choice;
    const requestKey = JSON.stringify(which);
    if (requestKey === this.openedKey && !reopen && follow !== this.isFollowing) {
      this.isFollowing = follow;
      return this.stream?.follow(follow);
    }
    if (requestKey === this.openedKey && !reopen) {
      // The log can start before the pod's status contains the container ID. In that case, store the ID now.
      if (this.logState?.at === "reading" && container.id.endsWith(this.containerId)) this.containerId = container.id;
      if (container.id === this.containerId || choice.previous || container.phase !== "running") return;
      if (this.logState?.at === "refused" && this.logState.again) {
        this.containerId = container.id; // the stream retries by itself, and then reads the log of the new run
        return this.stream?.retryNow();
      }
      if (this.logState?.at !== "ended" && this.logState?.at !== "refused") return;
      if (this.buffer.size > 0)
        this.appendNote(
          `Container restarted at ${clockTime(new Date(this.host.now()).toISOString(), this.host.now())}`,
        );
    } else {
      this.clear();
    }
    this.openedKey = requestKey;
    this.isFollowing = follow;
    this.containerId = container.id;
    this.screen.element.setAttribute("aria-label", `Log of ${container.name}`);
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
    this.clear();
  }

  private clear(): void {
    this.buffer.clear();
    this.screen.clear();
    this.search.reset();
  }

  private appendNote(text: string): void {
    this.buffer.append([{ at: "", text, note: true }]);
  }

  private applyDisplayOptions(): void {
    this.screen.times = this.bar.showsTimes;
    this.screen.wrap = this.bar.isWrapped;
    this.screen.remeasure();
  }

  private step(by: 1 | -1): void {
    const place = this.search.step(by, this.screen.top);
    if (place === null) this.screen.redraw();
    else this.screen.scrollToLine(place.line);
    this.bar.find.showCount(this.search.number, this.search.count);
    this.bar.announceMatches();
  }

  private viewportDrawn(): void {
    this.bar.find.showCount(this.search.number, this.search.count);
    const n = this.screen.unseenCount;
    this.toEndButton.hidden = this.screen.atEnd || this.buffer.size === 0;
    setText(
      this.toEndButton,
      n === 0 ? "Jump to end ↓" : `${formatInteger(n)} new ${n === 1 ? "line" : "lines"} below ↓`,
    );
    setText(this.lineCount, lineCountText(this.buffer.size, this.buffer.first));
    this.updateStatus();
  }

  private situation(): LogSituation {
    const { tabData, buffer } = this;
    const { follow, previous } = this.bar.choice;
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
    return at?.at === "refused" ? at.again : at?.at === "asking" && this.disconnectedSince !== null;
  }

  private get retryIsPointless(): boolean {
    return this.tabData?.isDeleted === true && this.willRetry;
  }

  private updateStatus(): void {
    // The call of stop reports a new state of the stream, which calls updateStatus again.
    if (this.retryIsPointless && this.stream !== null) return this.stream.stop();
    const s = this.situation();
    const { tone, words } = logFooter(s, this.host.now());
    this.state.dataset["state"] = tone;
    setText(this.state, words);
    this.retryButton.hidden = !this.willRetry;
    const e = emptyNote(s);
    this.note.hidden = e === null;
    const known = JSON.stringify(e);
    if (e === null || this.note.dataset["known"] === known) return;
    this.note.dataset["known"] = known;
    const again = h("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => this.open(true));
    this.note.replaceChildren(
      h("h2", {}, e.title),
      ...[e.detail, e.next].filter((p) => p !== "").map((p) => h("p", {}, p)),
      ...(e.again ? [h("p", {}, again)] : []),
    );
  }

  private download(): void {
    const url = URL.createObjectURL(
      new Blob([this.buffer.text(this.bar.showsTimes)], { type: "text/plain;charset=utf-8" }),
    );
    const { container, previous } = this.bar.choice;
    h("a", { href: url, download: `${this.host.name.name}-${container}${previous ? "-previous" : ""}.log` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  private key(e: KeyboardEvent): void {
    const find =
      (e.key === "f" && (e.ctrlKey || e.metaKey)) || (e.key === "/" && !(e.target instanceof HTMLInputElement));
    if (find) {
      // If the search box already has the focus, Ctrl+F opens the browser's own search.
      if (this.bar.find.isFocused) return;
      this.bar.find.focus();
    } else if (e.target === this.screen.element && e.key === "End") this.screen.scrollToEnd();
    else return;
    e.preventDefault();
  }
}
