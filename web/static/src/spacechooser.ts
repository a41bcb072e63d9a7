// The namespace chooser, in which the user can choose several namespaces. While it is open, it subscribes to the
// cluster's namespaces. If the user may not list them, it offers those seen so far, and accepts typed names.

import { digits, h, setText } from "./dom.ts";
import { Feed } from "./feed.ts";
import { sharedSpaces } from "./guest.ts";
import type { ListPage } from "./list.ts";
import type { Live } from "./live.ts";
import type { Content } from "./popover.ts";
import { remember, stored } from "./stored.ts";
import { namespaces } from "./view.ts";

const most = 200; // rows drawn at most

/**
 * Returns the namespaces that contain the typed words, or those of one of several names separated by commas. The chosen
 * ones are first, then the recent ones, then the others.
 */
export function offered(
  known: Iterable<string>,
  chosen: readonly string[],
  recent: readonly string[],
  typed: string,
): string[] {
  const all = new Set([...chosen, ...known]);
  const rank = (ns: string): number => (chosen.includes(ns) ? 0 : recent.includes(ns) ? 1 + recent.indexOf(ns) : 100);
  const either = typed
    .toLowerCase()
    .split(",")
    .map((t) => t.split(/\s+/).filter((w) => w !== ""))
    .filter((words) => words.length > 0);
  return [...all]
    .filter((ns) => either.length === 0 || either.some((words) => words.every((w) => ns.includes(w))))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Whether a text is a valid name for a namespace. */
export const isName = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

export class SpaceChooser implements Content {
  readonly focus = h("input", {
    type: "text",
    placeholder: "Filter or type a name",
    "aria-label": "Filter namespaces",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly all = h("input", { type: "checkbox", "data-all": true });
  private readonly list = h("ul", { class: "pop-list" });
  private readonly note = h("p", { class: "pop-note", role: "status" });
  readonly elements = [
    h("div", { class: "pop-head" }, this.focus),
    h(
      "div",
      { class: "pop-body" },
      h("label", { class: "pick" }, this.all, h("span", { class: "name" }, "All namespaces")),
      this.list,
    ),
    this.note,
  ];
  private readonly feed: Feed | null; // the cluster's namespaces; null for guests, who see only the shared ones
  // The list when the chooser opened; a line does not move when the user chooses it.
  private readonly recent = stored("namespaces");
  private readonly first: readonly string[];
  private readonly shared: readonly string[] | null;
  private moved = false;

  constructor(
    live: Live,
    private readonly page: ListPage,
    private readonly done: () => void,
  ) {
    this.first = page.view.ns;
    const shared = (this.shared = sharedSpaces(page.view.ref));
    this.feed =
      shared !== null
        ? null
        : new Feed(
            live,
            { resource: "core/v1/namespaces" },
            { sort: null, q: "" },
            {
              arrived: () => this.draw(),
              moved: () => this.draw(),
              dropped: () => this.draw(),
              told: () => this.draw(),
            },
            Infinity,
            0,
          );
    this.focus.addEventListener("input", () => this.draw());
    this.all.addEventListener("change", () => this.choose([]));
    this.list.addEventListener("change", (e) => {
      if (e.target instanceof HTMLInputElement) this.toggle(e.target.value, e.target.checked);
    });
    this.list.addEventListener("click", (e) => {
      const only = e.target instanceof Element ? e.target.closest("button")?.dataset["only"] : undefined;
      if (only !== undefined) this.end([only]);
    });
    for (const e of this.elements) e.addEventListener("keydown", (e) => this.press(e));
    this.draw();
  }

  close(): void {
    this.feed?.close();
  }

  private draw(): void {
    const complete = this.feed === null ? this.shared?.length !== 0 : this.feed.rows.complete;
    const state = this.feed?.known().state?.state;
    const ns = this.page.view.ns;
    const known = this.names ?? this.page.seen();
    const typed = this.focus.value.trim();
    const found = offered([...known, ...ns], this.first, this.recent, typed);
    this.all.checked = ns.length === 0;
    this.list.replaceChildren(...found.slice(0, most).map((name) => this.line(name, ns.includes(name))));
    const refused = state === "forbidden" || state === "failed" || state === "absent";
    setText(this.note, this.words(found.length, typed, complete, refused));
  }

  // The names of all namespaces that the viewer can choose; null if they are not known.
  private get names(): readonly string[] | null {
    if (this.feed === null) return this.shared?.length === 0 ? null : this.shared;
    return this.feed.rows.complete ? [...this.feed.rows.all()].map((e) => e.name) : null;
  }

  private words(found: number, typed: string, complete: boolean, refused: boolean): string {
    const why =
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
      if (!complete && names.every(isName)) return `${why}Press Enter to show ${names.join(", ")}.`;
      return `${why}No namespaces match “${typed}”.`;
    }
    if (found > most) return `${why}${digits(found - most)} more: type to filter.`;
    return why !== "" ? `${why}Type any namespace name.` : "Space: add · Enter: only this";
  }

  private line(name: string, on: boolean): HTMLElement {
    const box = h("input", { type: "checkbox", value: name });
    box.checked = on;
    const old =
      this.list.contains(document.activeElement) && (document.activeElement as HTMLInputElement).value === name;
    if (old) queueMicrotask(() => box.focus());
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

  // Changes the chosen namespaces. All choices while the chooser is open share one entry in the browser's history.
  private choose(names: readonly string[]): void {
    for (const name of names) if (!this.page.view.ns.includes(name)) remember("namespaces", name);
    this.page.change({ ns: [...new Set(names)].sort() }, this.moved ? "replace" : "push");
    this.moved = true;
    this.draw();
  }

  private end(names: readonly string[]): void {
    this.choose(names);
    this.done();
  }

  private press(e: KeyboardEvent): void {
    const boxes = [this.all, ...this.list.querySelectorAll("input")];
    const at = e.target === this.focus ? -1 : boxes.indexOf(e.target as HTMLInputElement);
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) (boxes[at + step] ?? (step < 0 ? this.focus : null))?.focus();
    else if (e.key !== "Enter") return;
    else if (at > 0) this.end([boxes[at]?.value ?? ""]);
    else if (at === 0) this.end([]);
    else if (e.target === this.focus) this.enter();
    else return;
    e.preventDefault();
  }

  // Handles the Enter key in the text box. Chooses the typed namespaces if they exist, or if that is not known and they
  // are valid names. Otherwise, it chooses the first match.
  private enter(): void {
    const typed = namespaces(this.focus.value);
    const first = this.list.querySelector("input")?.value;
    const names = this.names;
    const known = names === null ? null : new Set(names);
    if (typed.length === 0) this.done();
    else if (
      typed.every((name) =>
        known === null ? isName(name) && (first === undefined || typed.length > 1 || first === name) : known.has(name),
      )
    )
      this.end(typed);
    else if (first !== undefined) this.end([first]);
  }
}
