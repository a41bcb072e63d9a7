// The resource picker, the list of resources at the left of the page. It updates the server-rendered HTML.

import { withBase } from "../net/base-path.ts";
import { arrangeChildren, h, setAttr, setText } from "../ui/dom.ts";
import { formatInteger } from "../text/format.ts";
import { KindFeed, type KindListener } from "../model/kind-feed.ts";
import { matchRank, plural, type Kind, type ListedKind, type ProblemCounts } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import { storeList, storedList, onListChangedElsewhere, toggleValue } from "../ui/preferences.ts";

const pinned = "Pinned"; // group of the pinned resources; no API group has this name, because those are in lower case

export class Picker implements KindListener {
  private readonly kinds = new Map<string, Kind>();
  private list: readonly ListedKind[] = [];
  /** The resources in API versions that are not preferred. The resource picker does not show them. */
  versions: readonly ListedKind[] = [];
  private problems: ReadonlyMap<string, string> = new Map();
  // Number of objects by resource ref. null until the server has sent counts.
  private counts: ReadonlyMap<string, number> | null = null;
  // The last counts of all namespaces.
  private totals: ReadonlyMap<string, number> | null = null;
  private problemCounts: ReadonlyMap<string, ProblemCounts> = new Map();
  // The resources that had no objects when the server first sent counts, and still have none. They are under "More".
  private empty: ReadonlySet<string> | null = null;
  private readonly feed: KindFeed;
  private selected = "";
  private ns: readonly string[] = [];
  // Whether the counts are those of namespaces that are not selected any more.
  private isOutdated = false;
  /** Called when the server has started or stopped watching resources. */
  onWatched: () => void = () => {};
  // The number of rows in the open list, or null if unknown. It is often more recent than the number in `counts`.
  private selectedCount: number | null = null;
  private readonly noMatchElement = h("p", { class: "picker-none", role: "status" });

  constructor(
    private readonly filter: HTMLInputElement,
    private readonly groups: HTMLElement,
    onDate: (header: string | null) => void,
    onBuild: (build: string) => void,
    private readonly onListed: () => void,
    onLoggedOut: () => void,
  ) {
    this.feed = new KindFeed(this, onDate, onBuild, onLoggedOut);
    for (const a of this.links()) {
      const ref = a.dataset["ref"] ?? "";
      this.kinds.set(ref, {
        ref,
        kind: a.dataset["kind"] ?? "",
        resource: ref.split("/")[2] ?? "",
        namespaced: a.dataset["namespaced"] !== undefined,
      });
    }
    groups.before(this.noMatchElement);
    this.applyFilter();
    const first = new AbortController();
    const addTooltip = (e: Event): void => {
      first.abort();
      void import("../ui/tooltip.ts").then(({ Tooltip }) => new Tooltip(groups, e.target));
    };
    for (const on of ["mouseover", "focusin"]) groups.addEventListener(on, addTooltip, { signal: first.signal });
    filter.addEventListener("input", () => this.applyFilter());
    filter.addEventListener("keydown", (e) => {
      if (e.key === "Enter") this.bestMatch()?.click();
      if (e.key === "ArrowDown") this.matching()[0]?.focus();
      if (e.key !== "Escape" || e.isComposing || filter.value === "") return;
      e.preventDefault();
      filter.value = "";
      this.applyFilter();
    });
    groups.addEventListener("keydown", (e) => this.moveFocus(e));
    groups.addEventListener("click", (e) => this.clicked(e));
  }

  start(live: Live): void {
    this.feed.start(live);
    void this.feed.poll();
    onListChangedElsewhere("pins", () => this.draw());
  }

  /** Whether the server responds to plain HTTP requests. null if that is not known yet. */
  get isReachable(): boolean | null {
    return this.feed.isReachable;
  }

  /** Returns the last known number of objects of a resource in all namespaces, or 0 if it is unknown. */
  countOf(ref: string): number {
    if (this.totals !== null || this.ns.length > 0 || this.isOutdated) return this.totals?.get(ref) ?? 0;
    const a = this.links().find((l) => l.dataset["ref"] === ref);
    return Number((a?.querySelector(".count")?.textContent ?? "").replaceAll(",", ""));
  }

  /** Returns the resource with this ref, even if the cluster no longer serves the resource. */
  get(ref: string): Kind | undefined {
    return this.kinds.get(ref);
  }

  /** Returns the resources that are listed now. Each watched resource includes the number that the picker shows. */
  listedKinds(): ListedKind[] {
    const isOutdated = (k: Kind): boolean => this.isOutdated && k.namespaced;
    return this.list.map((k) => ({ ...k, count: (isOutdated(k) ? null : this.counts?.get(k.ref)) ?? null }));
  }

  pins(): readonly string[] {
    return storedList("pins");
  }

  /**
   * Pins or unpins a resource. The default is the resource with the keyboard focus. If none has the focus, the default
   * is the one that the page shows.
   */
  pin(
    ref = document.activeElement?.closest<HTMLElement>("#picker-groups a[data-ref]")?.dataset["ref"] ?? this.selected,
  ): void {
    storeList("pins", toggleValue(this.pins(), ref));
    this.draw();
  }

  /** Returns the resource of this kind in the API group of apiVersion. The version in apiVersion is ignored. */
  kindOf(apiVersion: string, kind: string): Kind | undefined {
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "core";
    for (const k of this.kinds.values()) if (k.kind === kind && k.ref.startsWith(`${group}/`)) return k;
    return undefined;
  }

  add(kind: Kind): void {
    if (!this.kinds.has(kind.ref)) this.kinds.set(kind.ref, kind);
  }

  select(ref: string): void {
    this.selected = ref;
    this.selectedCount = null;
    this.mark();
    this.drawCounts();
    this.applyFilter();
  }

  /**
   * Sets the namespaces whose objects the resource picker counts; empty for all. Until the server has sent these
   * counts, namespaced resources show none, except the number of rows of the open list.
   */
  setNamespaces(ns: readonly string[]): void {
    if (ns.join() === this.ns.join()) return;
    this.ns = ns;
    this.isOutdated = this.counts !== null;
    this.problemCounts = new Map();
    this.feed.setNamespaces(ns);
    this.drawCounts();
  }

  private mark(): void {
    const ref = this.selected;
    for (const a of this.links()) {
      if (a.dataset["ref"] === ref) a.setAttribute("aria-current", "page");
      else a.removeAttribute("aria-current");
    }
  }

  /** Sets the count of the selected resource, so that picker and table always show the same number. */
  setCount(count: number | null): void {
    const isNew = count !== this.selectedCount;
    this.selectedCount = count;
    if (isNew) this.drawCounts(this.selected);
  }

  /** Sets whether the counts are marked as possibly outdated. */
  setStale(isStale: boolean): void {
    this.groups.toggleAttribute("data-stale", isStale);
  }

  private links(): HTMLAnchorElement[] {
    return [...this.groups.querySelectorAll<HTMLAnchorElement>("a[data-ref]")];
  }

  private matching(): HTMLAnchorElement[] {
    return this.links().filter((a) => !a.closest("[hidden]"));
  }

  // Returns the link of the resource that best matches the filter text. If several match equally, returns the first.
  private bestMatch(): HTMLAnchorElement | undefined {
    const terms = this.terms();
    const rank = (a: HTMLAnchorElement): number => {
      const ref = a.dataset["ref"] ?? "";
      const known = this.list.find((k) => k.ref === ref) ?? this.kinds.get(ref);
      // Rank a link last if its resource is known only from the server-rendered HTML: that HTML lacks the resource's
      // short names, such as "po".
      return known === undefined ? 3 : matchRank({ short: (a.dataset["words"] ?? "").split(" "), ...known }, terms);
    };
    return this.matching()
      .map((a) => ({ a, near: rank(a) }))
      .sort((a, b) => a.near - b.near)[0]?.a;
  }

  private terms(): string[] {
    return this.filter.value
      .toLowerCase()
      .split(/\s+/)
      .filter((t) => t !== "");
  }

  /**
   * Returns the watched resources, pinned ones first, the others in display order. null if the counts are unknown.
   */
  watchedKinds(): readonly Kind[] | null {
    const { counts } = this;
    if (counts === null) return null;
    // The keys of `counts` are the watched resources, because the server sends counts only for these.
    const refs = [...this.pins(), ...this.list.map((k) => k.ref), ...counts.keys()];
    return [...new Set(refs)]
      .filter((ref) => counts.has(ref))
      .map((ref) => this.kinds.get(ref))
      .filter((k) => k !== undefined);
  }

  kindsCounted(counts: ReadonlyMap<string, number>, problems: ReadonlyMap<string, ProblemCounts> | null): void {
    const same = this.counts?.size === counts.size && [...counts.keys()].every((ref) => this.counts?.has(ref));
    this.counts = counts;
    if (this.ns.length === 0) this.totals = counts;
    this.isOutdated = false;
    this.problemCounts = problems ?? this.problemCounts;
    const { empty } = this;
    // A resource without objects in the selected namespaces can have objects in others.
    if (this.ns.length === 0)
      this.empty = new Set([...(empty ?? counts.keys())].filter((ref) => counts.get(ref) === 0));
    this.drawCounts();
    if (this.empty?.size !== empty?.size) this.applyFilter();
    if (!same) this.onWatched();
  }

  private drawCounts(ref?: string): void {
    for (const a of this.links()) {
      const linkRef = a.dataset["ref"] ?? "";
      if (ref !== undefined && linkRef !== ref) continue;
      const isOutdated = this.isOutdated && a.dataset["namespaced"] !== undefined;
      const count =
        (linkRef === this.selected ? this.selectedCount : null) ??
        (isOutdated ? null : this.counts?.get(linkRef)) ??
        null;
      // Until the server sends counts, keep the count in the server-rendered HTML.
      if (count !== null || this.counts !== null)
        setText(a.lastElementChild as Element, count === null ? "" : formatInteger(count));
      if (this.counts !== null) drawProblemCounts(a, this.problemCounts.get(linkRef));
    }
    for (const group of this.groups.children) {
      const failed = [...group.querySelectorAll("a")].reduce(
        (sum, a) => sum + (this.problemCounts.get(a.dataset["ref"] ?? "")?.failed ?? 0),
        0,
      );
      setAttr(group.firstElementChild as Element, "data-failed", failed === 0 ? null : formatInteger(failed));
    }
  }

  kindsListed(
    kinds: readonly ListedKind[],
    problems: ReadonlyMap<string, string>,
    versions: readonly ListedKind[] = [],
  ): void {
    this.list = kinds;
    this.problems = problems;
    this.versions = versions;
    for (const k of [...kinds, ...versions]) this.kinds.set(k.ref, k);
    this.draw();
    this.onListed();
  }

  private draw(): void {
    if (this.list.length === 0) return; // resources unknown; keep the server-rendered HTML
    const pins = this.pins();
    const sections = new Map<string, ListedKind[]>();
    // Pinned resources are also listed at the top, in a group of their own.
    const pinnedKinds = pins.map((ref) => this.list.find((k) => k.ref === ref)).filter((k) => k !== undefined);
    if (pinnedKinds.length > 0) sections.set(pinned, pinnedKinds);
    for (const k of this.list) {
      const list = sections.get(k.section);
      if (list === undefined) sections.set(k.section, [k]);
      else list.push(k);
    }
    for (const group of this.problems.keys()) if (!sections.has(group)) sections.set(group, []);
    // Reuse the HTML elements of resources that are still listed, to preserve the focus and collapsed groups.
    const old = new Map(
      [...this.groups.children].map((e) => [(e as HTMLElement).dataset["group"] ?? "", e as HTMLElement]),
    );
    arrangeChildren(
      this.groups,
      [...sections].map(([name, list]) => {
        const group =
          old.get(name) ??
          h(
            "details",
            { class: "group", "data-group": name, open: storedList("folded").includes(name) ? null : true },
            h("summary", {}, name),
            h("ul"),
          );
        this.drawProblem(group, this.problems.get(name) ?? "");
        const ul = group.querySelector("ul") as HTMLUListElement;
        const lines = new Map([...ul.children].map((li) => [li.querySelector("a")?.dataset["ref"] ?? "", li]));
        const more = lines.get("");
        arrangeChildren(ul, [
          ...list.map((k) => this.kindItem(lines.get(k.ref), k, pins.includes(k.ref))),
          ...(more === undefined ? [] : [more]),
        ]);
        return group;
      }),
    );
    this.drawCounts();
    this.applyFilter();
    this.mark();
  }

  // Reports whether the page must show the API group of a kind, because another group contains the same kind, such as
  // Event. The group "core" is never shown.
  private isAmbiguous({ ref, kind }: Kind): boolean {
    const group = groupOf(ref);
    return group !== "core" && [...this.kinds.values()].some((k) => k.kind === kind && groupOf(k.ref) !== group);
  }

  /** Returns the plural of a kind, with the API group if another group has this kind. The server does the same. */
  nameOf(kind: Kind): string {
    const version = this.versions.some((k) => k.ref === kind.ref) ? ` (${kind.ref.split("/", 2).join("/")})` : "";
    return plural(kind) + (version || (this.isAmbiguous(kind) ? ` (${groupOf(kind.ref)})` : ""));
  }

  private drawProblem(group: HTMLElement, reason: string): void {
    const summary = group.querySelector("summary") as HTMLElement;
    summary.toggleAttribute("data-problem", reason !== "");
    let p = group.querySelector(".group-problem");
    if (reason === "") return p?.remove();
    if (p === null) summary.after((p = h("p", { class: "group-problem" })));
    setText(p, reason);
  }

  private kindItem(old: Element | undefined, k: ListedKind, pin: boolean): Element {
    const a =
      old?.querySelector("a") ??
      // Copy the link in another group, which has an icon.
      (this.links()
        .find((l) => l.dataset["ref"] === k.ref)
        ?.cloneNode(true) as HTMLAnchorElement | undefined) ??
      h(
        "a",
        { href: withBase(`/r/${k.ref}`), "data-ref": k.ref },
        h("span", { class: "kind" }),
        h("span", { class: "count" }),
      );
    const li = old ?? h("li", {}, a);
    li.toggleAttribute("data-rare", k.isRare);
    const name = plural(k);
    setText(a.children[0] as Element, name);
    const isAmbiguous = this.isAmbiguous(k);
    if (isAmbiguous) (a.children[0] as HTMLElement).dataset["of"] = k.group;
    a.dataset["words"] = `${name.toLowerCase()} ${k.searchText}`;
    a.dataset["kind"] = k.kind;
    a.dataset["state"] = k.state;
    a.toggleAttribute("data-namespaced", k.namespaced);
    const isHealthy = k.state === "" || k.state === "live" || k.state === "syncing";
    const namespaceText =
      k.namespaces === 0 ? "" : `, limited to ${formatInteger(k.namespaces)} namespace${k.namespaces === 1 ? "" : "s"}`;
    const text = `${name} (${k.ref})${namespaceText}`;
    // Use the attribute title only if the watch is healthy. Show a problem in the tooltip of ui/tooltip.ts instead,
    // because that tooltip also appears on keyboard focus.
    a.title = isHealthy ? text : "";
    const state = k.state === "absent" ? "not available" : k.state;
    if (isHealthy) delete a.dataset["hint"];
    else a.dataset["hint"] = `${text}: ${state}${k.reason === "" ? "" : `. ${k.reason}`}`;
    const pinButton = li.querySelector("button") ?? h("button", { type: "button", class: "pin", tabindex: "-1" });
    if (!pinButton.isConnected) li.append(pinButton);
    pinButton.setAttribute("aria-pressed", String(pin));
    pinButton.setAttribute("aria-label", `Pin ${name}${isAmbiguous ? ` of ${k.group}` : ""}`);
    pinButton.title = pin ? "Unpin (p)" : "Pin (p)";
    return li;
  }

  private clicked(e: Event): void {
    const at = e.target instanceof Element ? e.target : this.groups;
    const pinButton = at.closest("button.pin");
    if (pinButton !== null) return this.pin(pinButton.closest("li")?.querySelector("a")?.dataset["ref"] ?? "");
    const more = at.closest("button.more");
    if (more !== null) {
      const name = more.closest("details")?.dataset["group"] ?? "";
      storeList("more", toggleValue(storedList("more"), name));
      return this.applyFilter();
    }
    const summary = at.closest("summary");
    const group = summary?.closest("details");
    // While the filter contains text, groups are open because of the filter, so do not store them as opened by the
    // user.
    if (group == null || this.filter.value.trim() !== "") return;
    const name = group.dataset["group"] ?? "";
    storeList("folded", [...storedList("folded").filter((n) => n !== name), ...(group.open ? [name] : [])]);
  }

  private applyFolds(): void {
    const folded = storedList("folded");
    for (const group of this.groups.children)
      (group as HTMLDetailsElement).open = !folded.includes((group as HTMLElement).dataset["group"] ?? "");
  }

  private applyFilter(): void {
    const terms = this.terms();
    for (const a of this.links()) {
      const text = a.dataset["words"] ?? "";
      const li = a.closest("li");
      if (li) li.hidden = !terms.every((t) => text.includes(t)) || (terms.length === 0 && this.isUnderMore(a, li));
    }
    for (const group of this.groups.children) this.drawMore(group as HTMLElement, terms.length > 0);
    this.applyFolds();
    let found = terms.length === 0;
    for (const group of this.groups.children) {
      const has = group.querySelector("li:not([hidden]) a") !== null;
      (group as HTMLElement).hidden = terms.length > 0 && !has;
      if (terms.length > 0 && has) (group as HTMLDetailsElement).open = true;
      found ||= has;
    }
    setText(this.noMatchElement, found ? "" : `No resources match “${this.filter.value.trim()}”.`);
  }

  // Whether a resource is hidden until the user opens "More" of its group: it is rarely used or has no objects.
  private isUnderMore(a: HTMLElement, li: HTMLElement): boolean {
    const ref = a.dataset["ref"] ?? "";
    const group = a.closest("details")?.dataset["group"] ?? "";
    return (
      (li.hasAttribute("data-rare") || this.empty?.has(ref) === true) &&
      ref !== this.selected &&
      !this.problemCounts.has(ref) &&
      group !== pinned &&
      !storedList("more").includes(group)
    );
  }

  private drawMore(group: HTMLElement, isFiltered: boolean): void {
    const ul = group.querySelector("ul") as HTMLElement;
    const isOpen = storedList("more").includes(group.dataset["group"] ?? "");
    const items = [...ul.children] as HTMLElement[];
    const hidden = items.filter((li) => li.hidden && li.querySelector("a") !== null).length;
    let button = ul.querySelector<HTMLButtonElement>(".more");
    if (button === null) {
      if (hidden === 0 && !isOpen) return;
      ul.append(h("li", {}, (button = h("button", { type: "button", class: "more" }))));
    }
    (button.parentElement as HTMLElement).hidden = isFiltered || (hidden === 0 && !isOpen);
    setText(button, isOpen ? "Less" : `More (${hidden})`);
    button.setAttribute("aria-expanded", String(isOpen));
  }

  private moveFocus(e: KeyboardEvent): void {
    const step = e.key === "ArrowDown" || e.key === "j" ? 1 : e.key === "ArrowUp" || e.key === "k" ? -1 : 0;
    if (step === 0 || e.ctrlKey || e.metaKey || e.altKey) return;
    const links = this.matching().filter((a) => (a.closest("details") as HTMLDetailsElement).open);
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (at < 0) return;
    e.preventDefault();
    e.stopPropagation();
    (links[at + step] ?? (step < 0 ? this.filter : null))?.focus();
  }
}

const groupOf = (ref: string): string => ref.slice(0, ref.indexOf("/"));

// Draws the number of failed objects. If no object failed, draws the number of degraded objects. The tooltip shows both
// numbers.
function drawProblemCounts(a: HTMLAnchorElement, counts: ProblemCounts | undefined): void {
  const old = a.querySelector(".problems");
  if (counts === undefined) return old?.remove();
  const e = old ?? h("span", { class: "problems" });
  if (old === null) a.lastElementChild?.before(e);
  const severity = counts.failed > 0 ? "failed" : "degraded";
  const words = `${formatInteger(counts.failed)} failed, ${formatInteger(counts.degraded)} degraded`;
  setAttr(e, "data-severity", severity);
  setAttr(e, "title", words);
  setText(e, formatInteger(counts[severity]));
}
