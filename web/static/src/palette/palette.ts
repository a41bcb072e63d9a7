// The command palette, a dialog with a search box and a list of results.

import { isApple } from "./keys.ts";
import { keyLabel, type Command } from "./commands.ts";
import { h, setText } from "../ui/dom.ts";
import { Feed } from "../model/feed.ts";
import { sharedParts } from "../model/guest.ts";
import { PaletteSearch, searchCoverage, type PaletteItem, type SearchContext } from "./palette-search.ts";
import { isCharacterKey, singleKeysEnabled } from "../ui/single-key.ts";
import type { Live } from "../net/live.ts";
import { emptyResponse, Search, type SearchResponse } from "../net/search.ts";
import type { ObjectName, View } from "../model/view.ts";

/** The data and functions of the page that the palette uses. */
export interface PaletteHost {
  readonly live: Live;
  context(): Omit<SearchContext, "namespaces"> & { rowNamespaces(): Iterable<string> };
  go(view: View): void;
  open(ref: string, object: ObjectName): void;
  /** Is called after the palette was opened. The page calls then() when it has more data, such as contexts. */
  opened(then: () => void): void;
}

export class Palette {
  private readonly input = h("input", {
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
  private readonly message = h("p", { class: "palette-words" });
  private readonly coverage = h("p", { class: "palette-coverage", role: "status" });
  readonly dialog = h(
    "dialog",
    { id: "palette", class: "palette", "aria-label": "Search or jump to" },
    h("div", { class: "palette-head" }, this.input),
    this.message,
    this.list,
    h(
      "div",
      { class: "palette-foot" },
      this.coverage,
      h(
        "p",
        { class: "palette-keys", "aria-hidden": "true" },
        h("kbd", {}, "↵"),
        " open ",
        h("kbd", {}, keyLabel("Mod+↵", isApple)),
        " open in new tab ",
        h("kbd", {}, "Tab"),
        " complete",
      ),
    ),
  );
  private readonly finder = new PaletteSearch();
  private readonly search = new Search((q, answer) => {
    if (q === this.input.value.trim()) this.draw(answer);
  });
  private namespaceFeed: Feed | null = null;
  private response: SearchResponse = emptyResponse;
  private items: readonly PaletteItem[] = [];
  private selectedIndex = 0;
  private frame = 0;

  constructor(private readonly host: PaletteHost) {
    document.body.append(this.dialog);
    this.input.addEventListener("input", () => this.inputChanged());
    this.dialog.addEventListener("keydown", (e) => this.handleKey(e));
    this.dialog.addEventListener("close", () => this.closed());
    this.dialog.addEventListener("click", (e) => {
      if (e.target === this.dialog) return this.dialog.close();
      const item = this.itemAt(e.target);
      if (item !== undefined) this.runItem(item, e.ctrlKey || e.metaKey);
    });
    // Use pointermove instead of mouseover. Otherwise, a result that scrolls under a pointer that does not move would
    // be selected.
    this.list.addEventListener("pointermove", (e) => {
      const item = this.itemAt(e.target);
      if (item !== undefined) this.select(this.items.indexOf(item), false);
    });
  }

  open(text: string): void {
    if (this.dialog.open && text === "") return this.dialog.close(); // a second Ctrl+K closes the palette
    if (!this.dialog.open) {
      this.dialog.showModal();
      this.host.opened(() => {
        if (this.dialog.open) this.schedule();
      });
      const draw = (): void => this.schedule();
      // Subscribe to the namespaces. Guests (viewers of a share link) are not permitted to list them.
      if (sharedParts() === null)
        this.namespaceFeed = new Feed(
          this.host.live,
          { resource: "core/v1/namespaces" },
          { sort: null, q: "" },
          { snapshotArrived: draw, rowsChanged: draw, rowsDiscarded: draw, statusChanged: () => undefined },
          Infinity,
          0,
        );
    }
    this.input.value = text;
    this.inputChanged();
    this.input.focus();
  }

  private closed(): void {
    this.search.stop();
    this.namespaceFeed?.close();
    this.namespaceFeed = null;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private inputChanged(): void {
    const text = this.input.value.trim();
    this.selectedIndex = 0;
    this.search.stop();
    if (text !== "" && !text.startsWith(":")) this.search.request(text);
    this.draw(emptyResponse);
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw(this.response));
  }

  private draw(response: SearchResponse): void {
    this.frame = 0;
    this.response = response;
    const { rowNamespaces, ...rest } = this.host.context();
    const rows = this.namespaceFeed?.rows;
    const context: SearchContext = {
      ...rest,
      namespaces: (rows?.isComplete === true ? Array.from(rows.all(), (e) => e.name) : [...rowNamespaces()]).sort(),
    };
    const previouslySelected = this.items[this.selectedIndex];
    const results = this.finder.find(this.input.value, context, response);
    this.items = results.items;
    const text = this.input.value.trim();
    const isEmpty = this.items.length === 0 && results.words === "";
    setText(this.message, isEmpty ? `No results for “${text}”` : results.words);
    this.message.hidden = this.message.textContent === "";
    setText(this.coverage, text === "" || text.startsWith(":") ? "" : searchCoverage(context, response));
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
      group.append(this.itemElement(item, i));
    });
    this.list.replaceChildren(...groups.values());
    this.list.hidden = this.items.length === 0;
    this.input.setAttribute("aria-expanded", String(this.items.length > 0));
    // Keep the same item selected when more results arrive.
    const sameIndex =
      this.selectedIndex === 0 || previouslySelected === undefined
        ? 0
        : this.items.findIndex((i) => i.section === previouslySelected.section && i.label === previouslySelected.label);
    this.select(Math.max(0, sameIndex), true);
  }

  private itemElement(item: PaletteItem, index: number): HTMLElement {
    const right: Node[] = [];
    if (item.detail !== "") right.push(h("span", { class: "detail" }, item.detail));
    for (const k of item.keys)
      if (!isCharacterKey(k) || singleKeysEnabled()) right.push(h("kbd", {}, keyLabel(k, isApple)));
    return h(
      "div",
      { role: "option", id: `palette-o${index}`, "data-index": String(index), "aria-selected": "false" },
      h("span", { class: "label", title: item.label }, ...highlightRanges(item.label, item.ranges)),
      ...right,
    );
  }

  private select(to: number, scroll: boolean): void {
    this.list.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    this.selectedIndex = to;
    const option = this.list.querySelector(`#palette-o${to}`);
    option?.setAttribute("aria-selected", "true");
    if (option === null) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", option.id);
    if (scroll) (to === 0 ? this.list.firstElementChild : option)?.scrollIntoView({ block: "nearest" });
  }

  private itemAt(target: EventTarget | null): PaletteItem | undefined {
    const index = target instanceof Element ? target.closest<HTMLElement>("[data-index]")?.dataset["index"] : undefined;
    return index === undefined ? undefined : this.items[Number(index)];
  }

  private handleKey(e: KeyboardEvent): void {
    if (e.isComposing || !this.dialog.open) return;
    const { length } = this.items;
    const item = this.items[this.selectedIndex];
    const down = e.key === "ArrowDown" || (e.ctrlKey && e.key === "n");
    const up = e.key === "ArrowUp" || (e.ctrlKey && e.key === "p");
    if (down || up) this.select(length === 0 ? 0 : (this.selectedIndex + (down ? 1 : -1) + length) % length, true);
    else if (e.key === "PageDown") this.select(Math.min(length - 1, this.selectedIndex + 8), true);
    else if (e.key === "PageUp") this.select(Math.max(0, this.selectedIndex - 8), true);
    else if (e.key === "Enter" && item !== undefined) this.runItem(item, e.ctrlKey || e.metaKey);
    else if (e.key === "Tab") this.complete(item);
    else return;
    e.preventDefault();
  }

  private complete(item: PaletteItem | undefined): void {
    if (item === undefined) return;
    this.input.value = item.fill !== "" ? item.fill : item.label;
    this.inputChanged();
  }

  private runItem(item: PaletteItem, tab: boolean): void {
    if (tab && item.href !== null) return void window.open(item.href, "_blank", "noopener");
    this.dialog.close();
    if ("view" in item.act) this.host.go(item.act.view);
    else if ("object" in item.act) this.host.open(item.act.ref, item.act.object);
    else run(item.act.command);
  }
}

// Runs the command in a microtask, so that the closed dialog first returns the focus to the page.
function run(command: Command): void {
  queueMicrotask(() => command.run(command.keys[0] ?? ""));
}

function highlightRanges(label: string, ranges: readonly number[]): (Node | string)[] {
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
