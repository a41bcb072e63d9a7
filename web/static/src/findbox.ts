// The search within a displayed text: the box, the number of matches, and buttons for the next and the previous match.

import { digits, h, setText } from "./dom.ts";

/** Receives the user's actions in the search box. */
export interface Finder {
  search(words: string): void;
  step(by: 1 | -1): void;
  leave(): void; // moves the focus from the search box to the text
}

export class FindBox {
  readonly input: HTMLInputElement;
  readonly found = h("span", { class: "found" });
  private readonly previous = h(
    "button",
    { type: "button", class: "icon", "aria-label": "Previous match", title: "Previous (Shift Enter)" },
    "↑",
  );
  private readonly next = h(
    "button",
    { type: "button", class: "icon", "aria-label": "Next match", title: "Next (Enter)" },
    "↓",
  );
  readonly element: HTMLElement;

  /** label names the text that is searched. */
  constructor(
    private readonly finder: Finder,
    label: string,
    title: string,
  ) {
    this.input = h("input", {
      type: "search",
      placeholder: "Find",
      "aria-label": label,
      title,
      autocomplete: "off",
      spellcheck: "false",
    });
    this.element = h("span", { class: "finder" }, this.input, this.found, this.previous, this.next);
    this.input.addEventListener("input", () => finder.search(this.input.value));
    this.input.addEventListener("keydown", (e) => this.key(e));
    this.previous.addEventListener("click", () => finder.step(-1));
    this.next.addEventListener("click", () => finder.step(1));
    this.tell(0, 0);
  }

  /** Shows the number of the selected match, counted from 1, of count matches. number is 0 if none is selected. */
  tell(number: number, count: number): void {
    const words =
      count === 0
        ? "No matches"
        : number === 0
          ? `${digits(count)} ${count === 1 ? "match" : "matches"}`
          : `${digits(number)} of ${digits(count)}`;
    setText(this.found, this.input.value === "" ? "" : words);
    this.previous.hidden = this.next.hidden = this.input.value === "";
    this.previous.disabled = this.next.disabled = count === 0;
  }

  private key(e: KeyboardEvent): void {
    if (e.key === "Enter") this.finder.step(e.shiftKey ? -1 : 1);
    else if (e.key === "Escape") {
      this.input.value = "";
      this.finder.search("");
      this.finder.leave();
    } else return;
    e.preventDefault();
  }
}
