// A minimal document for tests. Importing this file replaces the global document. Animation frames run only when the
// test calls frame().
export class Part {
  private nodes: (Part | string)[] = [];
  private parent: Part | null = null;
  private readonly attributes = new Map<string, string>();
  private readonly listeners: { type: string; run: (e: object) => void }[] = [];
  readonly dataset: Record<string, string> = {};
  readonly style: Record<string, string> = {};
  hidden = false;
  disabled = false;
  value = "";
  scrollTop = 0;
  clientHeight = 100;
  clientWidth = 100;
  scrollHeight = 100;
  offsetHeight = 18;
  get children(): Part[] {
    return this.nodes.filter((n) => n instanceof Part);
  }
  get firstElementChild(): Part | null {
    return this.children[0] ?? null;
  }
  get nextElementSibling(): Part | null {
    const siblings = this.parent?.children ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }
  get textContent(): string {
    return this.hidden ? "" : this.nodes.map((n) => (typeof n === "string" ? n : n.textContent)).join(" ");
  }
  set textContent(text: string) {
    this.nodes = text === "" ? [] : [text];
  }
  append(...nodes: (Part | string)[]): void {
    for (const n of nodes) if (n instanceof Part) n.parent = this;
    this.nodes.push(...nodes);
  }
  replaceChildren(...nodes: (Part | string)[]): void {
    this.nodes = [];
    this.append(...nodes);
  }
  insertBefore(node: Part, next: Part | null): void {
    node.remove();
    node.parent = this;
    this.nodes.splice(next === null ? this.nodes.length : this.nodes.indexOf(next), 0, node);
  }
  remove(): void {
    if (this.parent !== null) this.parent.nodes = this.parent.nodes.filter((n) => n !== this);
    this.parent = null;
  }
  contains(): boolean {
    return false;
  }
  closest(): null {
    return null;
  }
  querySelectorAll(): Part[] {
    return [];
  }
  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
    if (name === "hidden") this.hidden = true;
    if (name === "value") this.value = value;
  }
  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }
  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }
  hasAttribute(name: string): boolean {
    return this.attributes.has(name);
  }
  toggleAttribute(name: string, on: boolean): void {
    if (on) this.attributes.set(name, "");
    else this.attributes.delete(name);
  }
  addEventListener(type: string, run: (e: object) => void): void {
    this.listeners.push({ type, run });
  }
  fire(type: string, e: object = {}): void {
    for (const l of this.listeners.filter((l) => l.type === type)) l.run(e);
  }
  find(name: string, value: string): Part | undefined {
    if (this.attributes.get(name) === value) return this;
    for (const c of this.children) {
      const found = c.find(name, value);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

let frames: (() => void)[] = [];
/** Runs all callbacks that wait for an animation frame. */
export function frame(): void {
  const now = frames;
  frames = [];
  for (const run of now) run();
}

class Sizes {
  observe(): void { /* In tests, sizes never change. */ }
  disconnect(): void { /* In tests, sizes never change. */ }
}

export const page = {
  visibilityState: "visible",
  activeElement: null,
  createElement: () => new Part(),
  createElementNS: () => new Part(),
};
const items = new Map<string, string>();
Object.assign(globalThis, {
  document: page,
  innerHeight: 900,
  Element: Part,
  HTMLElement: Part,
  ResizeObserver: Sizes,
  matchMedia: () => ({ matches: false }),
  getSelection: () => null,
  requestAnimationFrame: (run: () => void) => frames.push(run),
  cancelAnimationFrame: () => undefined,
  localStorage: {
    getItem: (k: string) => items.get(k) ?? null,
    setItem: (k: string, v: string) => void items.set(k, v),
    removeItem: (k: string) => void items.delete(k),
  },
});
