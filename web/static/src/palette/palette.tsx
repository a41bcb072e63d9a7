// The command palette, a dialog with a search box and a list of results.

import "../shared-code.ts";
import { createRef, type ComponentChild } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isApple } from "./keys.ts";
import { keyLabel, type Command } from "./commands.ts";
import { addDialog, mount } from "../ui/view.tsx";
import { Feed } from "../model/feed.ts";
import { sharedParts } from "../model/guest.ts";
import { PaletteSearch, type PaletteItem, type SearchContext } from "./palette-search.ts";
import { coverageDetails, searchCoverage } from "./search-coverage.ts";
import { isCharacterKey, singleKeysEnabled } from "../ui/single-key.ts";
import type { Live } from "../net/live.ts";
import { emptyResponse, isPending, minSearchLength, Search, type SearchResponse } from "../net/search.ts";
import type { ObjectName, View } from "../model/view.ts";

/** The data and functions of the page that the palette uses. */
export interface PaletteHost {
  readonly live: Live;
  context(): Omit<SearchContext, "namespaces"> & { rowNamespaces(): Iterable<string> };
  go(view: View): void;
  open(ref: string, object: ObjectName): void;
  /** Called after the palette was opened. The page must call then() whenever it has loaded more data to search. */
  opened(then: () => void): void;
}

export class Palette {
  readonly dialog = addDialog({ id: "palette", class: "palette", "aria-label": "Search or jump to" }, () =>
    this.closed(),
  );
  private readonly input = createRef<HTMLInputElement>();
  private text = "";
  private readonly finder = new PaletteSearch();
  private readonly search = new Search((q, response) => {
    if (q === this.text.trim()) this.draw(response);
  });
  private namespaceFeed: Feed | null = null;
  private response: SearchResponse = emptyResponse;
  private items: readonly PaletteItem[] = [];
  private message = "";
  private coverage = "";
  private details: string | undefined = undefined;
  private selectedIndex = 0;
  private frame = 0;

  constructor(private readonly host: PaletteHost) {
    this.dialog.addEventListener("keydown", (e) => this.handleKey(e));
  }

  /** Opens the palette with a text. If runsFirst is true, it runs the first result of this text, if there is one. */
  open(text: string, runsFirst: boolean): void {
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
    this.setText(text);
    this.input.current?.focus();
    const first = this.items[0];
    if (runsFirst && first !== undefined) this.runItem(first, false);
  }

  private closed(): void {
    this.search.stop();
    this.namespaceFeed?.close();
    this.namespaceFeed = null;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private setText(typed: string): void {
    this.text = typed;
    this.selectedIndex = 0;
    this.search.stop();
    const text = typed.trim();
    if (text !== "" && !text.startsWith(":")) this.search.request(text, this.host.context().view?.ref ?? "");
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
    const results = this.finder.find(this.text, context, response);
    this.items = results.items;
    const text = this.text.trim();
    const isEmpty = this.items.length === 0 && results.words === "";
    this.message = isEmpty ? noResultsText(text, response) : results.words;
    this.coverage = text === "" || text.startsWith(":") ? "" : searchCoverage(context, response);
    this.details = coverageDetails(response, context.kinds);
    // If more results of the same search arrive, the selected item stays selected, even at another position.
    const sameIndex =
      this.selectedIndex === 0 || previouslySelected === undefined
        ? 0
        : this.items.findIndex((i) => i.section === previouslySelected.section && i.label === previouslySelected.label);
    this.select(Math.max(0, sameIndex), true);
  }

  private select(to: number, scroll: boolean): void {
    this.selectedIndex = to;
    const { items, message, coverage, details } = this;
    mount(
      this.dialog,
      <>
        <div class="palette-head">
          <input
            type="text"
            id="palette-box"
            role="combobox"
            aria-expanded={items.length > 0}
            aria-controls="palette-list"
            aria-autocomplete="list"
            aria-activedescendant={items[to] === undefined ? undefined : `palette-o${to}`}
            aria-label="Search or jump to"
            placeholder="Search resources, namespaces and commands…"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            ref={this.input}
            value={this.text}
            onInput={(e) => this.setText(e.currentTarget.value)}
          />
        </div>
        <p class="palette-words" hidden={message === ""}>
          {message}
        </p>
        <Results
          items={items}
          selectedIndex={to}
          scroll={scroll}
          onSelect={(index) => this.select(index, false)}
          onRun={(item, inTab) => this.runItem(item, inTab)}
        />
        <div class="palette-foot">
          <p class="palette-coverage" role="status" title={details}>
            {coverage}
          </p>
          <p class="palette-keys" aria-hidden="true">
            <kbd>↵</kbd> open <kbd>{keyLabel("Mod+↵", isApple)}</kbd> open in new tab <kbd>Tab</kbd> complete
          </p>
        </div>
      </>,
    );
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
    this.setText(item.fill !== "" ? item.fill : item.label);
  }

  private runItem(item: PaletteItem, tab: boolean): void {
    if (tab && item.href !== null) return void window.open(item.href, "_blank", "noopener");
    this.dialog.close();
    if ("view" in item.act) this.host.go(item.act.view);
    else if ("object" in item.act) this.host.open(item.act.ref, item.act.object);
    else run(item.act.command);
  }
}

// Runs the command after the dialog has closed and has returned the keyboard focus to the page.
function run(command: Command): void {
  queueMicrotask(() => command.run(command.keys[0] ?? ""));
}

interface ResultsProps {
  items: readonly PaletteItem[];
  selectedIndex: number;
  scroll: boolean; // whether to scroll to the selected item
  onSelect: (index: number) => void;
  onRun: (item: PaletteItem, inTab: boolean) => void;
}

function Results({ items, selectedIndex, scroll, onSelect, onRun }: ResultsProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!scroll) return;
    const selected = list.current?.querySelector("[aria-selected=true]");
    (selectedIndex === 0 ? list.current?.firstElementChild : selected)?.scrollIntoView({ block: "nearest" });
  });
  const sections = [...new Set(items.map((item) => item.section))];
  return (
    <div
      id="palette-list"
      class="palette-list"
      role="listbox"
      aria-label="Search results"
      tabIndex={-1}
      hidden={items.length === 0}
      ref={list}
    >
      {sections.map((section, g) => (
        <div key={section} role="group" aria-labelledby={`palette-g${g}`}>
          <div class="palette-section" id={`palette-g${g}`} role="presentation">
            {section}
          </div>
          {items.map(
            (item, i) =>
              item.section === section && (
                // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant refers to it
                <div
                  role="option"
                  id={`palette-o${i}`}
                  aria-selected={i === selectedIndex}
                  // Use pointermove instead of mouseover. Otherwise, a result that scrolls under a pointer that does
                  // not move would be selected.
                  onPointerMove={() => i !== selectedIndex && onSelect(i)}
                  onClick={(e) => onRun(item, e.ctrlKey || e.metaKey)}
                >
                  <span class="label" title={item.label}>
                    {highlightRanges(item.label, item.ranges)}
                  </span>
                  {item.detail !== "" && <span class="detail">{item.detail}</span>}
                  {item.keys
                    .filter((k) => !isCharacterKey(k) || singleKeysEnabled())
                    .map((k) => (
                      <kbd>{keyLabel(k, isApple)}</kbd>
                    ))}
                </div>
              ),
          )}
        </div>
      ))}
    </div>
  );
}

function highlightRanges(label: string, ranges: readonly number[]): ComponentChild[] {
  const out: ComponentChild[] = [];
  let from = 0;
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const [start = 0, end = 0] = [ranges[i], ranges[i + 1]];
    if (start > from) out.push(label.slice(from, start));
    out.push(<mark>{label.slice(start, end)}</mark>);
    from = end;
  }
  out.push(label.slice(from));
  return out;
}

function noResultsText(text: string, response: SearchResponse): string {
  if (response === emptyResponse && text.length >= minSearchLength && !text.startsWith(":"))
    return `Searching for “${text}”…`;
  return `No results for “${text}”${response.searched.some(isPending) ? " so far" : ""}`;
}
