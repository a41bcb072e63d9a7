// The health of the object in one word, and the reason.

import { h, keep, setAttr, setText } from "../dom.ts";
import type { Health, Verdict } from "../wire.ts";

const words: Readonly<Record<Verdict | "Deleted", string>> = {
  Deleted: "Deleted",
  Current: "OK",
  InProgress: "In progress",
  Failed: "Failed",
  Terminating: "Terminating",
  Unknown: "Unknown",
};

export class VerdictView {
  private readonly word = h("strong", { "aria-live": "polite" });
  private readonly why = h("span", { class: "why" });
  private readonly details = h("ul");
  readonly line = h("p", {}, this.word, " ", this.why);
  readonly element = h(
    "div",
    { class: "verdict" },
    h("span", { class: "mark", "aria-hidden": "true" }),
    this.line,
    this.details,
  );

  /**
   * Shows the health that the server reports; null if it reports none. A deleted object has no health. Returns the word
   * and the reason.
   */
  show(told: Health | null, gone: boolean): string {
    const health = gone ? null : told;
    const status = gone ? "Deleted" : (health?.status ?? "Unknown");
    const why = gone
      ? "Showing its last state"
      : health === null
        ? "Health unknown"
        : health.summary;
    setAttr(this.element, "data-verdict", status);
    setAttr(this.element, "title", health === null ? null : `kstatus: ${status}`);
    setText(this.word, words[status]);
    setText(this.why, why);
    keep(
      this.details,
      (health?.details ?? []).map((text, i) => ({ key: String(i), text })),
      () => h("li"),
      (e, d) => setText(e, d.text),
    );
    this.details.hidden = this.details.childElementCount === 0;
    return `${status} ${why}`;
  }
}
