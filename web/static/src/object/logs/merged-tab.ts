// The logs of all containers of a workload's pods, merged by time.

import "../../shared-code.ts";
import { copyText } from "../../ui/clipboard.ts";
import { h, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import type { LogSelection } from "../../model/view.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import { maxPodObjects, WorkloadPods } from "../workload/workload-pods.ts";
import { Bar } from "./bar.tsx";
import { LogBuffer } from "./buffer.ts";
import { containersOf, type Container } from "./containers.ts";
import type { Line, LineSource } from "./lines.ts";
import { byTime, sourceLabel } from "./merge.ts";
import { maxStreams, MergedStreams, nameOf, type LogTarget, type MergedReader } from "./merged-streams.ts";
import { limitText, mergedFooter, mergedNote, type MergedSituation } from "./merged-text.ts";
import { Search } from "./search.ts";
import { lineCountText } from "./status-text.ts";
import { LogViewport } from "./viewport.ts";

const defaultTail = 100; // lines of each container

export class MergedLogsTab implements Tab, MergedReader {
  private readonly buffer = new LogBuffer();
  private readonly search = new Search(this.buffer);
  private readonly bar: Bar;
  private readonly screen: LogViewport;
  private readonly limitBanner = h("p", { class: "banner", role: "status", hidden: true });
  private readonly note = h("div", { class: "note", hidden: true });
  private readonly toEndButton = h("button", { type: "button", class: "log-below", hidden: true });
  private readonly state = h("span", { class: "status", role: "status" });
  private readonly lineCount = h("span", { class: "log-size" });
  private readonly retryButton = h("button", { type: "button", hidden: true }, "Retry now");
  readonly element: HTMLElement;
  private readonly workload: WorkloadPods;
  private readonly streams: MergedStreams;
  private tabData: TabData | null = null;
  private openedKey = "";
  private frame = 0;

  constructor(private readonly host: TabHost) {
    const { buffer, search } = this;
    this.bar = new Bar(
      {
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
      },
      { allLabel: "All containers", tail: defaultTail },
    );
    this.screen = new LogViewport(buffer, search, () => this.viewportDrawn());
    this.screen.element.setAttribute("aria-label", "Logs of all pods");
    this.toEndButton.addEventListener("click", () => {
      this.screen.scrollToEnd();
      this.screen.element.focus({ preventScroll: true });
    });
    this.streams = new MergedStreams(host.name.ns, host.live, host.now, this);
    this.retryButton.addEventListener("click", () => this.streams.retryNow());
    this.workload = new WorkloadPods(host, () => this.schedule());
    this.element = h(
      "div",
      { class: "logs" },
      this.bar.element,
      this.limitBanner,
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
    this.workload.show(tabData.object);
    this.update();
  }

  urlChanged(): void {
    this.restoreFind();
    this.update();
  }

  tick(): void {
    this.updateStatus();
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.streams.close();
    this.workload.close();
    this.screen.close();
    this.bar.close();
  }

  merged(lines: readonly Line[]): void {
    const from = this.buffer.merge(lines, byTime);
    this.search.restartAt(from);
    this.screen.redrawFrom(from);
  }

  interrupted({ name }: LineSource): void {
    this.buffer.append([{ at: "", text: `The log of ${name} was interrupted; lines may be missing here`, note: true }]);
  }

  statesChanged(): void {
    this.schedule();
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.update());
  }

  // All containers of the loaded pods. Main containers are first, because only some logs are read.
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
    this.bar.showContainers(targets.map(optionOf), selected);
    const { container, ...options } = this.bar.choice;
    const key = JSON.stringify([container, options]);
    if (key !== this.openedKey) {
      this.openedKey = key;
      this.streams.close();
      this.buffer.clear();
      this.screen.clear();
      this.search.reset();
    }
    const readable = this.readableTargets(targets);
    this.streams.show(readable.slice(0, maxStreams), options);
    const width = Math.max(0, ...readable.slice(0, maxStreams).map((t) => t.label.length));
    this.screen.element.style.setProperty("--source-width", `${width}ch`);
    const limit = limitText(readable.length, maxStreams, this.workload.total, maxPodObjects);
    this.limitBanner.hidden = limit === "";
    setText(this.limitBanner, limit);
    this.updateStatus();
  }

  private selectedLog(targets: readonly LogTarget[]): LogSelection {
    const log = this.host.log();
    return targets.some((t) => nameOf(t) === log.container) ? log : { ...log, container: "" };
  }

  private readableTargets(targets: readonly LogTarget[]): readonly LogTarget[] {
    const { container, previous } = this.bar.choice;
    const chosen = container === "" ? targets : targets.filter((t) => nameOf(t) === container);
    // A container without a status has not started, so it has no log.
    return chosen.filter((t) => (previous ? t.container.restarts > 0 : t.container.phase !== ""));
  }

  private logSelected(): void {
    const before = this.selectedLog(this.targets);
    const { container, previous } = this.bar.choice;
    if (container !== before.container || previous !== before.previous) this.host.selectLog({ container, previous });
    this.update();
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

  private situation(): MergedSituation {
    const { follow, previous } = this.bar.choice;
    const { connection, since } = this.host.live;
    const { workload, tabData } = this;
    return {
      states: this.streams.states,
      podInfo: workload.info ?? workload.intermediateInfo,
      isComplete: workload.isComplete,
      hasPods: workload.hasPods,
      objectIsKnown: tabData !== null && tabData.object !== null,
      pods: workload.pods.length,
      disconnectedSince: connection === "lost" ? since : null,
      follow,
      previous,
      lines: this.buffer.size,
      ns: this.host.name.ns,
      kind: this.host.kind.kind,
    };
  }

  private updateStatus(): void {
    const s = this.situation();
    const { tone, words } = mergedFooter(s, this.host.now());
    this.state.dataset["state"] = tone;
    setText(this.state, words);
    this.retryButton.hidden = !s.states.some((state) => state.at === "refused" && state.again);
    const note = mergedNote(s);
    this.note.hidden = note === null;
    const shown = JSON.stringify(note);
    if (note === null || this.note.dataset["known"] === shown) return;
    this.note.dataset["known"] = shown;
    this.note.replaceChildren(
      h("h2", {}, note.title),
      ...[note.detail, note.next].filter((p) => p !== "").map((p) => h("p", {}, p)),
    );
  }

  private download(): void {
    const text = this.buffer.text(this.bar.showsTimes);
    const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    h("a", { href: url, download: `${this.host.name.name}${this.bar.choice.previous ? "-previous" : ""}.log` }).click();
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

const optionOf = (target: LogTarget): Container => ({ ...target.container, name: nameOf(target) });
