import { h } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { FindBox, FindState, type FindActions } from "../../ui/find-box.tsx";
import { preferences } from "../../ui/preferences.ts";
import { mount, unmount } from "../../ui/view.tsx";
import type { LogSelection } from "../../model/view.ts";
import type { Container } from "./containers.ts";
import { LogFilter } from "./log-filter.ts";
import { LogFilterBox } from "./log-filter-view.tsx";

interface LogChoice {
  readonly container: string;
  readonly tail: number;
  readonly since: string;
  readonly previous: boolean;
  readonly follow: boolean;
}

interface LogBarActions extends FindActions {
  logSelected(): void;
  displayChanged(): void; // called after a change of timestamps, line wrapping or the filter
  filterChanged(filter: string): void; // called with the filter as text for the URL, such as "is:error timeout"
  copy(): Promise<boolean>;
  download(): void;
}

const tailOptions = [100, 500, 5000];
const ageOptions = [
  ["", "Any time"],
  ["5m", "Last 5 min"],
  ["15m", "Last 15 min"],
  ["1h", "Last hour"],
  ["6h", "Last 6 hours"],
  ["24h", "Last day"],
] as const;

/** Settings of the bar above the merged log of several containers. The bar above the log of one container has none. */
export interface MergedBarOptions {
  readonly allLabel: string; // label of the option "all containers"; the value of this option is ""
  readonly tail: number;
}

export class Bar {
  readonly element = h("div", { class: "log-bar" });
  readonly find: FindState;
  readonly filter: LogFilter;
  private selected: LogChoice = { container: "", tail: 500, since: "", previous: false, follow: true };
  private containers: readonly Container[] = [];
  showsTimes = preferences.get("log-times") !== null;
  isWrapped = preferences.get("log-wrap") !== null;
  // The number of matches, for screen readers. Updated only after user actions, because each new line could change it.
  private announcement = "";
  private copyLabel = "Copy";
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly actions: LogBarActions,
    private readonly merged: MergedBarOptions | null = null,
  ) {
    if (merged !== null) this.selected = { ...this.selected, tail: merged.tail };
    this.find = new FindState(actions, () => this.draw());
    const filterChanged = (): void => {
      actions.displayChanged();
      this.announcement = this.filter.countText;
      this.draw();
    };
    this.filter = new LogFilter(
      filterChanged,
      () => this.draw(),
      (form) => actions.filterChanged(form),
    );
    this.draw();
  }

  close(): void {
    clearTimeout(this.timer);
    unmount(this.element);
  }

  get choice(): LogChoice {
    const { selected } = this;
    return { ...selected, follow: selected.follow && !selected.previous };
  }

  showContainers(containers: readonly Container[], { container, previous }: LogSelection): void {
    this.containers = containers;
    this.selected = {
      ...this.selected,
      container: containers.some((c) => c.name === container) ? container : "",
      previous,
    };
    this.draw();
  }

  announceMatches(): void {
    this.announcement = this.find.matchText;
    this.draw();
  }

  private select(change: Partial<LogChoice>): void {
    this.selected = { ...this.selected, ...change };
    this.draw();
    this.actions.logSelected();
  }

  private setDisplay(showsTimes: boolean, isWrapped: boolean): void {
    this.showsTimes = showsTimes;
    this.isWrapped = isWrapped;
    preferences.setFlag("log-times", showsTimes);
    preferences.setFlag("log-wrap", isWrapped);
    this.draw();
    this.actions.displayChanged();
  }

  private draw(): void {
    const { container, tail, since, previous, follow } = this.selected;
    const { showsTimes, isWrapped, merged } = this;
    const selected = container === "" && merged !== null ? this.containers : [this.containers.find(isNamed(container))];
    const restarts = Math.max(0, ...selected.map((c) => c?.restarts ?? 0));
    mount(
      this.element,
      <>
        <div class="part">
          <select
            aria-label="Container"
            title="Container"
            value={container}
            onChange={(e) => this.select({ container: e.currentTarget.value })}
          >
            {merged !== null && <option value="">{merged.allLabel}</option>}
            {this.containers.map((c) => (
              <option key={c.name} value={c.name}>
                {containerLabel(c)}
              </option>
            ))}
          </select>
          <select
            aria-label="Number of lines to load"
            title="Number of lines to load"
            value={tail}
            onChange={(e) => this.select({ tail: Number(e.currentTarget.value) })}
          >
            {tailOptions.map((n) => (
              <option key={n} value={n}>{`${formatInteger(n)} lines${merged === null ? "" : " per container"}`}</option>
            ))}
          </select>
          <select
            aria-label="Time range"
            title="Time range"
            value={since}
            onChange={(e) => this.select({ since: e.currentTarget.value })}
          >
            {ageOptions.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          <Toggle
            label="Previous"
            title={restarts === 0 ? "No previous container instance" : "Log of the previous container instance (P)"}
            isOn={previous}
            disabled={restarts === 0 && !previous}
            toggle={() => this.select({ previous: !previous })}
          />
          <Toggle
            label="Follow"
            title={previous ? "A previous log gets no new lines" : "Follow new lines"}
            isOn={follow}
            disabled={previous}
            toggle={() => this.select({ follow: !follow })}
          />
        </div>
        <div class="part">
          <FindBox find={this.find} label="Find in the log" title="Find in the log (/ or Ctrl F)" />
          <LogFilterBox filter={this.filter} focusText={() => this.actions.focusText()} />
          <span class="spring" />
          <Toggle
            label="Timestamps"
            title="Show timestamps"
            isOn={showsTimes}
            toggle={() => this.setDisplay(!showsTimes, isWrapped)}
          />
          <Toggle
            label="Wrap"
            title="Wrap lines"
            isOn={isWrapped}
            toggle={() => this.setDisplay(showsTimes, !isWrapped)}
          />
          <button type="button" title="Copy all loaded lines" onClick={() => void this.copy()}>
            {this.copyLabel}
          </button>
          <button type="button" title="Download all loaded lines as a file" onClick={() => this.actions.download()}>
            Download
          </button>
          <span class="announcement" role="status">
            {this.announcement}
          </span>
        </div>
      </>,
    );
  }

  private async copy(): Promise<void> {
    this.showCopyLabel((await this.actions.copy()) ? "Copied" : "Copy failed");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.showCopyLabel("Copy"), 2000);
  }

  private showCopyLabel(label: string): void {
    this.copyLabel = label;
    this.draw();
  }
}

const isNamed =
  (name: string) =>
  (c: Container): boolean =>
    c.name === name;

const containerLabel = ({ name, role, state }: Container): string =>
  `${name}${role === "" ? "" : ` (${role})`}${state === "" ? "" : ` – ${state}`}`;

interface ToggleProps {
  label: string;
  title: string;
  isOn: boolean;
  disabled?: boolean;
  toggle: () => void;
}

const Toggle = ({ label, title, isOn, disabled = false, toggle }: ToggleProps) => (
  <button type="button" aria-pressed={isOn} title={title} disabled={disabled} onClick={toggle}>
    {label}
  </button>
);
