// The resource picker, the list of resources at the left. It starts with the HTML that the server rendered, and then
// updates it from the server's list of resources. That list is in display order, and each resource names its section.
// The element of a resource is reused as long as the resource exists, so that focus and folded groups stay. Pinned
// resources are listed a second time at the top.

import { under } from "./base.ts";
import { arrange, digits, h, setText } from "./dom.ts";
import { KindFeed, type KindWatcher } from "./kindfeed.ts";
import { nearness, plural, type Kind, type Listed } from "./kinds.ts";
import type { Live } from "./live.ts";
import { store, stored, storedElsewhere, toggled } from "./stored.ts";

const pinned = "Pinned"; // cannot collide with an API group, which is in lower case

export class Picker implements KindWatcher {
  private readonly kinds = new Map<string, Kind>();
  private list: readonly Listed[] = [];
  private problems: ReadonlyMap<string, string> = new Map();
  // By ref; null before the server has sent any: use the counts in the markup.
  private counts: ReadonlyMap<string, number> | null = null;
  private readonly feed: KindFeed;
  private selected = "";
  /** Called when the set of watched resources has changed. */
  onWatched: () => void = () => {};
  // The count of the selected resource according to the table, which may be newer; null if not known.
  private own: number | null = null;
  private readonly none = h("p", { class: "picker-none", role: "status" });

  constructor(
    private readonly filter: HTMLInputElement,
    private readonly groups: HTMLElement,
    onDate: (header: string | null) => void,
    onBuild: (build: string) => void,
    private readonly told: () => void,
    onStranger: () => void,
  ) {
    this.feed = new KindFeed(this, onDate, onBuild, onStranger);
    for (const a of this.links()) {
      const ref = a.dataset["ref"] ?? "";
      this.kinds.set(ref, {
        ref,
        kind: a.dataset["kind"] ?? "",
        resource: ref.split("/")[2] ?? "",
        namespaced: a.dataset["namespaced"] !== undefined,
      });
    }
    groups.before(this.none);
    this.fold();
    void import("./hint.ts").then(({ Hint }) => new Hint(groups));
    filter.addEventListener("input", () => this.applyFilter());
    filter.addEventListener("keydown", (e) => {
      if (e.key === "Enter") this.nearest()?.click();
      if (e.key === "ArrowDown") this.matching()[0]?.focus();
      if (e.key !== "Escape" || e.isComposing || filter.value === "") return;
      e.preventDefault();
      filter.value = "";
      this.applyFilter();
    });
    groups.addEventListener("keydown", (e) => this.walk(e));
    groups.addEventListener("click", (e) => this.clicked(e));
  }

  /** Starts to update the list from the server. */
  start(live: Live): void {
    this.feed.start(live);
    void this.feed.poll();
    storedElsewhere("pins", () => this.draw());
  }

  /** Whether the server answers plain HTTP requests; null if not known yet. */
  get reached(): boolean | null {
    return this.feed.reached;
  }

  /** Returns how many objects a resource had at the last count; 0 if they were not counted. */
  countOf(ref: string): number {
    if (this.counts !== null) return this.counts.get(ref) ?? 0;
    const a = this.links().find((l) => l.dataset["ref"] === ref);
    return Number((a?.querySelector(".count")?.textContent ?? "").replaceAll(",", ""));
  }

  /** Returns a resource by its ref, even if it is no longer listed; undefined if it never was. */
  get(ref: string): Kind | undefined {
    return this.kinds.get(ref);
  }

  /** Returns the resources that are listed now. Watched resources include their counts. */
  all(): Listed[] {
    return this.list.map((k) => ({ ...k, count: this.counts?.get(k.ref) ?? null }));
  }

  /** Returns the refs of the pinned resources. */
  pins(): readonly string[] {
    return stored("pins");
  }

  /** Pins or unpins a resource. The default is the focused resource, or else the one that the page shows. */
  pin(
    ref = document.activeElement?.closest<HTMLElement>("#picker-groups a[data-ref]")?.dataset["ref"] ?? this.selected,
  ): void {
    store("pins", toggled(this.pins(), ref));
    this.draw();
  }

  /** Returns the resource for the group of an apiVersion and a kind, in any version; undefined if there is none. */
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
    this.own = null;
    this.mark();
  }

  private mark(): void {
    const ref = this.selected;
    for (const a of this.links()) {
      if (a.dataset["ref"] === ref) a.setAttribute("aria-current", "page");
      else a.removeAttribute("aria-current");
    }
  }

  /** Sets the count of the selected resource, so that the picker always shows the same number as the table. */
  setCount(count: number | null): void {
    this.own = count;
    if (count !== null) this.drawCounts(this.selected);
  }

  /** Sets whether the counts are marked as possibly out of date. */
  stale(is: boolean): void {
    this.groups.toggleAttribute("data-stale", is);
  }

  private links(): HTMLAnchorElement[] {
    return [...this.groups.querySelectorAll<HTMLAnchorElement>("a[data-ref]")];
  }

  private matching(): HTMLAnchorElement[] {
    return this.links().filter((a) => !a.closest("[hidden]"));
  }

  // Returns the link of the resource that matches the filter text best; of several equally good ones, the first.
  private nearest(): HTMLAnchorElement | undefined {
    const terms = this.terms();
    const near = (a: HTMLAnchorElement): number => {
      const ref = a.dataset["ref"] ?? "";
      const known = this.list.find((k) => k.ref === ref) ?? this.kinds.get(ref);
      // In the server's markup, short names such as "po" cannot be told from the other words.
      return known === undefined ? 3 : nearness({ short: (a.dataset["words"] ?? "").split(" "), ...known }, terms);
    };
    return this.matching()
      .map((a) => ({ a, near: near(a) }))
      .sort((a, b) => a.near - b.near)[0]?.a;
  }

  private terms(): string[] {
    return this.filter.value
      .toLowerCase()
      .split(/\s+/)
      .filter((t) => t !== "");
  }

  /**
    * Returns the watched resources, which are those with a count; null if the counts are not known. Pinned resources
    * are first, the others follow in display order.
   */
  watched(): readonly Kind[] | null {
    const { counts } = this;
    if (counts === null) return null;
    const listed = [...this.pins(), ...this.list.map((k) => k.ref), ...counts.keys()];
    return [...new Set(listed)]
      .filter((ref) => counts.has(ref))
      .map((ref) => this.kinds.get(ref))
      .filter((k) => k !== undefined);
  }

  counted(counts: ReadonlyMap<string, number>): void {
    const same = this.counts?.size === counts.size && [...counts.keys()].every((ref) => this.counts?.has(ref));
    this.counts = counts;
    this.drawCounts();
    if (!same) this.onWatched();
  }

  private drawCounts(ref?: string): void {
    for (const a of this.links()) {
      const own = a.dataset["ref"] ?? "";
      if (ref !== undefined && own !== ref) continue;
      const count = (own === this.selected ? this.own : null) ?? this.counts?.get(own) ?? null;
      if (count !== null || this.counts !== null)
        setText(a.children[1] as Element, count === null ? "" : digits(count));
    }
  }

  listed(kinds: readonly Listed[], problems: ReadonlyMap<string, string>): void {
    this.list = kinds;
    this.problems = problems;
    for (const k of kinds) this.kinds.set(k.ref, k);
    this.draw();
    this.told();
  }

  private draw(): void {
    if (this.list.length === 0) return; // Keep the markup from the server.
    const pins = this.pins();
    const sections = new Map<string, Listed[]>();
    const up = pins.map((ref) => this.list.find((k) => k.ref === ref)).filter((k) => k !== undefined);
    if (up.length > 0) sections.set(pinned, up);
    for (const k of this.list) {
      const list = sections.get(k.section);
      if (list === undefined) sections.set(k.section, [k]);
      else list.push(k);
    }
    for (const group of this.problems.keys()) if (!sections.has(group)) sections.set(group, []);
    const old = new Map(
      [...this.groups.children].map((e) => [(e as HTMLElement).dataset["group"] ?? "", e as HTMLElement]),
    );
    arrange(
      this.groups,
      [...sections].map(([name, list]) => {
        const group =
          old.get(name) ??
          h(
            "details",
            { class: "group", "data-group": name, open: stored("folded").includes(name) ? null : true },
            h("summary", {}, name),
            h("ul"),
          );
        this.drawProblem(group, this.problems.get(name) ?? "");
        const ul = group.querySelector("ul") as HTMLUListElement;
        const lines = new Map([...ul.children].map((li) => [li.querySelector("a")?.dataset["ref"] ?? "", li]));
        arrange(
          ul,
          list.map((k) => this.line(lines.get(k.ref), k, pins.includes(k.ref))),
        );
        return group;
      }),
    );
    this.drawCounts();
    this.applyFilter();
    this.mark();
  }

  private drawProblem(group: HTMLElement, reason: string): void {
    const summary = group.querySelector("summary") as HTMLElement;
    summary.toggleAttribute("data-problem", reason !== "");
    let p = group.querySelector(".group-problem");
    if (reason === "") return p?.remove();
    if (p === null) summary.after((p = h("p", { class: "group-problem" })));
    setText(p, reason);
  }

  private line(old: Element | undefined, k: Listed, pin: boolean): Element {
    const a =
      old?.querySelector("a") ??
      h(
        "a",
        { href: under(`/r/${k.ref}`), "data-ref": k.ref },
        h("span", { class: "kind" }),
        h("span", { class: "count" }),
      );
    const li = old ?? h("li", {}, a);
    const name = plural(k);
    setText(a.children[0] as Element, name);
    // Two API groups may have the same kind, as with Events. Add the group to the label of the one outside "core".
    const twice = k.group !== "core" && this.list.some((other) => other !== k && other.kind === k.kind);
    if (twice) (a.children[0] as HTMLElement).dataset["of"] = k.group;
    a.dataset["words"] = `${name.toLowerCase()} ${k.words}`;
    a.dataset["kind"] = k.kind;
    a.dataset["state"] = k.state;
    a.toggleAttribute("data-namespaced", k.namespaced);
    const well = k.state === "" || k.state === "live" || k.state === "syncing";
    const where = k.namespaces === 0 ? "" : `, in ${digits(k.namespaces)} of the namespaces`;
    const words = `${name} (${k.ref})${where}`;
    // If the resource has a problem, use this page's own tooltip, because that appears on keyboard focus too.
    a.title = well ? words : "";
    const state = k.state === "absent" ? "not available" : k.state;
    if (well) delete a.dataset["hint"];
    else a.dataset["hint"] = `${words}: ${state}${k.reason === "" ? "" : `. ${k.reason}`}`;
    const star = li.querySelector("button") ?? h("button", { type: "button", class: "pin", tabindex: "-1" });
    if (!star.isConnected) li.append(star);
    star.setAttribute("aria-pressed", String(pin));
    star.setAttribute("aria-label", `Pin ${name}${twice ? ` of ${k.group}` : ""}`);
    star.title = pin ? "Unpin (p)" : "Pin (p)";
    return li;
  }

  private clicked(e: Event): void {
    const at = e.target instanceof Element ? e.target : this.groups;
    const star = at.closest("button.pin");
    if (star !== null) return this.pin(star.closest("li")?.querySelector("a")?.dataset["ref"] ?? "");
    const summary = at.closest("summary");
    const group = summary?.closest("details");
    // While the filter has a text, groups are opened by the filter, not by the user, so their state is not stored.
    if (group == null || this.filter.value.trim() !== "") return;
    const name = group.dataset["group"] ?? "";
    store("folded", [...stored("folded").filter((n) => n !== name), ...(group.open ? [name] : [])]);
  }

  private fold(): void {
    const folded = stored("folded");
    for (const group of this.groups.children)
      (group as HTMLDetailsElement).open = !folded.includes((group as HTMLElement).dataset["group"] ?? "");
  }

  private applyFilter(): void {
    const terms = this.terms();
    for (const a of this.links()) {
      const words = a.dataset["words"] ?? "";
      const li = a.closest("li");
      if (li) li.hidden = !terms.every((t) => words.includes(t));
    }
    this.fold();
    let found = terms.length === 0;
    for (const group of this.groups.children) {
      const has = group.querySelector("li:not([hidden])") !== null;
      (group as HTMLElement).hidden = terms.length > 0 && !has;
      if (terms.length > 0 && has) (group as HTMLDetailsElement).open = true;
      found ||= has;
    }
    setText(this.none, found ? "" : `No resources match “${this.filter.value.trim()}”.`);
  }

  private walk(e: KeyboardEvent): void {
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
