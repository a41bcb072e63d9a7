// The bar above a log: the choice of the log, its display options, and the search.

import { digits, h, setText } from "../dom.ts";
import { FindBox, type Finder } from "../findbox.ts";
import { habits } from "../stored.ts";
import type { LogName } from "../view.ts";
import type { Container } from "./containers.ts";

/** Selects the part of the log to read. */
export interface Choice {
  readonly container: string;
  readonly tail: number;
  readonly since: string;
  readonly previous: boolean;
  readonly follow: boolean;
}

/** The functions of the tab that the bar calls when the user operates it. */
export interface Deeds extends Finder {
  chosen(): void;
  shown(): void; // called when the user has switched timestamps or line wrapping
  copy(): Promise<boolean>;
  download(): void;
}

const tails = [100, 500, 5000];
const ages: readonly (readonly [string, string])[] = [
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
    ...tails.map((n) => h("option", { value: String(n), selected: n === 500 ? true : null }, `${digits(n)} lines`)),
  );
  private readonly since = h(
    "select",
    { "aria-label": "Time range", title: "Time range" },
    ...ages.map(([value, words]) => h("option", { value }, words)),
  );
  private readonly previous = toggle("Previous", "Log of the previous container instance");
  private readonly follow = toggle("Follow", "Follow new lines");
  private readonly times = toggle("Timestamps", "Show timestamps");
  private readonly wrap = toggle("Wrap", "Wrap lines");
  readonly find: FindBox;
  // Announces the number of matches to screen readers. It changes only after an action of the user, because new lines
  // arrive all the time.
  private readonly said = h("span", { class: "said", role: "status" });
  private readonly copy = h("button", { type: "button", title: "Copy the loaded lines" }, "Copy");
  private readonly download = h(
    "button",
    { type: "button", title: "Download the loaded lines as a file" },
    "Download",
  );
  readonly element: HTMLElement;
  private known = "";
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deeds: Deeds) {
    for (const e of [this.container, this.tail, this.since]) e.addEventListener("change", () => deeds.chosen());
    press(this.follow, true);
    press(this.times, habits.get("log-times") !== null);
    press(this.wrap, habits.get("log-wrap") !== null);
    for (const b of [this.previous, this.follow, this.times, this.wrap])
      b.addEventListener("click", () => this.turn(b));
    this.find = new FindBox(deeds, "Find in the log", "Find in the log (/ or Ctrl F)");
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
        this.said,
      ),
    );
    this.copy.addEventListener("click", () => void this.copied());
    this.download.addEventListener("click", () => deeds.download());
  }

  close(): void {
    clearTimeout(this.timer);
  }

  get choice(): Choice {
    const previous = pressed(this.previous);
    return {
      container: this.container.value,
      tail: Number(this.tail.value),
      since: this.since.value,
      previous,
      follow: pressed(this.follow) && !previous,
    };
  }

  get timed(): boolean {
    return pressed(this.times);
  }

  get wrapped(): boolean {
    return pressed(this.wrap);
  }

  /** Shows the containers of the pod, and which log is open. */
  containers(all: readonly Container[], seen: LogName): void {
    const words = all.map(
      (c) => `${c.name}${c.role === "" ? "" : ` (${c.role})`}${c.state === "" ? "" : ` – ${c.state}`}`,
    );
    const known = JSON.stringify([words, all.map((c) => c.name)]);
    if (known !== this.known) {
      this.known = known;
      this.container.replaceChildren(...all.map((c, i) => h("option", { value: c.name }, words[i] ?? "")));
    }
    this.container.value = seen.container;
    press(this.previous, seen.previous);
    const restarts = all.find((c) => c.name === this.container.value)?.restarts ?? 0;
    this.previous.disabled = restarts === 0 && !pressed(this.previous);
    this.previous.title =
      restarts === 0 ? "No previous container instance" : "Log of the previous container instance";
    this.follow.disabled = pressed(this.previous);
  }

  /** Announces the position of the search to screen readers. */
  sayFound(): void {
    setText(this.said, this.find.found.textContent ?? "");
  }

  private turn(b: HTMLButtonElement): void {
    press(b, !pressed(b));
    if (b === this.previous || b === this.follow) {
      this.follow.disabled = pressed(this.previous);
      return this.deeds.chosen();
    }
    habits.turn("log-times", this.timed);
    habits.turn("log-wrap", this.wrapped);
    this.deeds.shown();
  }

  private async copied(): Promise<void> {
    setText(this.copy, (await this.deeds.copy()) ? "Copied" : "Copy failed");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => setText(this.copy, "Copy"), 2000);
  }
}

const toggle = (label: string, title: string): HTMLButtonElement =>
  h("button", { type: "button", "aria-pressed": "false", title }, label);
const pressed = (b: HTMLButtonElement): boolean => b.getAttribute("aria-pressed") === "true";
const press = (b: HTMLButtonElement, on: boolean): void => b.setAttribute("aria-pressed", String(on));
