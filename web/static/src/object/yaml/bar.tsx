import { h } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { FindBox, FindState, type FindActions } from "../../ui/find-box.tsx";
import { mount, unmount } from "../../ui/view.tsx";

interface YamlBarActions extends FindActions {
  fold(): void;
  wrap(): void;
  copy(): Promise<boolean>;
}

interface BarState {
  readonly lines: number;
  readonly hasFolds: boolean;
  readonly isWrapped: boolean;
  readonly copyLabel: string;
  readonly announcement: string;
}

export class Bar {
  readonly element = h("div", { class: "yaml-bar" });
  readonly find: FindState;
  private state: BarState = { lines: 0, hasFolds: false, isWrapped: false, copyLabel: "Copy", announcement: "" };
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly actions: YamlBarActions) {
    this.find = new FindState(actions, () => this.draw());
    this.draw();
  }

  close(): void {
    clearTimeout(this.timer);
    unmount(this.element);
  }

  set(change: Partial<BarState>): void {
    this.state = { ...this.state, ...change };
    this.draw();
  }

  private draw(): void {
    const { lines, hasFolds, isWrapped, copyLabel, announcement } = this.state;
    mount(
      this.element,
      <>
        <FindBox
          find={this.find}
          label="Find in the YAML"
          title="Find in the YAML (/ or Ctrl F; press Ctrl F again for the browser's search)"
          announcesMatches
        />
        <span class="spring" />
        <span class="size">{lines > 0 && `${formatInteger(lines)} ${lines === 1 ? "line" : "lines"}`}</span>
        <button type="button" onClick={() => this.actions.fold()}>
          {hasFolds ? "Unfold all" : "Fold all"}
        </button>
        <button type="button" aria-pressed={isWrapped} title="Wrap lines" onClick={() => this.actions.wrap()}>
          Wrap
        </button>
        <button type="button" title="Copy the YAML" onClick={() => void this.copy()}>
          {copyLabel}
        </button>
        <span class="announcement" role="status">
          {announcement}
        </span>
      </>,
    );
  }

  private async copy(): Promise<void> {
    const result = (await this.actions.copy()) ? "Copied" : "Copy failed";
    this.set({ copyLabel: result, announcement: result });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.set({ copyLabel: "Copy", announcement: "" }), 2000);
  }
}
