// Shows the health of an object in one or two words, with the reason.

import { h, syncChildren, setAttr, setText } from "../../ui/dom.ts";
import type { Health, HealthStatus } from "../../net/wire.ts";

const statusLabels: Readonly<Record<HealthStatus | "Deleted", string>> = {
  Deleted: "Deleted",
  Current: "OK",
  InProgress: "In progress",
  Failed: "Failed",
  Terminating: "Terminating",
  Unknown: "Unknown",
};

export class HealthView {
  private readonly statusElement = h("strong", { "aria-live": "polite" });
  private readonly reasonElement = h("span", { class: "why" });
  private readonly details = h("ul");
  readonly summaryElement = h("p", {}, this.statusElement, " ", this.reasonElement);
  readonly element = h(
    "div",
    { class: "health" },
    h("span", { class: "mark", "aria-hidden": "true" }),
    this.summaryElement,
    this.details,
  );

  /**
   * Shows the health that the server reported, or null if it reported none. A deleted object has no health. Returns
   * the status and the reason as one text.
   */
  show(reported: Health | null, isDeleted: boolean): string {
    const health = isDeleted ? null : reported;
    const status = isDeleted ? "Deleted" : (health?.status ?? "Unknown");
    const reason = isDeleted
      ? "Showing its last state"
      : health === null
        ? "Health unknown"
        : health.summary;
    setAttr(this.element, "data-health", status);
    setAttr(this.element, "title", health === null ? null : `kstatus: ${status}`);
    setText(this.statusElement, statusLabels[status]);
    setText(this.reasonElement, reason);
    syncChildren(
      this.details,
      (health?.details ?? []).map((text, i) => ({ key: String(i), text })),
      () => h("li"),
      (e, d) => setText(e, d.text),
    );
    this.details.hidden = this.details.childElementCount === 0;
    return `${status} ${reason}`;
  }
}
