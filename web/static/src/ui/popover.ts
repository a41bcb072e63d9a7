// A popover that opens below a button. Its content exists only while it is open.

import { h } from "./dom.ts";

export interface Content {
  /** Renders the content. The first element with the attribute autofocus receives the keyboard focus. */
  show(root: HTMLElement): void;
  /** Removes the content. It is also called if the content was never shown. */
  close(): void;
}

export class Popover {
  readonly root: HTMLElement;
  private content: Content | null = null;
  private openCount = 0;

  constructor(
    private readonly button: HTMLButtonElement,
    label: string,
    private readonly createContent: (close: () => void) => Promise<Content>,
  ) {
    this.root = h("div", {
      class: "pop",
      popover: "auto",
      role: "dialog",
      "aria-label": label,
      id: `${button.id}-pop`,
    });
    button.after(this.root);
    button.popoverTargetElement = this.root;
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", this.root.id);
    this.root.addEventListener("toggle", (e) => this.toggled((e as ToggleEvent).newState === "open"));
    addEventListener("resize", () => this.position());
  }

  open(): void {
    if (!this.root.matches(":popover-open")) this.root.showPopover();
  }

  close(): void {
    if (this.root.matches(":popover-open")) this.root.hidePopover();
  }

  private toggled(open: boolean): void {
    this.button.setAttribute("aria-expanded", String(open));
    this.content?.close();
    this.content = null;
    const openNumber = ++this.openCount;
    if (!open) return this.root.replaceChildren();
    this.createContent(() => this.close()).then(
      (content) => {
        if (openNumber !== this.openCount) return content.close();
        this.content = content;
        content.show(this.root);
        this.position();
        this.root.querySelector<HTMLElement>("[autofocus]")?.focus();
      },
      () =>
        this.root.replaceChildren(
          h("p", { class: "pop-note" }, "This part of the page could not be loaded. Reload the page to try again."),
        ),
    );
  }

  private position(): void {
    if (!this.root.matches(":popover-open")) return;
    const at = this.button.getBoundingClientRect();
    const { width } = this.root.getBoundingClientRect();
    this.root.style.top = `${at.bottom + 4}px`;
    this.root.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
    this.root.style.maxHeight = `${innerHeight - at.bottom - 16}px`;
  }
}
