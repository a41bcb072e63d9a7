// The content of the "Columns" popover. The user chooses the visible columns and the row density.

import { columnChoices, encodeColumns, type ColumnChoice } from "../model/column-set.ts";
import { h, setText } from "../ui/dom.ts";
import type { ListPage } from "./list.ts";
import { density, setDensity } from "../ui/theme.ts";
import type { Content } from "../ui/popover.ts";
import { storeList } from "../ui/preferences.ts";

const densityOptions = [["compact", "Compact"], ["", "Normal"], ["roomy", "Comfortable"]] as const;

export class ColumnChooser implements Content {
  readonly focus: HTMLElement;
  readonly elements: readonly Node[];
  private readonly list = h("ul", { class: "pop-list" });
  private readonly note = h("p", { class: "pop-note", role: "status" });
  private readonly timer: ReturnType<typeof setInterval>;
  private hasChanged = false;

  constructor(private readonly page: ListPage) {
    const reset = (label: string, cols: readonly string[]): HTMLElement => {
      const b = h("button", { type: "button" }, label);
      b.addEventListener("click", () => this.choose(cols));
      return b;
    };
    const rows = h(
      "fieldset",
      { class: "pop-foot" },
      h("legend", {}, "Density"),
      ...densityOptions.map(([value, label]) => {
        const radio = h("input", { type: "radio", name: "density", value });
        radio.checked = density() === value;
        radio.addEventListener("change", () => page.table.changeRowHeight(() => setDensity(value)));
        return h("label", {}, radio, label);
      }),
    );
    this.elements = [
      h("div", { class: "pop-head" }, reset("Default", []), reset("All", ["wide"])),
      h("div", { class: "pop-body" }, this.list),
      this.note,
      rows,
    ];
    this.list.addEventListener("change", (e) => {
      if (e.target instanceof HTMLInputElement) this.toggle(e.target.value, e.target.checked);
    });
    for (const e of this.elements) e.addEventListener("keydown", (e) => this.moveFocus(e as KeyboardEvent));
    this.draw();
    // The columns are unknown until the first rows arrive. Until then, try again every 200 ms.
    this.timer = setInterval(() => {
      if (this.list.childElementCount === 0) this.draw();
    }, 200);
    this.focus = this.list.querySelector<HTMLElement>("input:enabled") ?? rows;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private choices(): ColumnChoice[] {
    return columnChoices(this.page.columns, this.page.kind.namespaced, this.page.view.cols);
  }

  private draw(): void {
    const all = this.choices();
    const oneNamespace = this.page.view.ns.length === 1;
    // Reuse the existing elements, so that the keyboard focus is not lost.
    if (this.list.childElementCount !== all.length) {
      this.list.replaceChildren(
        ...all.map((c) =>
          h(
            "li",
            {},
            h(
              "label",
              { class: "pick" },
              h("input", { type: "checkbox", value: c.name }),
              h("span", { class: "name" }, c.label),
              h("span", { class: "hint" }, c.wide ? "wide" : ""),
            ),
          ),
        ),
      );
    }
    all.forEach((c, i) => {
      const box = this.list.children[i]?.querySelector("input");
      if (box === null || box === undefined) return;
      const isRedundant = c.name === "namespace" && oneNamespace;
      box.checked = c.shown && !isRedundant;
      box.disabled = c.fixed || isRedundant;
      if (isRedundant) setText(this.list.children[i]?.querySelector(".hint") as Element, "one namespace");
    });
    setText(this.note, all.length === 0 ? "Columns appear when the rows are loaded." : "");
    this.note.hidden = all.length > 0;
  }

  private toggle(name: string, on: boolean): void {
    this.choose(encodeColumns(this.choices().map((c) => (c.name === name ? { ...c, shown: on } : c))));
  }

  private choose(cols: readonly string[]): void {
    storeList(`columns.${this.page.view.ref}`, cols);
    this.page.change({ cols }, this.hasChanged ? "replace" : "push");
    this.hasChanged = true;
    this.draw();
  }

  private moveFocus(e: KeyboardEvent): void {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    const boxes = [...this.list.querySelectorAll<HTMLElement>("input:enabled")];
    const at = boxes.indexOf(e.target as HTMLElement);
    if (step === 0 || at < 0) return;
    e.preventDefault();
    boxes[at + step]?.focus();
  }
}
