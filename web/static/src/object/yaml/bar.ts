// The bar above the YAML text, with the search box and buttons.

import { h, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { FindBox, type FindActions } from "../../ui/find-box.ts";

/** The functions of the YAML tab that the bar calls when the user presses its buttons. */
export interface YamlBarActions extends FindActions {
  fold(): void;
  wrap(): void;
  copy(): Promise<boolean>;
}

export class Bar {
  readonly find: FindBox;
  private readonly sizeElement = h("span", { class: "size" });
  private readonly fold = h("button", { type: "button" }, "Fold all");
  private readonly wrap = h(
    "button",
    { type: "button", "aria-pressed": "false", title: "Wrap lines" },
    "Wrap",
  );
  private readonly copy = h("button", { type: "button", title: "Copy the YAML" }, "Copy");
  private readonly announcement = h("span", { class: "announcement", role: "status" });
  readonly element: HTMLElement;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly actions: YamlBarActions) {
    this.find = new FindBox(
      actions,
      "Find in the YAML",
      "Find in the YAML (/ or Ctrl F; press Ctrl F again for the browser's search)",
    );
    this.find.matchCount.setAttribute("role", "status");
    this.element = h(
      "div",
      { class: "yaml-bar" },
      this.find.element,
      h("span", { class: "spring" }),
      this.sizeElement,
      this.fold,
      this.wrap,
      this.copy,
      this.announcement,
    );
    this.fold.addEventListener("click", () => actions.fold());
    this.wrap.addEventListener("click", () => actions.wrap());
    this.copy.addEventListener("click", () => void this.copyText());
  }

  close(): void {
    clearTimeout(this.timer);
  }

  setSize(lines: number): void {
    setText(this.sizeElement, lines === 0 ? "" : `${formatInteger(lines)} ${lines === 1 ? "line" : "lines"}`);
  }

  setFolded(some: boolean): void {
    setText(this.fold, some ? "Unfold all" : "Fold all");
  }

  setWrapped(on: boolean): void {
    this.wrap.setAttribute("aria-pressed", String(on));
  }

  announce(text: string): void {
    setText(this.announcement, text);
  }

  private async copyText(): Promise<void> {
    const text = (await this.actions.copy()) ? "Copied" : "Copy failed";
    setText(this.copy, text);
    this.announce(text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      setText(this.copy, "Copy");
      this.announce("");
    }, 2000);
  }
}
