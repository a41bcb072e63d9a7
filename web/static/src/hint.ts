// Says more of what the pointer or the keyboard is at: the text of data-hint.

import { h, setText } from "./dom.ts";

export class Hint {
  private readonly element = h("div", { id: "hint", class: "hint-box", role: "tooltip", popover: "manual" });

  constructor(root: HTMLElement) {
    root.after(this.element);
    for (const [on, off] of [["mouseover", "mouseout"], ["focusin", "focusout"]] as const) {
      root.addEventListener(on, (e) => this.show(e.target));
      root.addEventListener(off, () => this.element.hidePopover());
    }
    root.addEventListener("scroll", () => this.element.hidePopover(), { passive: true });
  }

  private show(target: EventTarget | null): void {
    const at = target instanceof Element ? target.closest<HTMLElement>("[data-hint]") : null;
    if (at === null) return;
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
