// What stands above a YAML text: the search, and what can be done with the text.

import { digits, h, setText } from "../dom.ts";

/** What becomes of what a person does in the bar. */
export interface Deeds {
  search(words: string): void;
  step(by: 1 | -1): void;
  leave(): void; // the search, for the text
  fold(): void;
  wrap(): void;
  copy(): Promise<boolean>;
}

export class Bar {
  readonly input = h("input", { type: "search", placeholder: "Find", "aria-label": "Find in the YAML", title: "Find in the YAML (/ or Ctrl F; Ctrl F once more is the browser's own)", autocomplete: "off", spellcheck: "false" });
  private readonly found = h("span", { class: "found", role: "status" });
  private readonly previous = h("button", { type: "button", class: "icon", "aria-label": "Previous found", title: "Previous (Shift Enter)" }, "↑");
  private readonly next = h("button", { type: "button", class: "icon", "aria-label": "Next found", title: "Next (Enter)" }, "↓");
  private readonly size = h("span", { class: "size" });
  private readonly fold = h("button", { type: "button" }, "Fold all");
  private readonly wrap = h("button", { type: "button", "aria-pressed": "false", title: "Long lines go on in the next" }, "Wrap");
  private readonly copy = h("button", { type: "button", title: "Copy all of it" }, "Copy");
  private readonly said = h("span", { class: "said", role: "status" });
  readonly element = h("div", { class: "yaml-bar" }, h("span", { class: "finder" }, this.input, this.found, this.previous, this.next), h("span", { class: "spring" }), this.size, this.fold, this.wrap, this.copy, this.said);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deeds: Deeds) {
    this.input.addEventListener("input", () => deeds.search(this.input.value));
    this.input.addEventListener("keydown", (e) => this.key(e));
    this.previous.addEventListener("click", () => deeds.step(-1));
    this.next.addEventListener("click", () => deeds.step(1));
    this.fold.addEventListener("click", () => deeds.fold());
    this.wrap.addEventListener("click", () => deeds.wrap());
    this.copy.addEventListener("click", () => void this.copied());
    this.tellFound(0, 0);
  }

  close(): void {
    clearTimeout(this.timer);
  }

  tellFound(number: number, count: number): void {
    const words = count === 0 ? "None" : number === 0 ? `${digits(count)} found` : `${digits(number)} of ${digits(count)}`;
    setText(this.found, this.input.value === "" ? "" : words);
    this.previous.hidden = this.next.hidden = this.input.value === "";
    this.previous.disabled = this.next.disabled = count === 0;
  }

  tellSize(lines: number): void {
    setText(this.size, lines === 0 ? "" : `${digits(lines)} lines`);
  }

  tellFolded(some: boolean): void {
    setText(this.fold, some ? "Unfold all" : "Fold all");
  }

  tellWrapped(on: boolean): void {
    this.wrap.setAttribute("aria-pressed", String(on));
  }

  /** Says something to those who do not see it. */
  say(words: string): void {
    setText(this.said, words);
  }

  private key(e: KeyboardEvent): void {
    if (e.key === "Enter") this.deeds.step(e.shiftKey ? -1 : 1);
    else if (e.key === "Escape") {
      this.input.value = "";
      this.deeds.search("");
      this.deeds.leave();
    } else return;
    e.preventDefault();
  }

  private async copied(): Promise<void> {
    const words = (await this.deeds.copy()) ? "Copied" : "Not copied";
    setText(this.copy, words);
    this.say(words);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      setText(this.copy, "Copy");
      this.say("");
    }, 2000);
  }
}
