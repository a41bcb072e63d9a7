// The bar above a YAML text: the search, and actions on the text.

import { digits, h, setText } from "../dom.ts";
import { FindBox, type Finder } from "../findbox.ts";

/** The functions of the tab that the bar calls when the user presses its buttons. */
export interface Deeds extends Finder {
  fold(): void;
  wrap(): void;
  copy(): Promise<boolean>;
}

export class Bar {
  readonly find: FindBox;
  private readonly size = h("span", { class: "size" });
  private readonly fold = h("button", { type: "button" }, "Fold all");
  private readonly wrap = h(
    "button",
    { type: "button", "aria-pressed": "false", title: "Wrap lines" },
    "Wrap",
  );
  private readonly copy = h("button", { type: "button", title: "Copy the YAML" }, "Copy");
  private readonly said = h("span", { class: "said", role: "status" });
  readonly element: HTMLElement;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deeds: Deeds) {
    this.find = new FindBox(
      deeds,
      "Find in the YAML",
      "Find in the YAML (/ or Ctrl F; press Ctrl F again for the browser's search)",
    );
    this.find.found.setAttribute("role", "status");
    this.element = h(
      "div",
      { class: "yaml-bar" },
      this.find.element,
      h("span", { class: "spring" }),
      this.size,
      this.fold,
      this.wrap,
      this.copy,
      this.said,
    );
    this.fold.addEventListener("click", () => deeds.fold());
    this.wrap.addEventListener("click", () => deeds.wrap());
    this.copy.addEventListener("click", () => void this.copied());
  }

  close(): void {
    clearTimeout(this.timer);
  }

  tellSize(lines: number): void {
    setText(this.size, lines === 0 ? "" : `${digits(lines)} ${lines === 1 ? "line" : "lines"}`);
  }

  tellFolded(some: boolean): void {
    setText(this.fold, some ? "Unfold all" : "Fold all");
  }

  tellWrapped(on: boolean): void {
    this.wrap.setAttribute("aria-pressed", String(on));
  }

  /** Announces a text to screen readers. */
  say(words: string): void {
    setText(this.said, words);
  }

  private async copied(): Promise<void> {
    const words = (await this.deeds.copy()) ? "Copied" : "Copy failed";
    setText(this.copy, words);
    this.say(words);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      setText(this.copy, "Copy");
      this.say("");
    }, 2000);
  }
}
