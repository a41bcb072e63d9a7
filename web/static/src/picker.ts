// The picker of kinds. The server's markup is its first state; from then on it
// follows what the server knows, which comes in the order to be shown, each kind
// with its section. Elements are kept while their kind stays, so that focus and
// folded groups stay as well.

import { arrange, digits, h, setText } from "./dom.ts";
import { KindFeed, type KindWatcher } from "./kindfeed.ts";
import type { Kind, Listed } from "./kinds.ts";
import type { Live } from "./live.ts";

export class Picker implements KindWatcher {
  private readonly kinds = new Map<string, Kind>();
  private readonly counts = new Map<string, number>();
  private readonly feed: KindFeed;
  private selected = "";
  private own: number | null = null; // the count of the selected kind, where the page knows better

  constructor(
    private readonly filter: HTMLInputElement,
    private readonly groups: HTMLElement,
    onDate: (header: string | null) => void,
  ) {
    this.feed = new KindFeed(this, onDate);
    for (const a of this.links()) {
      const ref = a.dataset["ref"] ?? "";
      const count = Number((a.querySelector(".count")?.textContent ?? "").replaceAll(",", ""));
      if (count > 0) this.counts.set(ref, count);
      this.kinds.set(ref, { ref, kind: a.querySelector(".kind")?.textContent ?? "", resource: ref.split("/")[2] ?? "", namespaced: a.dataset["namespaced"] !== undefined });
    }
    filter.addEventListener("input", () => this.applyFilter());
    filter.addEventListener("keydown", (e) => {
      if (e.key === "Enter") this.matching()[0]?.click();
      if (e.key === "ArrowDown") this.matching()[0]?.focus();
    });
    groups.addEventListener("keydown", (e) => this.walk(e));
  }

  /** Begins to follow the server. */
  start(live: Live): void {
    this.feed.start(live);
    void this.feed.poll();
  }

  /** How many objects of a kind there were when they were counted last, 0 where they were not. */
  countOf(ref: string): number {
    return this.counts.get(ref) ?? 0;
  }

  /** What is known of a kind; undefined for one that was never listed. */
  get(ref: string): Kind | undefined {
    return this.kinds.get(ref);
  }

  /** The kind of an object by its apiVersion and kind, in whichever version it is listed; undefined as above. */
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

  /** The selected kind's count as the table has it, so that the two never differ. */
  setCount(count: number | null): void {
    this.own = count;
    if (count === null) return;
    const a = this.links().find((l) => l.dataset["ref"] === this.selected);
    if (a?.lastElementChild) setText(a.lastElementChild, digits(count));
  }

  private links(): HTMLAnchorElement[] {
    return [...this.groups.querySelectorAll<HTMLAnchorElement>("a[data-ref]")];
  }

  private matching(): HTMLAnchorElement[] {
    return this.links().filter((a) => !a.closest("[hidden]"));
  }

  counted(kinds: readonly Listed[]): void {
    const links = new Map(this.links().map((a) => [a.dataset["ref"] ?? "", a]));
    for (const k of kinds) {
      const a = links.get(k.ref);
      if (a !== undefined) this.drawCount(a, k);
    }
  }

  listed(kinds: readonly Listed[], problems: ReadonlyMap<string, string>): void {
    const sections = new Map<string, Listed[]>();
    for (const k of kinds) {
      this.kinds.set(k.ref, k);
      const list = sections.get(k.section);
      if (list === undefined) sections.set(k.section, [k]);
      else list.push(k);
    }
    for (const group of problems.keys()) if (!sections.has(group)) sections.set(group, []);
    const old = new Map([...this.groups.children].map((e) => [(e as HTMLElement).dataset["group"] ?? "", e as HTMLElement]));
    const links = new Map(this.links().map((a) => [a.dataset["ref"] ?? "", a]));
    arrange(this.groups, [...sections].map(([name, list]) => {
      const group = old.get(name) ?? h("details", { class: "group", "data-group": name, open: true }, h("summary", {}, name), h("ul"));
      this.drawProblem(group, problems.get(name) ?? "");
      const ul = group.querySelector("ul") as HTMLUListElement;
      arrange(ul, list.map((k) => {
        const a = links.get(k.ref) ?? h("a", { href: `/r/${k.ref}`, "data-ref": k.ref }, h("span", { class: "kind" }), h("span", { class: "count" }));
        this.drawKind(a, k);
        return a.closest("li") ?? h("li", {}, a);
      }));
      return group;
    }));
    this.applyFilter();
    this.mark();
  }

  private drawProblem(group: HTMLElement, reason: string): void {
    const summary = group.querySelector("summary") as HTMLElement;
    summary.toggleAttribute("data-problem", reason !== "");
    summary.title = reason;
    let p = group.querySelector(".group-problem");
    if (reason === "") return p?.remove();
    if (p === null) summary.after((p = h("p", { class: "group-problem" })));
    setText(p, reason);
  }

  private drawKind(a: HTMLAnchorElement, k: Listed): void {
    setText(a.children[0] as Element, k.kind);
    this.drawCount(a, k);
    a.dataset["words"] = k.words;
    a.dataset["state"] = k.state;
    a.toggleAttribute("data-namespaced", k.namespaced);
    const well = k.state === "" || k.state === "live" || k.state === "syncing";
    const where = k.namespaces === 0 ? "" : `, in ${digits(k.namespaces)} of the namespaces`;
    a.title = `${k.kind} (${k.ref})${where}${well ? "" : `: ${k.state}${k.reason === "" ? "" : `. ${k.reason}`}`}`;
  }

  private drawCount(a: HTMLAnchorElement, k: Listed): void {
    if (k.count !== null) this.counts.set(k.ref, k.count);
    const count = (k.ref === this.selected ? this.own : null) ?? k.count;
    setText(a.children[1] as Element, count === null ? "" : digits(count));
  }

  private applyFilter(): void {
    const terms = this.filter.value.toLowerCase().split(/\s+/).filter((t) => t !== "");
    for (const a of this.links()) {
      const words = a.dataset["words"] ?? "";
      const li = a.closest("li");
      if (li) li.hidden = !terms.every((t) => words.includes(t));
    }
    for (const group of this.groups.children) {
      (group as HTMLElement).hidden = terms.length > 0 && group.querySelector("li:not([hidden])") === null;
    }
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
