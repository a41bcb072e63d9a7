// The content of the popover that opens from the cluster's name. It lists the contexts of the kubeconfig, and the
// user chooses the active one.

import { contextText, type Context, type Contexts } from "../net/contexts.ts";
import { h, setText } from "../ui/dom.ts";
import type { Content } from "../ui/popover.ts";

export class ContextChooser implements Content {
  readonly focus = h("input", {
    type: "text",
    placeholder: "Filter contexts",
    "aria-label": "Filter contexts",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly list = h("ul", { class: "pop-list" });
  private readonly note = h("p", { class: "pop-note", role: "status" });
  readonly elements = [
    h("div", { class: "pop-head" }, this.focus),
    h("div", { class: "pop-body" }, this.list),
    this.note,
  ];

  constructor(private readonly contexts: Contexts) {
    this.focus.addEventListener("input", () => this.draw());
    this.list.addEventListener("click", (e) => {
      const name = e.target instanceof Element ? e.target.closest("button")?.dataset["name"] : undefined;
      if (name !== undefined) void this.choose(name);
    });
    for (const e of this.elements) e.addEventListener("keydown", (e) => this.handleKey(e));
    this.draw();
    void contexts.read().then(() => this.draw());
  }

  close(): void {
    // There is nothing to stop. The Content interface requires this method.
  }

  private draw(): void {
    const terms = this.focus.value
      .toLowerCase()
      .split(/\s+/)
      .filter((w) => w !== "");
    const found = this.contexts.all.filter((c) =>
      terms.every((w) => `${c.name} ${contextText(c)}`.toLowerCase().includes(w)),
    );
    const at = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["name"] : undefined;
    this.list.replaceChildren(...found.map((c) => this.contextItem(c)));
    this.buttons().find((b) => b.dataset["name"] === at)?.focus();
    setText(this.note, this.statusText(found.length));
  }

  private statusText(found: number): string {
    const { switchingTo: opening, error: trouble, all } = this.contexts;
    if (opening !== "") return `Switching to ${opening}…`;
    if (trouble !== "") return trouble;
    if (all.length === 0) return "Loading contexts…";
    return found === 0 ? "No contexts match." : "Switching changes the cluster for all open tabs.";
  }

  private contextItem(c: Context): HTMLElement {
    const present = c.name === this.contexts.present;
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "context", "data-name": c.name, "aria-current": present ? "true" : null },
        h("span", { class: "name" }, c.name),
        h("span", { class: "of" }, contextText(c)),
      ),
    );
  }

  private async choose(name: string): Promise<void> {
    const chosen = this.contexts.choose(name);
    this.draw();
    await chosen;
    this.draw();
  }

  private buttons(): HTMLButtonElement[] {
    return [...this.list.querySelectorAll("button")];
  }

  private handleKey(e: KeyboardEvent): void {
    const buttons = this.buttons();
    const at = buttons.indexOf(e.target as HTMLButtonElement);
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) (buttons[at + step] ?? (step < 0 ? this.focus : null))?.focus();
    else if (e.key === "Enter" && e.target === this.focus) buttons[0]?.click();
    else return;
    e.preventDefault();
  }
}
