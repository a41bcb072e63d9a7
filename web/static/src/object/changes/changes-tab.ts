// The tab with the changes of an object, newest first. The server's history limits how far they go back.

import { clockTime } from "../../text/age.ts";
import { changeView, lazyDetails } from "./change-view.ts";
import type { DiffLayout } from "../../diff/diff-view.ts";
import { arrangeChildren, h, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { History } from "../../model/history.ts";
import { storedLayout, layoutSwitch } from "../../diff/diff-layout.ts";
import type { Handler, Subscription } from "../../net/live.ts";
import { updateAges } from "../../ui/ages.ts";
import { receivedText } from "../../model/status.ts";
import type { TabHost, Tab } from "../tab.ts";
import { Timeline, type StepGroup } from "../../activity/timeline.ts";
import { timeView } from "../../ui/author-view.ts";
import type { Problem, State } from "../../net/wire.ts";

const pageSize = 200; // changes that are drawn at first, and that each click on "Show older" adds

interface Drawn {
  readonly element: HTMLElement;
  readonly steps: number;
}

export class ChangesTab implements Tab, Handler {
  readonly element: HTMLElement;
  private readonly filter = h("input", {
    type: "search",
    placeholder: "Filter by field or author",
    "aria-label": "Filter changes by field or author",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly historySummary = h("span", { class: "kept" });
  private readonly list = h("div", {
    class: "timeline",
    tabindex: "0",
    role: "region",
    "aria-label": "Changes, newest first",
  });
  private readonly olderButton = h("button", { type: "button", class: "older" }, "Show older");
  private readonly footer = h("p", { class: "foot" });
  private readonly history = new History();
  private readonly timeline = new Timeline();
  private readonly subscription: Subscription;
  // The drawn groups of changes. The key is the number of the oldest change in the group, which stays the same while
  // newer changes are added.
  private drawn = new Map<number, Drawn>();
  private layout: DiffLayout = storedLayout("inline");
  private limit = pageSize;
  private complete = false;
  private progress = ""; // how much of a long message has arrived; empty if none is arriving
  private state: State | null = null;
  private problem: Problem | null = null;
  private frame = 0;

  constructor(private readonly host: TabHost) {
    const { live, kind, name } = host;
    const setLayout = (to: DiffLayout): void => {
      this.layout = to;
      this.redrawAll();
    };
    this.element = h(
      "section",
      { class: "changes" },
      h(
        "div",
        { class: "tools" },
        this.filter,
        layoutSwitch(this.layout, setLayout),
        h("span", { class: "spring" }),
        this.historySummary,
      ),
      this.list,
    );
    this.filter.addEventListener("input", () => {
      this.limit = pageSize;
      this.redrawAll();
    });
    this.olderButton.addEventListener("click", () => {
      this.limit += pageSize;
      this.draw();
    });
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
    if (!isConsistent) this.subscription.resync("a change does not match the version before it");
    this.schedule();
  }

  part(received: number, of: number): void {
    this.progress = `: ${receivedText(received, of)}`;
    this.schedule();
  }

  // Called before the server sends a new snapshot. The changes stay on the screen, because they are still correct.
  restart(): void {
    this.progress = "";
  }

  // Removes all changes from the screen, because the viewer lost permission.
  private clear(): void {
    this.history.clear();
    this.complete = false;
  }

  // Does nothing. The tab has its own subscription, and does not need the panel's object.
  show(): void {}

  tick(): void {
    updateAges(this.list, this.host.now());
  }

  close(): void {
    this.subscription.close();
    cancelAnimationFrame(this.frame);
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private redrawAll(): void {
    this.drawn.clear();
    this.draw();
  }

  private draw(): void {
    this.frame = 0;
    const { history } = this;
    const { groups, more } = this.timeline.read(history.steps, this.filter.value, this.limit);
    const drawn = new Map<number, Drawn>();
    for (const group of groups) {
      const key = group.at(-1)?.step.number ?? 0;
      const old = this.drawn.get(key);
      if (old?.steps === group.length) {
        drawn.set(key, old);
        continue;
      }
      const element = this.groupView(group);
      if (element instanceof HTMLDetailsElement && old?.element instanceof HTMLDetailsElement)
        element.open = old.element.open;
      drawn.set(key, { element, steps: group.length });
    }
    this.drawn = drawn;
    const since = clockTime(history.since, this.host.now());
    const gapCount = history.steps.filter((s) => s.isGap).length;
    setText(
      this.historySummary,
      this.complete && since !== ""
        ? `${changeCountText(history.steps.length - gapCount)} since ${since}${gapCount > 0 ? ", some missed" : ""}`
        : "",
    );
    setText(this.footer, this.footerText(groups.length > 0, more, since));
    arrangeChildren(this.list, [
      ...[...drawn.values()].map((d) => d.element),
      ...(more ? [this.olderButton] : []),
      this.footer,
    ]);
    this.list.toggleAttribute("data-empty", groups.length === 0);
  }

  private groupView(group: StepGroup): HTMLElement {
    const now = this.host.now();
    const views = (): HTMLElement[] => group.map((s) => changeView(s.step, s.fields, this.layout, now));
    if (!group[0].isMinor) return views()[0] as HTMLElement;
    const fold = lazyDetails(`${group.length} minor ${group.length === 1 ? "change" : "changes"}`, views);
    fold.firstElementChild?.append(timeView(group[0].step.change.time, now));
    return fold;
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

const changeCountText = (n: number): string => (n === 1 ? "1 change" : `${n === 0 ? "No" : formatInteger(n)} changes`);
