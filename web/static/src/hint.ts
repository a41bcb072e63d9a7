// A tooltip for the element under the pointer or with the focus: the text of data-hint. It stays while the pointer is
// on it. Escape closes it.

import { h, setText } from "./dom.ts";

const across = 200; // ms that the pointer may take from the element to the tooltip

export class Hint {
  private readonly element = h("div", { id: "hint", class: "hint-box", role: "tooltip", popover: "manual" });
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement) {
    root.after(this.element);
    root.addEventListener("mouseover", (e) => this.show(e.target));
    root.addEventListener("mouseout", () => this.leave());
    root.addEventListener("focusin", (e) => this.show(e.target));
    root.addEventListener("focusout", () => this.hide());
    root.addEventListener("scroll", () => this.hide(), { passive: true });
    this.element.addEventListener("mouseover", () => clearTimeout(this.timer));
    this.element.addEventListener("mouseout", () => this.leave());
    document.addEventListener("keydown", (e) => {
      if (e.key !== "Escape" || !this.element.matches(":popover-open")) return;
      this.hide();
      e.preventDefault();
    }, { capture: true });
  }

  private leave(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hide(), across);
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
    const beside = at.getBoundingClientRect();
    const own = this.element.getBoundingClientRect();
    const fits = beside.right + own.width + 8 < innerWidth;
    this.element.style.left = `${fits ? beside.right + 6 : 8}px`;
    this.element.style.top = `${Math.min(fits ? beside.top : beside.bottom + 2, innerHeight - own.height - 8)}px`;
  }
}
