// A tooltip with the text of an element's attribute data-hint. It stays open while the pointer is on it.

import "../core-code.ts";
import { h, setText } from "./dom.ts";

const hideDelay = 200; // ms within which the pointer must move from the element to the tooltip to keep it open

export class Tooltip {
  private readonly element = h("div", { id: "hint", class: "tooltip", role: "tooltip", popover: "manual" });
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Adds the tooltip to the elements in root, and shows it for the element that the user pointed to or focused. */
  constructor(root: HTMLElement, target: EventTarget | null) {
    root.after(this.element);
    root.addEventListener("mouseover", (e) => this.show(e.target));
    root.addEventListener("mouseout", () => this.hideLater());
    root.addEventListener("focusin", (e) => this.show(e.target));
    root.addEventListener("focusout", () => this.hide());
    root.addEventListener("scroll", () => this.hide(), { passive: true });
    this.element.addEventListener("mouseover", () => clearTimeout(this.timer));
    this.element.addEventListener("mouseout", () => this.hideLater());
    document.addEventListener(
      "keydown",
      (e) => {
        if (e.key !== "Escape" || !this.element.matches(":popover-open")) return;
        this.hide();
        e.preventDefault();
      },
      { capture: true },
    );
    if (target instanceof Element && target.matches(":hover, :focus")) this.show(target);
  }

  private hideLater(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hide(), hideDelay);
  }

  private hide(): void {
    clearTimeout(this.timer);
    this.element.hidePopover();
  }

  private show(target: EventTarget | null): void {
    const at = target instanceof Element ? target.closest<HTMLElement>("[data-hint]") : null;
    if (at === null) return;
    clearTimeout(this.timer);
    setText(this.element, at.dataset["hint"] ?? "");
    at.setAttribute("aria-describedby", this.element.id);
    this.element.showPopover();
    const targetRect = at.getBoundingClientRect();
    const tooltip = this.element.getBoundingClientRect();
    const fits = targetRect.right + tooltip.width + 8 < innerWidth;
    this.element.style.left = `${fits ? targetRect.right + 6 : 8}px`;
    const top = fits ? targetRect.top : targetRect.bottom + 2;
    this.element.style.top = `${Math.min(top, innerHeight - tooltip.height - 8)}px`;
  }
}
