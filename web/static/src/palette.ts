// The palette: a search box and the list of its results.

import { apple } from "./keys.ts";
import { keyWords, type Command } from "./commands.ts";
import { h, setText } from "./dom.ts";
import { Feed } from "./feed.ts";
import { shared } from "./guest.ts";
import { Finder, lookedThrough, type Item, type Known } from "./find.ts";
import { isSign, lettersAct } from "./letters.ts";
import type { Live } from "./live.ts";
import { none, Search, type Answer } from "./search.ts";
import type { ObjectName, View } from "./view.ts";

/** The parts of the page that the palette uses. */
export interface Around {
  readonly live: Live;
  known(): Omit<Known, "namespaces"> & { seen(): Iterable<string> };
  go(view: View): void;
  open(ref: string, object: ObjectName): void;
  /** Called when the palette was opened. The page calls then() whenever it has more data, such as new resources. */
  opened(then: () => void): void;
}

export class Palette {
  private readonly box = h("input", {
    type: "text",
    id: "palette-box",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": "Search or jump to",
    placeholder: "Search resources, namespaces and commands…",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  private readonly list = h("div", {
    id: "palette-list",
    class: "palette-list",
    role: "listbox",
    "aria-label": "Search results",
    tabindex: "-1",
  });
  private readonly words = h("p", { class: "palette-words" });
  private readonly through = h("p", { class: "palette-through", role: "status" });
  readonly dialog = h(
    "dialog",
    { id: "palette", class: "palette", "aria-label": "Search or jump to" },
    h("div", { class: "palette-head" }, this.box),
    this.words,
    this.list,
    h(
      "div",
      { class: "palette-foot" },
      this.through,
      h(
        "p",
        { class: "palette-keys", "aria-hidden": "true" },
        h("kbd", {}, "↵"),
        " open ",
        h("kbd", {}, keyWords("Mod+↵", apple)),
        " open in new tab ",
        h("kbd", {}, "Tab"),
        " complete",
      ),
    ),
  );
  private readonly finder = new Finder();
  private readonly search = new Search((q, answer) => {
    if (q === this.box.value.trim()) this.draw(answer);
  });
  private spaces: Feed | null = null;
  private answer: Answer = none;
  private items: readonly Item[] = [];
  private at = 0;
  private frame = 0;

  constructor(private readonly around: Around) {
    document.body.append(this.dialog);
    this.box.addEventListener("input", () => this.typed());
    this.dialog.addEventListener("keydown", (e) => this.press(e));
    this.dialog.addEventListener("close", () => this.closed());
    this.dialog.addEventListener("click", (e) => {
      if (e.target === this.dialog) return this.dialog.close();
      const item = this.itemAt(e.target);
      if (item !== undefined) this.take(item, e.ctrlKey || e.metaKey);
    });
    // Use pointermove, not mouseover, so that a result that scrolls under a pointer at rest is not selected.
    this.list.addEventListener("pointermove", (e) => {
      const item = this.itemAt(e.target);
      if (item !== undefined) this.mark(this.items.indexOf(item), false);
    });
  }

  open(text: string): void {
    if (this.dialog.open && text === "") return this.dialog.close(); // A second Ctrl+K closes the palette.
    if (!this.dialog.open) {
      this.dialog.showModal();
      this.around.opened(() => {
        if (this.dialog.open) this.schedule();
      });
      const draw = (): void => this.schedule();
      // Subscribe to the namespaces, except for guests, who may not list them.
      if (shared() === null)
        this.spaces = new Feed(
          this.around.live,
          { resource: "core/v1/namespaces" },
          { sort: null, q: "" },
          { arrived: draw, moved: draw, dropped: draw, told: () => undefined },
          Infinity,
          0,
        );
    }
    this.box.value = text;
    this.typed();
    this.box.focus();
  }

  private closed(): void {
    this.search.stop();
    this.spaces?.close();
    this.spaces = null;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private typed(): void {
    const text = this.box.value.trim();
    this.at = 0;
    this.search.stop();
    if (text !== "" && !text.startsWith(":")) this.search.ask(text);
    this.draw(none);
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw(this.answer));
  }

  private draw(answer: Answer): void {
    this.frame = 0;
    this.answer = answer;
    const { seen, ...rest } = this.around.known();
    const rows = this.spaces?.rows;
    const known: Known = {
      ...rest,
      namespaces: (rows?.complete === true ? Array.from(rows.all(), (e) => e.name) : [...seen()]).sort(),
    };
    const before = this.items[this.at];
    const offer = this.finder.find(this.box.value, known, answer);
    this.items = offer.items;
    const text = this.box.value.trim();
    const nothing = this.items.length === 0 && offer.words === "";
    setText(this.words, nothing ? `No results for “${text}”` : offer.words);
    this.words.hidden = this.words.textContent === "";
    setText(this.through, text === "" || text.startsWith(":") ? "" : lookedThrough(known, answer));
    const groups = new Map<string, HTMLElement>();
    this.items.forEach((item, i) => {
      let group = groups.get(item.section);
      if (group === undefined) {
        const id = `palette-g${groups.size}`;
        group = h(
          "div",
          { role: "group", "aria-labelledby": id },
          h("div", { class: "palette-section", id, role: "presentation" }, item.section),
        );
        groups.set(item.section, group);
      }
      group.append(this.line(item, i));
    });
    this.list.replaceChildren(...groups.values());
    this.list.hidden = this.items.length === 0;
    this.box.setAttribute("aria-expanded", String(this.items.length > 0));
    // The selected item stays selected when more results arrive.
    const same =
      this.at === 0 || before === undefined
        ? 0
        : this.items.findIndex((i) => i.section === before.section && i.label === before.label);
    this.mark(Math.max(0, same), true);
  }

  private line(item: Item, index: number): HTMLElement {
    const right: Node[] = [];
    if (item.detail !== "") right.push(h("span", { class: "detail" }, item.detail));
    for (const k of item.keys) if (!isSign(k) || lettersAct()) right.push(h("kbd", {}, keyWords(k, apple)));
    return h(
      "div",
      { role: "option", id: `palette-o${index}`, "data-index": String(index), "aria-selected": "false" },
      h("span", { class: "label", title: item.label }, ...marked(item.label, item.ranges)),
      ...right,
    );
  }

  private mark(to: number, scroll: boolean): void {
    this.list.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    this.at = to;
    const option = this.list.querySelector(`#palette-o${to}`);
    option?.setAttribute("aria-selected", "true");
    if (option === null) this.box.removeAttribute("aria-activedescendant");
    else this.box.setAttribute("aria-activedescendant", option.id);
    if (scroll) (to === 0 ? this.list.firstElementChild : option)?.scrollIntoView({ block: "nearest" });
  }

  private itemAt(target: EventTarget | null): Item | undefined {
    const index = target instanceof Element ? target.closest<HTMLElement>("[data-index]")?.dataset["index"] : undefined;
    return index === undefined ? undefined : this.items[Number(index)];
  }

  private press(e: KeyboardEvent): void {
    if (e.isComposing || !this.dialog.open) return;
    const { length } = this.items;
    const item = this.items[this.at];
    const down = e.key === "ArrowDown" || (e.ctrlKey && e.key === "n");
    const up = e.key === "ArrowUp" || (e.ctrlKey && e.key === "p");
    if (down || up) this.mark(length === 0 ? 0 : (this.at + (down ? 1 : -1) + length) % length, true);
    else if (e.key === "PageDown") this.mark(Math.min(length - 1, this.at + 8), true);
    else if (e.key === "PageUp") this.mark(Math.max(0, this.at - 8), true);
    else if (e.key === "Enter" && item !== undefined) this.take(item, e.ctrlKey || e.metaKey);
    else if (e.key === "Tab") this.complete(item);
    else return;
    e.preventDefault();
  }

  private complete(item: Item | undefined): void {
    if (item === undefined) return;
    this.box.value = item.fill !== "" ? item.fill : item.label;
    this.typed();
  }

  private take(item: Item, tab: boolean): void {
    if (tab && item.href !== null) return void window.open(item.href, "_blank", "noopener");
    this.dialog.close();
    if ("view" in item.act) this.around.go(item.act.view);
    else if ("object" in item.act) this.around.open(item.act.ref, item.act.object);
    else run(item.act.command);
  }
}

// Runs the command in a microtask, after the closing dialog has returned the focus.
function run(command: Command): void {
  queueMicrotask(() => command.run(command.keys[0] ?? ""));
}

function marked(label: string, ranges: readonly number[]): (Node | string)[] {
  const out: (Node | string)[] = [];
  let from = 0;
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const [start = 0, end = 0] = [ranges[i], ranges[i + 1]];
    if (start > from) out.push(label.slice(from, start));
    out.push(h("mark", {}, label.slice(start, end)));
    from = end;
  }
  out.push(label.slice(from));
  return out;
}
