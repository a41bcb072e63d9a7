import "../../shared-code.ts";
import { clockTime } from "../../text/age.ts";
import { ChangeGroup } from "./change-view.tsx";
import type { DiffLayout } from "../../diff/diff-view.ts";
import { h } from "../../ui/dom.ts";
import { mount, unmount, ViewState } from "../../ui/view.tsx";
import { formatInteger } from "../../text/format.ts";
import { History } from "../../model/history.ts";
import { LayoutSwitch, storedLayout } from "../../diff/diff-layout.tsx";
import type { Handler, Subscription } from "../../net/live.ts";
import { receivedText } from "../../model/status.ts";
import type { TabHost, Tab } from "../tab.ts";
import {
  formatFilter,
  isBurst,
  parseFilter,
  parts,
  Timeline,
  type Part,
  type StepGroup,
  type TimelineFilter,
} from "../../activity/timeline.ts";
import type { Problem, State } from "../../net/wire.ts";

const pageSize = 200; // changes that are drawn at first; each click on "Show older" draws as many more

export class ChangesTab implements Tab, Handler {
  readonly element = h("section", { class: "changes" });
  private readonly viewState: ViewState;
  private filter: TimelineFilter;
  private readonly history = new History();
  private readonly timeline = new Timeline();
  private readonly subscription: Subscription;
  // The drawn groups of changes. The key of a group is the number of its oldest change: this number stays the same when
  // newer changes join the group.
  private drawn = new Map<number, StepGroup>();
  private layout: DiffLayout = storedLayout("inline");
  private limit = pageSize;
  private complete = false;
  private progress = ""; // how much of a long message with changes has arrived, as text; empty if none is arriving
  private state: State | null = null;
  private problem: Problem | null = null;
  private frame = 0;

  constructor(private readonly host: TabHost) {
    const { live, kind, name } = host;
    this.viewState = new ViewState(host.now);
    this.filter = parseFilter(host.find("changes"));
    this.subscription = live.subscribe(
      { resource: kind.ref, ...(name.ns === "" ? {} : { ns: [name.ns] }), name: name.name, view: "changes" },
      this,
    );
    this.draw();
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    let isConsistent = true;
    this.progress = "";
    if (m.type === "changes") {
      isConsistent = this.history.applySnapshot(m.object, m.since, m.events);
      this.complete = true;
      this.problem = null;
      this.drawn.clear();
    } else if (m.type === "change-events") isConsistent = this.history.add(m.events);
    else if (m.type === "state") {
      this.state = m;
      if (m.state === "forbidden") this.clear();
    } else if (m.type === "error") {
      this.problem = m.problem;
      this.clear();
    }
    if (!isConsistent)
      this.subscription.requestSnapshot("a received change does not match the previous version of the object");
    this.schedule();
  }

  part(received: number, of: number): void {
    this.progress = `: ${receivedText(received, of)}`;
    this.schedule();
  }

  // Is called before a new snapshot. The drawn changes stay, because they are still correct.
  restart(): void {
    this.progress = "";
  }

  // Removes all changes from the screen, because the viewer lost permission.
  private clear(): void {
    this.history.clear();
    this.complete = false;
  }

  // Does nothing: this tab gets its data from its own subscription, not from the panel's object.
  show(): void {}

  tick(): void {
    this.viewState.tick();
  }

  close(): void {
    this.subscription.close();
    cancelAnimationFrame(this.frame);
    unmount(this.element);
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const { history, layout } = this;
    const { groups, more } = this.timeline.read(history.steps, this.filter, this.limit);
    const drawn = new Map<number, StepGroup>();
    for (const group of groups) {
      const key = group.at(-1)?.step.number ?? 0;
      const old = this.drawn.get(key);
      drawn.set(key, old?.length === group.length && isBurst(old) === isBurst(group) ? old : group);
    }
    this.drawn = drawn;
    const since = clockTime(history.since, this.host.now());
    mount(
      this.element,
      <>
        <div class="tools">
          <input
            type="search"
            placeholder="Filter by field or author"
            aria-label="Filter changes by field or author"
            autocomplete="off"
            spellcheck={false}
            value={this.filter.text}
            onInput={(e) => this.setFilter({ text: e.currentTarget.value })}
          />
          <LayoutSwitch current={layout} onChange={(to) => this.setLayout(to)} />
          <span class="spring" />
          <span class="kept">{this.summaryText(since)}</span>
        </div>
        {this.complete && history.steps.length > 0 && this.filters()}
        <div
          class="timeline"
          tabIndex={0}
          role="region"
          aria-label="Changes, newest first"
          data-empty={groups.length === 0 ? "" : undefined}
        >
          {[...drawn].map(([key, group]) => (
            <ChangeGroup key={key} group={group} layout={layout} />
          ))}
          {more && (
            <button type="button" class="older" onClick={() => this.showOlder()}>
              Show older
            </button>
          )}
          <p class="foot">{this.footerText(groups.length > 0, more, since)}</p>
        </div>
      </>,
      this.viewState,
    );
  }

  /** Applies the filter in the URL. */
  urlChanged(): void {
    const find = this.host.find("changes");
    if (find !== formatFilter(this.filter)) this.applyFilter(parseFilter(find));
  }

  private filters() {
    const { part, peopleOnly, text } = this.filter;
    const counts = this.timeline.counts(this.history.steps, text);
    const choice = (value: Part | null, label: string) => (
      <button
        key={label}
        type="button"
        aria-pressed={part === value}
        onClick={() => this.setFilter({ part: part === value ? null : value })}
      >
        {label}
        {value !== null && <span class="count">{formatInteger(counts.get(value) ?? 0)}</span>}
      </button>
    );
    return (
      <div class="change-filters">
        <div class="switch" role="group" aria-label="Part of the object">
          {choice(null, "All")}
          {parts.map((value) => choice(value, partLabels[value]))}
        </div>
        <label title="Show only changes by kubectl, GitOps tools and similar, not by controllers of the cluster">
          <input
            type="checkbox"
            checked={peopleOnly}
            onChange={(e) => this.setFilter({ peopleOnly: e.currentTarget.checked })}
          />
          {" By people"}
        </label>
      </div>
    );
  }

  private setFilter(change: Partial<TimelineFilter>): void {
    const filter = { ...this.filter, ...change };
    this.applyFilter(filter);
    this.host.setFind("changes", formatFilter(filter));
  }

  private applyFilter(filter: TimelineFilter): void {
    this.filter = filter;
    this.limit = pageSize;
    this.drawn.clear();
    this.draw();
  }

  private setLayout(layout: DiffLayout): void {
    this.layout = layout;
    this.draw();
  }

  private showOlder(): void {
    this.limit += pageSize;
    this.draw();
  }

  private summaryText(since: string): string {
    if (!this.complete || since === "") return "";
    const { steps } = this.history;
    const gapCount = steps.filter((s) => s.isGap).length;
    const count = changeCountText(steps.length - gapCount);
    return gapCount === 0 ? `${count} since ${since}` : `${count} received since ${since}; others were missed`;
  }

  private footerText(hasGroups: boolean, more: boolean, since: string): string {
    if (this.problem !== null) return `${this.problem.title}. ${this.problem.detail}`;
    if (!this.complete)
      return this.state?.state === "forbidden" || this.state?.state === "absent" || this.state?.state === "failed"
        ? this.state.reason
        : `Loading history${this.progress === "" ? "…" : this.progress}`;
    if (more) return "";
    const before = since === "" ? "" : `History starts at ${since}`;
    if (hasGroups) return before;
    return this.history.steps.length > 0
      ? "No changes match the filter"
      : `No changes since ${since}, when the history starts`;
  }
}

const partLabels: Readonly<Record<Part, string>> = { spec: "Spec", status: "Status", metadata: "Metadata" };

const changeCountText = (n: number): string => (n === 1 ? "1 change" : `${n === 0 ? "No" : formatInteger(n)} changes`);
