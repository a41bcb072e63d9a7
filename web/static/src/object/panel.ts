// The panel shows the details of one object, either next to the table or on a page of its own.

import { clockTime } from "../text/age.ts";
import { byId, h, setAttr, setText } from "../ui/dom.ts";
import { ObjectStore, lastChangeText } from "../model/object-store.ts";
import { showReloadToast } from "../ui/toast.ts";
import { reloadsText, bannerText, status } from "../model/status.ts";
import { showText } from "../ui/status-view.ts";
import { loadTabStyle } from "../ui/tab-style.ts";
import { loadTab } from "./load-tab.ts";
import { tabsFor } from "./tabs.ts";
import type { TabHost, Tab, TabDefinition } from "./tab.ts";
import { objectHref, toggledLog, type ObjectName } from "../model/view.ts";

const slowLoadDelay = 2000; // ms until a loading tab shows a message

interface PanelActions {
  /** Opens another tab. An empty id selects the first tab. */
  tab(id: string): void;
  /** Closes the panel. null if the panel fills a page of its own, and therefore cannot be closed. */
  readonly close: (() => void) | null;
}

const fullName = ({ ns, name }: ObjectName): string => (ns === "" ? name : `${ns}/${name}`);

export class Panel {
  private readonly store: ObjectStore;
  private readonly kinds: readonly TabDefinition[];
  private readonly tabStrip = h("div", { class: "tabs", role: "tablist", "aria-label": "Object details" });
  private readonly body = h("div", { class: "tab", role: "tabpanel", id: "tab" });
  private readonly statusElement: HTMLElement; // shows the status; on an object page, the page's own element
  private readonly verdict = h("span", { class: "verdict", hidden: true }); // the severity, in the title
  private readonly lastChangeElement = h("span", { class: "change" });
  // Shows how many times data was reloaded, but only on an object page. Next to a list, an element of the list page
  // shows this text.
  private readonly reloads = h("span", { class: "asof", hidden: true });
  private readonly banner = h("p", { class: "banner", role: "status", hidden: true });
  private readonly timer: ReturnType<typeof setInterval>;
  private tab: Tab | null = null;
  private selected = "";
  // Increases when a tab is opened. A tab whose code loads too late, after another tab was opened, is discarded.
  private openCount = 0;
  private frame = 0;
  private failure = ""; // message in place of a tab that could not be loaded
  private readonly failureNote = h("p", { class: "note", role: "status" });
  private slowLoadTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly host: TabHost,
    tab: string,
    private readonly actions: PanelActions,
  ) {
    const { kind, name } = host;
    const isFullPage = actions.close === null;
    this.statusElement = isFullPage ? byId("status") : h("span", { class: "status", role: "status" });
    this.kinds = tabsFor(kind);
    this.tabStrip.append(
      ...this.kinds.map((t) => {
        const button = h("button", { type: "button", role: "tab", id: `tab-${t.id}`, "data-tab": t.id }, t.label);
        button.addEventListener("click", () => actions.tab(t === this.kinds[0] ? "" : t.id));
        return button;
      }),
    );
    this.tabStrip.addEventListener("keydown", (e) => this.moveFocus(e));
    const tabRow = h("div", { class: "tab-row" }, this.tabStrip, this.lastChangeElement);
    if (isFullPage) {
      byId("heading").after(this.verdict);
      this.addTitleTools(byId("heading"), byId("asof"));
      tabRow.append(this.reloads);
      root.prepend(tabRow, this.banner);
    } else {
      root.replaceChildren(this.title(), tabRow, this.banner);
      this.attachBody();
    }
    this.store = new ObjectStore(host.live, host.now, kind.ref, name, () => this.schedule(), showReloadToast);
    this.timer = setInterval(() => this.tab?.tick?.(), 1000);
    this.show(tab);
    this.draw();
  }

  private title(): HTMLElement {
    const { kind, name } = this.host;
    const text = fullName(name);
    const button = h(
      "button",
      { type: "button", class: "icon close", "aria-label": "Close", title: "Close (Esc)" },
      "×",
    );
    button.addEventListener("click", () => this.actions.close?.());
    const heading = h("h2", { title: text }, text);
    this.addTitleTools(heading, button);
    // If both parts do not fit into one line, the second one is above the first one.
    return h(
      "div",
      { class: "bar title" },
      h("div", { class: "title-name" }, h("span", { class: "kind" }, kind.kind), heading),
      h(
        "div",
        { class: "title-end" },
        this.verdict,
        this.statusElement,
        h("span", { class: "spring" }),
        h("a", { href: objectHref(kind.ref, name), class: "page-link" }, "Full page"),
        button,
      ),
    );
  }

  private addTitleTools(heading: HTMLElement, next: HTMLElement): void {
    void import("./title-tools.ts").then((m) => m.addTitleTools(heading, next, this.host, () => this.store.object));
  }

  close(): void {
    this.openCount++;
    clearTimeout(this.slowLoadTimer);
    this.store.close();
    this.tab?.close();
    clearInterval(this.timer);
    cancelAnimationFrame(this.frame);
    this.root.replaceChildren();
  }

  /** Opens the tab with this id, or the first tab if there is none. A tab that is already open reads the URL again. */
  show(id: string): void {
    const kind = this.kinds.find((t) => t.id === id) ?? this.kinds[0];
    if (kind === undefined) return;
    if (kind.id === this.selected && this.failure === "") return this.tab?.urlChanged?.();
    this.selected = kind.id;
    const hadFocus = this.tabStrip.contains(document.activeElement);
    for (const b of this.tabStrip.children) {
      const on = (b as HTMLElement).dataset["tab"] === kind.id;
      b.setAttribute("aria-selected", String(on));
      (b as HTMLElement).tabIndex = on ? 0 : -1;
    }
    if (hadFocus) this.focus(); // Otherwise, the focus would stay on the button of the previous tab.
    this.body.setAttribute("aria-labelledby", `tab-${kind.id}`);
    this.tab?.close();
    this.tab = null;
    this.failure = "";
    this.failureNote.remove();
    const openNumber = ++this.openCount;
    clearTimeout(this.slowLoadTimer);
    this.slowLoadTimer = setTimeout(
      () => this.showFailure(`The ${kind.label} tab is still loading. Reload the page to try again.`),
      slowLoadDelay,
    );
    Promise.all([loadTab(kind.id, this.host.kind), loadTabStyle()])
      .then(([Kind]) => {
        if (openNumber !== this.openCount) return;
        this.tab = new Kind(this.host);
        clearTimeout(this.slowLoadTimer);
        this.failure = "";
        this.schedule();
      })
      // Loading can fail after an upgrade of the server, because the new version has other script files.
      .catch(
        () =>
          openNumber === this.openCount &&
          this.showFailure("The tab could not be loaded. Reload the page to try again."),
      );
  }

  private showFailure(reason: string): void {
    clearTimeout(this.slowLoadTimer);
    this.failure = reason;
    setText(this.failureNote, reason);
    this.body.replaceChildren(this.failureNote);
    this.schedule();
  }

  focus(): void {
    document.getElementById(`tab-${this.selected}`)?.focus({ preventScroll: true });
  }

  openByKey(key: string): void {
    const kind = this.kinds.find((t) => t.key === key);
    if (kind !== undefined) this.actions.tab(kind === this.kinds[0] ? "" : kind.id);
  }

  /** Switches between the logs of the current and the previous container instances. */
  togglePreviousLog(): void {
    this.host.selectLog(toggledLog(this.host.log(), this.selected));
  }

  /** Whether the server refused the subscription. A later retry can succeed. */
  get isRefused(): boolean {
    return this.store.info().problem !== null;
  }

  /** Is called after a change of the connection. If the open tab failed to load, it is loaded again. */
  refresh(): void {
    this.store.reconnected();
    if (this.failure !== "") this.show(this.selected);
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const { store } = this;
    const now = this.host.now();
    const info = store.info();
    const s = status(info, now);
    const isDeleted = store.deletedAt !== null && store.object !== null;
    const isMissing = store.isMissing && s.level === "live";
    const text = isDeleted ? "Deleted" : isMissing ? "Not found" : s.text;
    // Next to a list, the header already shows "Live", so the panel does not repeat it.
    setText(this.statusElement, s.level === "live" && text === s.text && this.actions.close !== null ? "" : text);
    this.statusElement.dataset["state"] = isDeleted ? "bad" : isMissing ? "warn" : s.level;
    const banner = isDeleted
      ? `Deleted${store.deletedAt === "" ? "" : ` at ${clockTime(store.deletedAt ?? "", now)}`}. ` +
        "Showing its last state."
      : isMissing
        ? `${fullName(this.host.name)} does not exist. It will appear here if created.`
        : this.bannerTextFor(bannerText(info, now));
    showText(this.banner, banner);
    showText(this.reloads, reloadsText(this.host.live.reloadCount));
    this.reloads.title = this.host.live.reloadReason;
    const change = store.progress || (store.last === null ? "" : lastChangeText(store.last, now));
    setText(this.lastChangeElement, change);
    this.lastChangeElement.title = change;
    this.root.toggleAttribute("data-gone", isDeleted);
    this.root.toggleAttribute("data-stale", s.level !== "live");
    if (this.tab === null || (store.object === null && !this.body.isConnected)) return;
    // If the panel fills a page of its own, the server-rendered text stays until newer data has arrived. Now replace
    // it.
    if (!this.body.isConnected) {
      this.root.querySelector(":scope > pre.yaml, :scope > .note")?.remove();
      this.attachBody();
    }
    if (this.body.firstElementChild !== this.tab.element) this.body.replaceChildren(this.tab.element);
    // A verdict on a deleted or unreadable object would be out of date.
    const { severity, sentence, reason } = store.verdict;
    const word = severity !== "none" ? severity : reason === "Unknown" ? reason : null;
    showText(this.verdict, store.object === null || isDeleted ? null : word);
    this.verdict.dataset["severity"] = severity;
    setAttr(this.verdict, "title", sentence);
    this.tab.show({
      object: store.object,
      health: store.health,
      verdict: store.verdict,
      last: store.last,
      isDeleted,
      info,
    });
  }

  // Returns the text of the banner, which is usually `known`. `failure` is the message about a tab that could not be
  // loaded. This message usually replaces the tab. But while the panel shows the server-rendered text, the banner shows
  // `failure`. If the connection is not open, `known` has priority in the banner.
  private bannerTextFor(known: string | null): string | null {
    if (this.body.parentElement !== null) return known;
    return this.host.live.connection === "open" ? this.failure || known : (known ?? (this.failure || null));
  }

  private attachBody(): void {
    this.root.append(this.body);
    for (const b of this.tabStrip.children) b.setAttribute("aria-controls", this.body.id);
  }

  private moveFocus(e: KeyboardEvent): void {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = this.kinds.findIndex((t) => t.id === this.selected) + step;
    const next = this.tabStrip.children[(at + this.kinds.length) % this.kinds.length] as HTMLElement;
    e.preventDefault();
    next.focus();
    next.click();
  }
}
