// The part of the share dialog in which the user selects resources and namespaces, in two lists of checkboxes.

import { h, syncChildren, setAttr, setText } from "../ui/dom.ts";
import { Feed } from "../model/feed.ts";
import { plural, type ListedKind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import type { ShareChoice } from "./share-text.ts";
import { isNamespaceName } from "../list/namespace-chooser.ts";

const maxRows = 200; // maximum number of lines that are drawn in a list

interface CheckboxLine {
  readonly key: string;
  readonly text: string;
  readonly detail: string;
}

/** Returns the selected lines, followed by all other lines that contain every typed word. */
export function matchingLines(
  lines: readonly CheckboxLine[],
  chosen: ReadonlySet<string>,
  typed: string,
): CheckboxLine[] {
  const terms = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((w) => w !== "");
  const matches = ({ key, text, detail }: CheckboxLine): boolean =>
    terms.every((w) => `${key} ${text} ${detail}`.toLowerCase().includes(w));
  return [...lines.filter((l) => chosen.has(l.key)), ...lines.filter((l) => !chosen.has(l.key) && matches(l))];
}

// A list of checkboxes, with a filter above it.
class CheckboxList {
  readonly chosen: Set<string>;
  readonly filter: HTMLInputElement;
  private readonly list = h("ul", { class: "pop-list" });
  private readonly statusText = h("p", { class: "pop-note", role: "status" });
  readonly element: HTMLElement;
  lines: readonly CheckboxLine[] = [];
  // The keys of the lines that were selected at the start, which are first. This list does not change, so that no
  // line moves when the user selects it.
  first: readonly string[];

  constructor(
    title: string,
    chosen: readonly string[],
    private readonly onChange: () => void,
    ...header: HTMLElement[]
  ) {
    this.chosen = new Set(chosen);
    this.first = chosen;
    this.filter = h("input", {
      type: "search",
      placeholder: `Filter ${title.toLowerCase()}`,
      "aria-label": `Filter ${title.toLowerCase()}`,
      autocomplete: "off",
      spellcheck: "false",
    });
    this.element = h(
      "div",
      { class: "share-list", role: "group", "aria-label": title },
      this.filter,
      h("div", { class: "pop-body" }, ...header, this.list),
      this.statusText,
    );
    this.filter.addEventListener("input", () => this.draw());
    this.filter.addEventListener("keydown", (e) => {
      if (e.key !== "Enter") return;
      e.preventDefault(); // do not submit the form
      const first = this.list.querySelector<HTMLInputElement>("input:not(:checked)");
      if (this.filter.value.trim() !== "") first?.click();
    });
    this.filter.addEventListener("keydown", (e) => this.moveFocus(e));
    this.list.addEventListener("keydown", (e) => this.moveFocus(e));
    this.list.addEventListener("change", (e) => {
      if (!(e.target instanceof HTMLInputElement)) return;
      if (e.target.checked) this.chosen.add(e.target.value);
      else this.chosen.delete(e.target.value);
      this.onChange();
    });
  }

  private get boxes(): HTMLInputElement[] {
    return [...this.list.querySelectorAll("input")];
  }

  // Makes the Tab key reach only one of the checkboxes. The arrow keys move between them.
  private setTabStop(at: Element | null): void {
    const { boxes } = this;
    const tabStop = boxes.find((b) => b === at) ?? boxes[0];
    for (const b of boxes) b.tabIndex = b === tabStop ? 0 : -1;
  }

  private moveFocus(e: KeyboardEvent): void {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    e.preventDefault();
    const { boxes } = this;
    const to = boxes[boxes.indexOf(e.target as HTMLInputElement) + step];
    if (to === undefined && step > 0) return;
    this.setTabStop(to ?? null);
    (to ?? this.filter).focus();
  }

  draw(): void {
    const found = matchingLines(this.lines, new Set(this.first), this.filter.value);
    syncChildren(
      this.list,
      found.slice(0, maxRows),
      () =>
        h(
          "li",
          {},
          h(
            "label",
            { class: "pick" },
            h("input", { type: "checkbox" }),
            h("span", { class: "name" }),
            h("span", { class: "hint" }),
          ),
        ),
      (e, l) => {
        const [box, name, hint] = (e.firstElementChild as Element).children as unknown as [
          HTMLInputElement,
          Element,
          Element,
        ];
        box.value = l.key;
        box.checked = this.chosen.has(l.key);
        setText(name, l.text);
        setAttr(name, "title", l.text);
        setText(hint, l.detail);
      },
    );
    this.setTabStop(document.activeElement);
    setText(
      this.statusText,
      found.length > maxRows
        ? `${found.length - maxRows} more: type to filter.`
        : found.length === 0
          ? "No matches"
          : "",
    );
  }
}

export class ShareKindsChooser {
  private readonly kinds: CheckboxList;
  private readonly namespaceList: CheckboxList;
  private readonly allNamespaces = h("input", { type: "checkbox", name: "all" });
  private readonly feed: Feed;
  readonly element: HTMLElement;

  constructor(
    live: Live,
    private readonly listedKinds: readonly ListedKind[],
    ref: string,
    private readonly ns: readonly string[],
    private readonly onChange: () => void,
  ) {
    const hasKind = listedKinds.some((k) => k.ref === ref);
    this.kinds = new CheckboxList("Resources", hasKind ? [ref] : [], onChange);
    this.namespaceList = new CheckboxList(
      "Namespaces",
      ns,
      () => {
        if (this.namespaceList.chosen.size > 0) this.allNamespaces.checked = false;
        onChange();
      },
      h("label", { class: "pick" }, this.allNamespaces, h("span", { class: "name" }, "All namespaces")),
    );
    this.allNamespaces.addEventListener("change", () => {
      if (this.allNamespaces.checked) this.namespaceList.chosen.clear();
      this.namespaceList.draw();
    });
    this.namespaceList.filter.addEventListener("input", () => this.draw());
    this.element = h("div", { class: "share-kinds" }, this.kinds.element, this.namespaceList.element);
    const draw = (): void => this.draw();
    this.feed = new Feed(
      live,
      { resource: "core/v1/namespaces" },
      { sort: null, q: "" },
      { snapshotArrived: draw, rowsChanged: draw, rowsDiscarded: draw, statusChanged: draw },
      Infinity,
      0,
    );
    this.kinds.lines = listedKinds.map((k) => ({
      key: k.ref,
      text: plural(k),
      detail: k.group === "core" ? "" : k.group,
    }));
    this.kinds.draw();
    this.draw();
  }

  close(): void {
    this.feed.close();
  }

  /** The user's current selection. null while it is incomplete. */
  get choice(): ShareChoice | null {
    // Keep the order in which the user selected the resources, because the link opens the first one.
    const kinds = [...this.kinds.chosen]
      .map((ref) => this.listedKinds.find((k) => k.ref === ref))
      .filter((k) => k !== undefined);
    const ns = [...this.namespaceList.chosen].sort();
    const hasNamespaces = this.allNamespaces.checked || ns.length > 0 || kinds.every((k) => !k.namespaced);
    return kinds.length === 0 || !hasNamespaces ? null : { what: "kinds", kinds, ns };
  }

  // Draws the list of namespaces. If the user is not permitted to list namespaces, a typed name is offered too.
  private draw(): void {
    const { rows } = this.feed;
    const typed = this.namespaceList.filter.value.trim();
    const names = rows.isComplete
      ? [...rows.all()].map((e) => e.name)
      : [...this.ns, ...this.namespaceList.chosen, ...(isNamespaceName(typed) ? [typed] : [])];
    this.namespaceList.lines = [...new Set(names)].sort().map((name) => ({ key: name, text: name, detail: "" }));
    this.namespaceList.draw();
    this.onChange();
  }
}
