// The bar above a log, with controls to select the log, to change how it is displayed, and to search it.

import { h, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { FindBox, type FindActions } from "../../ui/find-box.ts";
import { preferences } from "../../ui/preferences.ts";
import type { LogSelection } from "../../model/view.ts";
import type { Container } from "./containers.ts";

/** The user's selection: which container's log to read, and which part of the log. */
export interface LogChoice {
  readonly container: string;
  readonly tail: number;
  readonly since: string;
  readonly previous: boolean;
  readonly follow: boolean;
}

/** The functions of the logs tab that the bar calls when the user operates it. */
export interface LogBarActions extends FindActions {
  logSelected(): void;
  displayChanged(): void; // called after the user has switched timestamps or line wrapping
  copy(): Promise<boolean>;
  download(): void;
}

const tailOptions = [100, 500, 5000];
const ageOptions: readonly (readonly [string, string])[] = [
  ["", "Any time"],
  ["5m", "Last 5 min"],
  ["15m", "Last 15 min"],
  ["1h", "Last hour"],
  ["6h", "Last 6 hours"],
  ["24h", "Last day"],
];

export class Bar {
  private readonly container = h("select", { "aria-label": "Container", title: "Container" });
  private readonly tail = h(
    "select",
    { "aria-label": "Number of lines to load", title: "Number of lines to load" },
    ...tailOptions.map((n) =>
      h("option", { value: String(n), selected: n === 500 ? true : null }, `${formatInteger(n)} lines`),
    ),
  );
  private readonly since = h(
    "select",
    { "aria-label": "Time range", title: "Time range" },
    ...ageOptions.map(([value, labels]) => h("option", { value }, labels)),
  );
  private readonly previous = toggle("Previous", "Log of the previous container instance");
  private readonly follow = toggle("Follow", "Follow new lines");
  private readonly times = toggle("Timestamps", "Show timestamps");
  private readonly wrap = toggle("Wrap", "Wrap lines");
  readonly find: FindBox;
  // Announces the number of matches to screen readers. It is updated only after an action of the user, because new
  // lines, and therefore new matches, arrive all the time.
  private readonly announcement = h("span", { class: "announcement", role: "status" });
  private readonly copy = h("button", { type: "button", title: "Copy the loaded lines" }, "Copy");
  private readonly download = h("button", { type: "button", title: "Download the loaded lines as a file" }, "Download");
  readonly element: HTMLElement;
  private drawnOptions = "";
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly actions: LogBarActions) {
    for (const e of [this.container, this.tail, this.since]) e.addEventListener("change", () => actions.logSelected());
    press(this.follow, true);
    press(this.times, preferences.get("log-times") !== null);
    press(this.wrap, preferences.get("log-wrap") !== null);
    for (const b of [this.previous, this.follow, this.times, this.wrap])
      b.addEventListener("click", () => this.toggleButton(b));
    this.find = new FindBox(actions, "Find in the log", "Find in the log (/ or Ctrl F)");
    this.element = h(
      "div",
      { class: "log-bar" },
      h("div", { class: "part" }, this.container, this.tail, this.since, this.previous, this.follow),
      h(
        "div",
        { class: "part" },
        this.find.element,
        h("span", { class: "spring" }),
        this.times,
        this.wrap,
        this.copy,
        this.download,
        this.announcement,
      ),
    );
    this.copy.addEventListener("click", () => void this.copyLines());
    this.download.addEventListener("click", () => actions.download());
  }

  close(): void {
    clearTimeout(this.timer);
  }

  get choice(): LogChoice {
    const previous = pressed(this.previous);
    return {
      container: this.container.value,
      tail: Number(this.tail.value),
      since: this.since.value,
      previous,
      follow: pressed(this.follow) && !previous,
    };
  }

  get showsTimes(): boolean {
    return pressed(this.times);
  }

  get isWrapped(): boolean {
    return pressed(this.wrap);
  }

  /** Shows the containers of the pod as options, and marks the selected log. */
  showContainers(all: readonly Container[], selected: LogSelection): void {
    const labels = all.map(
      (c) => `${c.name}${c.role === "" ? "" : ` (${c.role})`}${c.state === "" ? "" : ` – ${c.state}`}`,
    );
    const drawnOptions = JSON.stringify([labels, all.map((c) => c.name)]);
    if (drawnOptions !== this.drawnOptions) {
      this.drawnOptions = drawnOptions;
      this.container.replaceChildren(...all.map((c, i) => h("option", { value: c.name }, labels[i] ?? "")));
    }
    this.container.value = selected.container;
    press(this.previous, selected.previous);
    const restarts = all.find((c) => c.name === this.container.value)?.restarts ?? 0;
    this.previous.disabled = restarts === 0 && !pressed(this.previous);
    this.previous.title = restarts === 0 ? "No previous container instance" : "Log of the previous container instance";
    this.follow.disabled = pressed(this.previous);
  }

  announceMatches(): void {
    setText(this.announcement, this.find.matchCount.textContent ?? "");
  }

  private toggleButton(b: HTMLButtonElement): void {
    press(b, !pressed(b));
    if (b === this.previous || b === this.follow) {
      this.follow.disabled = pressed(this.previous);
      return this.actions.logSelected();
    }
    preferences.setFlag("log-times", this.showsTimes);
    preferences.setFlag("log-wrap", this.isWrapped);
    this.actions.displayChanged();
  }

  private async copyLines(): Promise<void> {
    setText(this.copy, (await this.actions.copy()) ? "Copied" : "Copy failed");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => setText(this.copy, "Copy"), 2000);
  }
}

const toggle = (label: string, title: string): HTMLButtonElement =>
  h("button", { type: "button", "aria-pressed": "false", title }, label);
const pressed = (b: HTMLButtonElement): boolean => b.getAttribute("aria-pressed") === "true";
const press = (b: HTMLButtonElement, on: boolean): void => b.setAttribute("aria-pressed", String(on));
