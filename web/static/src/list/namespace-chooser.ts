// The namespace chooser, a popover in which the user selects one or more namespaces. While it is open, it subscribes
// to the cluster's namespaces. If the user is not permitted to list them, it offers the namespaces seen so far, and
// accepts typed names.

import { h, setText } from "../ui/dom.ts";
import { formatInteger } from "../text/format.ts";
import { Feed } from "../model/feed.ts";
import { sharedNamespaces } from "../model/guest.ts";
import type { ListPage } from "./list.ts";
import type { Live } from "../net/live.ts";
import type { Content } from "../ui/popover.ts";
import { rememberRecent, storedList } from "../ui/preferences.ts";
import { namespaces } from "../model/view.ts";

const maxRows = 200; // maximum number of namespaces that are drawn

/**
 * Returns the namespaces that match the typed text. Commas separate alternatives; a namespace matches if its name
 * contains all words of one alternative. Selected namespaces are first, then recently used ones, then the others.
 */
export function matchingNamespaces(
  knownNamespaces: Iterable<string>,
  chosen: readonly string[],
  recent: readonly string[],
  typed: string,
): string[] {
  const all = new Set([...chosen, ...knownNamespaces]);
  const rank = (ns: string): number => (chosen.includes(ns) ? 0 : recent.includes(ns) ? 1 + recent.indexOf(ns) : 100);
  const alternatives = typed
    .toLowerCase()
    .split(",")
    .map((t) => t.split(/\s+/).filter((w) => w !== ""))
    .filter((statusText) => statusText.length > 0);
  return [...all]
    .filter(
      (ns) => alternatives.length === 0 || alternatives.some((statusText) => statusText.every((w) => ns.includes(w))),
    )
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

export const isNamespaceName = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

export class NamespaceChooser implements Content {
  readonly focus = h("input", {
    type: "text",
    placeholder: "Filter or type a name",
    "aria-label": "Filter namespaces",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly allCheckbox = h("input", { type: "checkbox", "data-all": true });
  private readonly list = h("ul", { class: "pop-list" });
  private readonly note = h("p", { class: "pop-note", role: "status" });
  readonly elements = [
    h("div", { class: "pop-head" }, this.focus),
    h(
      "div",
      { class: "pop-body" },
      h("label", { class: "pick" }, this.allCheckbox, h("span", { class: "name" }, "All namespaces")),
      this.list,
    ),
    this.note,
  ];
  private readonly feed: Feed | null; // the cluster's namespaces; null for guests, who see only those of their link
  // The recently used namespaces at the time when the chooser opened. This order does not change while it is open, so
  // that no line moves when the user selects it.
  private readonly recent = storedList("namespaces");
  private readonly initiallyChosen: readonly string[];
  private readonly shared: readonly string[] | null;
  private hasChanged = false;

  constructor(
    live: Live,
    private readonly page: ListPage,
    private readonly onDone: () => void,
  ) {
    this.initiallyChosen = page.view.ns;
    const shared = (this.shared = sharedNamespaces(page.view.ref));
    this.feed =
      shared !== null
        ? null
        : new Feed(
            live,
            { resource: "core/v1/namespaces" },
            { sort: null, q: "" },
            {
              snapshotArrived: () => this.draw(),
              rowsChanged: () => this.draw(),
              rowsDiscarded: () => this.draw(),
              statusChanged: () => this.draw(),
            },
            Infinity,
            0,
          );
    this.focus.addEventListener("input", () => this.draw());
    this.allCheckbox.addEventListener("change", () => this.choose([]));
    this.list.addEventListener("change", (e) => {
      if (e.target instanceof HTMLInputElement) this.toggle(e.target.value, e.target.checked);
    });
    this.list.addEventListener("click", (e) => {
      const only = e.target instanceof Element ? e.target.closest("button")?.dataset["only"] : undefined;
      if (only !== undefined) this.chooseAndClose([only]);
    });
    for (const e of this.elements) e.addEventListener("keydown", (e) => this.handleKey(e));
    this.draw();
  }

  close(): void {
    this.feed?.close();
  }

  private draw(): void {
    const complete = this.feed === null ? this.shared?.length !== 0 : this.feed.rows.isComplete;
    const state = this.feed?.info().state?.state;
    const ns = this.page.view.ns;
    const knownNamespaces = this.availableNames ?? this.page.names();
    const typed = this.focus.value.trim();
    const found = matchingNamespaces([...knownNamespaces, ...ns], this.initiallyChosen, this.recent, typed);
    this.allCheckbox.checked = ns.length === 0;
    this.list.replaceChildren(...found.slice(0, maxRows).map((name) => this.namespaceItem(name, ns.includes(name))));
    const refused = state === "forbidden" || state === "failed" || state === "absent";
    setText(this.note, this.statusText(found.length, typed, complete, refused));
  }

  // The names of all namespaces that the viewer can select. null if they are unknown.
  private get availableNames(): readonly string[] | null {
    if (this.feed === null) return this.shared?.length === 0 ? null : this.shared;
    return this.feed.rows.isComplete ? [...this.feed.rows.all()].map((e) => e.name) : null;
  }

  private statusText(found: number, typed: string, complete: boolean, refused: boolean): string {
    const prefix =
      this.feed === null
        ? complete
          ? ""
          : "Showing the namespaces seen so far. "
        : refused
          ? "Namespaces cannot be listed. Showing those seen so far. "
          : complete
            ? ""
            : "Loading namespaces… ";
    if (found === 0 && typed !== "") {
      const names = namespaces(typed);
      if (!complete && names.every(isNamespaceName)) return `${prefix}Press Enter to show ${names.join(", ")}.`;
      return `${prefix}No namespaces match “${typed}”.`;
    }
    if (found > maxRows) return `${prefix}${formatInteger(found - maxRows)} more: type to filter.`;
    return prefix !== "" ? `${prefix}Type any namespace name.` : "Space: add · Enter: only this";
  }

  private namespaceItem(name: string, on: boolean): HTMLElement {
    const box = h("input", { type: "checkbox", value: name });
    box.checked = on;
    const hadFocus =
      this.list.contains(document.activeElement) && (document.activeElement as HTMLInputElement).value === name;
    if (hadFocus) queueMicrotask(() => box.focus());
    return h(
      "li",
      {},
      h("label", { class: "pick" }, box, h("span", { class: "name", title: name }, name)),
      h(
        "button",
        { type: "button", class: "only", tabindex: "-1", "data-only": name, "aria-label": `Only ${name}` },
        "only",
      ),
    );
  }

  private toggle(name: string, on: boolean): void {
    const { ns } = this.page.view;
    this.choose(on ? [...ns, name] : ns.filter((n) => n !== name));
  }

  // Changes the selected namespaces. All changes while the chooser is open are stored in one entry of the browser's
  // history.
  private choose(names: readonly string[]): void {
    for (const name of names) if (!this.page.view.ns.includes(name)) rememberRecent("namespaces", name);
    this.page.change({ ns: [...new Set(names)].sort() }, this.hasChanged ? "replace" : "push");
    this.hasChanged = true;
    this.draw();
  }

  private chooseAndClose(names: readonly string[]): void {
    this.choose(names);
    this.onDone();
  }

  private handleKey(e: KeyboardEvent): void {
    const boxes = [this.allCheckbox, ...this.list.querySelectorAll("input")];
    const at = e.target === this.focus ? -1 : boxes.indexOf(e.target as HTMLInputElement);
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) (boxes[at + step] ?? (step < 0 ? this.focus : null))?.focus();
    else if (e.key !== "Enter") return;
    else if (at > 0) this.chooseAndClose([boxes[at]?.value ?? ""]);
    else if (at === 0) this.chooseAndClose([]);
    else if (e.target === this.focus) this.submitText();
    else return;
    e.preventDefault();
  }

  // Handles the Enter key in the text box. It selects the typed names if they are namespaces of the cluster. If the
  // namespaces of the cluster are unknown, valid names are enough. Otherwise, it selects the first match.
  private submitText(): void {
    const typed = namespaces(this.focus.value);
    const first = this.list.querySelector("input")?.value;
    const names = this.availableNames;
    const knownNamespaces = names === null ? null : new Set(names);
    if (typed.length === 0) this.onDone();
    else if (
      typed.every((name) =>
        knownNamespaces === null
          ? isNamespaceName(name) && (first === undefined || typed.length > 1 || first === name)
          : knownNamespaces.has(name),
      )
    )
      this.chooseAndClose(typed);
    else if (first !== undefined) this.chooseAndClose([first]);
  }
}
