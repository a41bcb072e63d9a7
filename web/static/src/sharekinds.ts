// The part of the share dialog in which the user chooses resources and namespaces, by two lists of checkboxes.

import { h, keep, setAttr, setText } from "./dom.ts";
import { Feed } from "./feed.ts";
import { plural, type Listed } from "./kinds.ts";
import type { Live } from "./live.ts";
import type { Choice } from "./sharewords.ts";
import { isName } from "./spacechooser.ts";

const most = 200; // rows drawn at most

interface Line {
  readonly key: string;
  readonly text: string;
  readonly detail: string;
}

/** Returns the chosen lines, followed by the others that contain all typed words. */
export function offeredLines(lines: readonly Line[], chosen: ReadonlySet<string>, typed: string): Line[] {
  const words = typed.toLowerCase().split(/\s+/).filter((w) => w !== "");
  const has = ({ key, text, detail }: Line): boolean =>
    words.every((w) => `${key} ${text} ${detail}`.toLowerCase().includes(w));
  return [...lines.filter((l) => chosen.has(l.key)), ...lines.filter((l) => !chosen.has(l.key) && has(l))];
}

// A list of checkboxes with a filter above it.
class Boxes {
  readonly chosen: Set<string>;
  readonly filter: HTMLInputElement;
  private readonly list = h("ul", { class: "pop-list" });
  private readonly rest = h("p", { class: "pop-note", role: "status" });
  readonly element: HTMLElement;
  lines: readonly Line[] = [];
  // The initially chosen lines, which are first; a line does not move when the user chooses it.
  first: readonly string[];

  constructor(title: string, chosen: readonly string[], private readonly told: () => void, ...above: HTMLElement[]) {
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
      h("div", { class: "pop-body" }, ...above, this.list),
      this.rest,
    );
    this.filter.addEventListener("input", () => this.draw());
    this.filter.addEventListener("keydown", (e) => {
      if (e.key !== "Enter") return;
      e.preventDefault(); // Enter must not submit the form.
      const first = this.list.querySelector<HTMLInputElement>("input:not(:checked)");
      if (this.filter.value.trim() !== "") first?.click();
    });
    this.filter.addEventListener("keydown", (e) => this.walk(e));
    this.list.addEventListener("keydown", (e) => this.walk(e));
    this.list.addEventListener("change", (e) => {
      if (!(e.target instanceof HTMLInputElement)) return;
      if (e.target.checked) this.chosen.add(e.target.value);
      else this.chosen.delete(e.target.value);
      this.told();
    });
  }

  private get boxes(): HTMLInputElement[] {
    return [...this.list.querySelectorAll("input")];
  }

  // Makes one checkbox the only one that the Tab key reaches. The arrow keys move between the checkboxes.
  private rove(at: Element | null): void {
    const { boxes } = this;
    const one = boxes.find((b) => b === at) ?? boxes[0];
    for (const b of boxes) b.tabIndex = b === one ? 0 : -1;
  }

  private walk(e: KeyboardEvent): void {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    e.preventDefault();
    const { boxes } = this;
    const to = boxes[boxes.indexOf(e.target as HTMLInputElement) + step];
    if (to === undefined && step > 0) return;
    this.rove(to ?? null);
    (to ?? this.filter).focus();
  }

  draw(): void {
    const found = offeredLines(this.lines, new Set(this.first), this.filter.value);
    keep(
      this.list,
      found.slice(0, most),
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
    this.rove(document.activeElement);
    setText(
      this.rest,
      found.length > most
        ? `${found.length - most} more: type to filter.`
        : found.length === 0
          ? "No matches"
          : "",
    );
  }
}

export class KindsChooser {
  private readonly kinds: Boxes;
  private readonly spaces: Boxes;
  private readonly all = h("input", { type: "checkbox", name: "all" });
  private readonly feed: Feed;
  readonly element: HTMLElement;

  constructor(
    live: Live,
    private readonly known: readonly Listed[],
    ref: string,
    private readonly ns: readonly string[],
    private readonly told: () => void,
  ) {
    const has = known.some((k) => k.ref === ref);
    this.kinds = new Boxes("Resources", has ? [ref] : [], told);
    this.spaces = new Boxes(
      "Namespaces",
      ns,
      () => {
        if (this.spaces.chosen.size > 0) this.all.checked = false;
        told();
      },
      h("label", { class: "pick" }, this.all, h("span", { class: "name" }, "All namespaces")),
    );
    this.all.addEventListener("change", () => {
      if (this.all.checked) this.spaces.chosen.clear();
      this.spaces.draw();
    });
    this.spaces.filter.addEventListener("input", () => this.draw());
    this.element = h("div", { class: "share-kinds" }, this.kinds.element, this.spaces.element);
    const draw = (): void => this.draw();
    this.feed = new Feed(
      live,
      { resource: "core/v1/namespaces" },
      { sort: null, q: "" },
      { arrived: draw, moved: draw, dropped: draw, told: draw },
      Infinity,
      0,
    );
    this.kinds.lines = known.map((k) => ({ key: k.ref, text: plural(k), detail: k.group === "core" ? "" : k.group }));
    this.kinds.draw();
    this.draw();
  }

  close(): void {
    this.feed.close();
  }

  /** The current choice; null if it is incomplete. */
  get choice(): Choice | null {
    // The resources are in the order of selection, because the link opens the first one.
    const kinds = [...this.kinds.chosen]
      .map((ref) => this.known.find((k) => k.ref === ref))
      .filter((k) => k !== undefined);
    const ns = [...this.spaces.chosen].sort();
    const where = this.all.checked || ns.length > 0 || kinds.every((k) => !k.namespaced);
    return kinds.length === 0 || !where ? null : { what: "kinds", kinds, ns };
  }

  // If namespaces may not be listed, a typed name is accepted.
  private draw(): void {
    const { rows } = this.feed;
    const typed = this.spaces.filter.value.trim();
    const names = rows.complete
      ? [...rows.all()].map((e) => e.name)
      : [...this.ns, ...this.spaces.chosen, ...(isName(typed) ? [typed] : [])];
    this.spaces.lines = [...new Set(names)].sort().map((name) => ({ key: name, text: name, detail: "" }));
    this.spaces.draw();
    this.told();
  }
}
