// The panel shows the details of one object, live: a title, a status line and tabs. It is beside the table, or fills a
// page of its own.

import { clockTime } from "./age.ts";
import { under } from "./base.ts";
import { byId, h, setText } from "./dom.ts";
import { shared } from "./guest.ts";
import { Held, lastWords } from "./held.ts";
import { sayAnew } from "./said.ts";
import { anewWords, banner, status } from "./status.ts";
import { sayIn } from "./statusview.ts";
import { tabsOf, type Host, type Tab, type TabKind } from "./tabs.ts";
import { compareHref, objectHref } from "./view.ts";

const lateAfter = 2000; // ms

/** The functions of the page that the panel calls when the user operates it. */
export interface Turn {
  /** Navigates to another tab. id: the tab; empty for the first one. */
  tab(id: string): void;
  /** Closes the panel; null if the panel fills a page of its own. */
  readonly close: (() => void) | null;
}

export class Panel {
  private readonly held: Held;
  private readonly kinds: readonly TabKind[];
  private readonly strip = h("div", { class: "tabs", role: "tablist", "aria-label": "Object details" });
  private readonly body = h("div", { class: "tab", role: "tabpanel", id: "tab" });
  private readonly words: HTMLElement; // on a page of its own: the status element of the page
  private readonly change = h("span", { class: "change" });
  // How often data was read again. It is used only on a page of its own, because the list page has such a text already.
  private readonly anew = h("span", { class: "asof", hidden: true });
  private readonly banner = h("p", { class: "banner", role: "status", hidden: true });
  private readonly timer: ReturnType<typeof setInterval>;
  private tab: Tab | null = null;
  private selected = "";
  // Counts how often a tab was opened; a tab is dropped if another one was opened while its code loaded.
  private opened = 0;
  private frame = 0;
  private failed = ""; // why the tab cannot be shown; empty if it can
  private late: ReturnType<typeof setTimeout> | undefined; // reports that a tab takes long to load

  constructor(
    private readonly root: HTMLElement,
    private readonly host: Host,
    tab: string,
    private readonly turn: Turn,
  ) {
    const { kind, name } = host;
    const alone = turn.close === null;
    this.words = alone ? byId("status") : h("span", { class: "status", role: "status" });
    this.kinds = tabsOf(kind);
    this.strip.append(...this.kinds.map((t) => {
      const button = h("button", { type: "button", role: "tab", id: `tab-${t.id}`, "data-tab": t.id }, t.label);
      button.addEventListener("click", () => turn.tab(t.id === this.kinds[0]?.id ? "" : t.id));
      return button;
    }));
    this.strip.addEventListener("keydown", (e) => this.walk(e));
    const other = h(
      "a",
      { class: "compare-link", href: compareHref(kind.ref, name), title: "Compare with another object" },
      "Compare with…",
    );
    const bar = h(
      "div",
      { class: "bar told" },
      ...(alone ? [] : [this.words]),
      this.change,
      h("span", { class: "spring" }),
      ...(alone ? [this.anew] : []),
      ...(shared() === null ? [other] : []),
    );
    if (alone) root.prepend(this.strip, bar, this.banner);
    else root.replaceChildren(this.title(), this.strip, bar, this.banner);
    if (!alone) this.place();
    this.held = new Held(host.live, host.now, kind.ref, name, () => this.schedule(), sayAnew);
    this.timer = setInterval(() => this.tab?.tick?.(), 1000);
    this.show(tab);
    this.draw();
  }

  private title(): HTMLElement {
    const { kind, name } = this.host;
    const text = name.ns === "" ? name.name : `${name.ns}/${name.name}`;
    const button = h(
      "button",
      { type: "button", class: "icon close", "aria-label": "Close", title: "Close (Esc)" },
      "×",
    );
    button.addEventListener("click", () => this.turn.close?.());
    const page = h("a", { href: objectHref(kind.ref, name), class: "page-link" }, "Full page");
    return h(
      "div",
      { class: "bar title" },
      h("span", { class: "kind" }, kind.kind),
      h("h2", { title: text }, text),
      h("span", { class: "spring" }),
      page,
      button,
    );
  }

  close(): void {
    this.opened++;
    clearTimeout(this.late);
    this.held.close();
    this.tab?.close();
    clearInterval(this.timer);
    cancelAnimationFrame(this.frame);
    this.root.replaceChildren();
  }

  /** Opens the tab with this id, or the first one if there is no such tab. If it is open, it reads the URL again. */
  show(id: string): void {
    const kind = this.kinds.find((t) => t.id === id) ?? this.kinds[0];
    if (kind === undefined) return;
    if (kind.id === this.selected && this.failed === "") return this.tab?.look?.();
    this.selected = kind.id;
    for (const b of this.strip.children) {
      const on = (b as HTMLElement).dataset["tab"] === kind.id;
      b.setAttribute("aria-selected", String(on));
      (b as HTMLElement).tabIndex = on ? 0 : -1;
    }
    this.body.setAttribute("aria-labelledby", `tab-${kind.id}`);
    this.tab?.close();
    this.tab = null;
    this.failed = "";
    const mine = ++this.opened;
    clearTimeout(this.late);
    this.late = setTimeout(
      () => this.fail(`${kind.label} is still loading. If it does not appear, reload the page.`),
      lateAfter,
    );
    Promise.all([kind.load(), style()])
      .then(([Kind]) => {
        if (mine !== this.opened) return;
        this.tab = new Kind(this.host);
        clearTimeout(this.late);
        this.failed = "";
        this.schedule();
      })
      // Loading fails, for example, if the server was upgraded and has other script files now.
      .catch(
        () => mine === this.opened && this.fail(`${kind.label} could not be loaded. Reload the page to try again.`),
      );
  }

  private fail(why: string): void {
    clearTimeout(this.late);
    this.failed = why;
    this.body.replaceChildren(); // Remove the content of the previous tab.
    this.schedule();
  }

  /** Moves the keyboard focus to the open tab. */
  focus(): void {
    document.getElementById(`tab-${this.selected}`)?.focus({ preventScroll: true });
  }

  /** Opens the tab that belongs to this key. */
  press(key: string): void {
    const kind = this.kinds.find((t) => t.key === key);
    if (kind !== undefined) this.turn.tab(kind === this.kinds[0] ? "" : kind.id);
  }

  /** Whether the server refused the subscription. A new attempt may succeed. */
  get refused(): boolean {
    return this.held.known().problem !== null;
  }

  /** Reconnects the subscription after a new connection or some time, and loads a failed tab again. */
  refresh(): void {
    this.held.reconnected();
    if (this.failed !== "") this.show(this.selected);
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const { held } = this;
    const now = this.host.now();
    const { ns, name } = this.host.name;
    const known = held.known();
    const s = status(known, now);
    const gone = held.gone !== null && held.object !== null;
    const absent = held.missing && s.tone === "live";
    setText(this.words, gone ? "Deleted" : absent ? "Not found" : s.words);
    this.words.dataset["state"] = gone ? "bad" : absent ? "warn" : s.tone;
    const above = gone
      ? `Deleted${held.gone === "" ? "" : ` at ${clockTime(held.gone ?? "", now)}`}. Showing its last state.`
      : absent
        ? `${ns === "" ? name : `${ns}/${name}`} does not exist. It will appear here if created.`
        : this.why(banner(known, now));
    this.banner.hidden = above === null;
    setText(this.banner, above ?? "");
    sayIn(this.anew, anewWords(this.host.live.anew));
    this.anew.title = this.host.live.anewWhy;
    setText(this.change, held.far !== "" ? held.far : held.last === null ? "" : lastWords(held.last, now));
    this.root.toggleAttribute("data-gone", gone);
    this.root.toggleAttribute("data-stale", s.tone !== "live");
    if (this.tab === null || (held.object === null && !this.body.isConnected)) return;
    // On a page of its own, the text rendered by the server stays until newer data has arrived.
    if (!this.body.isConnected) {
      this.root.querySelector(":scope > pre.yaml, :scope > .note")?.remove();
      this.place();
    }
    if (this.body.firstElementChild !== this.tab.element) this.body.replaceChildren(this.tab.element);
    this.tab.show({ object: held.object, health: held.health, last: held.last, gone, known });
  }

  // Returns the banner text; known is the text about the connection and the data. A tab that failed to load has
  // priority, except while the connection is down.
  private why(known: string | null): string | null {
    return this.host.live.connection === "open" ? this.failed || known : (known ?? (this.failed || null));
  }

  // Adds the element that contains the open tab to the page.
  private place(): void {
    this.root.append(this.body);
    for (const b of this.strip.children) b.setAttribute("aria-controls", this.body.id);
  }

  private walk(e: KeyboardEvent): void {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = this.kinds.findIndex((t) => t.id === this.selected) + step;
    const next = this.strip.children[(at + this.kinds.length) % this.kinds.length] as HTMLElement;
    e.preventDefault();
    next.focus();
    next.click();
  }
}

let styled: Promise<void> | undefined;

// Loads the style sheet of the tabs. Pages without an object do not need it.
function style(): Promise<void> {
  return (styled ??= new Promise((resolve, reject) => {
    const link = h("link", { rel: "stylesheet", href: under("/static/tabs.css") });
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      styled = undefined;
      link.remove();
      reject(new Error("the style sheet of the tabs could not be loaded"));
    });
    document.head.append(link);
  }));
}
