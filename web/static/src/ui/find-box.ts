// A search box for a displayed text. It shows the number of matches, and has buttons for the next and the previous
// match.

import { h, setText } from "./dom.ts";
import { formatInteger } from "../text/format.ts";

/** The functions that the search box calls when the user operates it. */
export interface FindActions {
  setQuery(text: string): void;
  step(by: 1 | -1): void;
  focusText(): void; // moves the keyboard focus from the search box to the text
}

export class FindBox {
  readonly input: HTMLInputElement;
  readonly matchCount = h("span", { class: "found" });
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

  /** label is the accessible name of the search box. */
  constructor(
    private readonly actions: FindActions,
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
    this.element = h("span", { class: "finder" }, this.input, this.matchCount, this.previous, this.next);
    this.input.addEventListener("input", () => actions.setQuery(this.input.value));
    this.input.addEventListener("keydown", (e) => this.key(e));
    this.previous.addEventListener("click", () => actions.step(-1));
    this.next.addEventListener("click", () => actions.step(1));
    this.showCount(0, 0);
  }

  /** Shows which match is selected, such as "3 of 20". number is 0 if no match is selected. */
  showCount(number: number, count: number): void {
    const text =
      count === 0
        ? "No matches"
        : number === 0
          ? `${formatInteger(count)} ${count === 1 ? "match" : "matches"}`
          : `${formatInteger(number)} of ${formatInteger(count)}`;
    setText(this.matchCount, this.input.value === "" ? "" : text);
    this.previous.hidden = this.next.hidden = this.input.value === "";
    this.previous.disabled = this.next.disabled = count === 0;
  }

  private key(e: KeyboardEvent): void {
    if (e.key === "Enter") this.actions.step(e.shiftKey ? -1 : 1);
    else if (e.key === "Escape") {
      this.input.value = "";
      this.actions.setQuery("");
      this.actions.focusText();
    } else return;
    e.preventDefault();
  }
}
