// A minimal document. Importing this file replaces the global document. Animation frames run only when a test calls
// frame().
class TextNode {
  readonly nodeType = 3;
  parentNode: Part | null = null;
  constructor(public data: string) {}
  get textContent(): string {
    return this.data;
  }
  get nextSibling(): Part | TextNode | null {
    return nodeAfter(this);
  }
  remove(): void {
    this.parentNode?.removeChild(this);
  }
}

const nodeAfter = (node: Part | TextNode): Part | TextNode | null => {
  const siblings = node.parentNode?.childNodes ?? [];
  return siblings[siblings.indexOf(node) + 1] ?? null;
};

export class Part {
  readonly nodeType = 1;
  childNodes: (Part | TextNode)[] = [];
  parentNode: Part | null = null;
  private readonly attributes = new Map<string, string>();
  private readonly listeners: { type: string; run: (this: Part, e: object) => void }[] = [];
  readonly dataset: Record<string, string> = {};
  readonly style: Record<string, unknown> = {
    setProperty: (name: string, value: string) => void (this.style[name] = value),
  };
  hidden = false;
  disabled = false;
  checked = false;
  value = "";
  scrollTop = 0;
  clientHeight = 100;
  clientWidth = 100;
  scrollHeight = 100;
  offsetHeight = 18;
  constructor(readonly localName = "") {}
  get children(): Part[] {
    return this.childNodes.filter((n) => n instanceof Part);
  }
  get childElementCount(): number {
    return this.children.length;
  }
  get firstChild(): Part | TextNode | null {
    return this.childNodes[0] ?? null;
  }
  get firstElementChild(): Part | null {
    return this.children[0] ?? null;
  }
  get nextSibling(): Part | TextNode | null {
    return nodeAfter(this);
  }
  get nextElementSibling(): Part | null {
    const siblings = this.parentNode?.children ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }
  get textContent(): string {
    return this.hidden ? "" : this.childNodes.map((n) => n.textContent).join(" ");
  }
  set textContent(text: string) {
    this.replaceChildren(...(text === "" ? [] : [text]));
  }
  append(...nodes: (Part | string)[]): void {
    for (const n of nodes) this.insertBefore(typeof n === "string" ? new TextNode(n) : n, null);
  }
  replaceChildren(...nodes: (Part | string)[]): void {
    this.childNodes = [];
    this.append(...nodes);
  }
  insertBefore(node: Part | TextNode, next: Part | TextNode | null): void {
    node.remove();
    node.parentNode = this;
    this.childNodes.splice(next === null ? this.childNodes.length : this.childNodes.indexOf(next), 0, node);
  }
  removeChild(node: Part | TextNode): void {
    this.childNodes = this.childNodes.filter((n) => n !== node);
    node.parentNode = null;
  }
  remove(): void {
    this.parentNode?.removeChild(this);
  }
  focus(): void {
    page.activeElement = this;
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
  removeEventListener(type: string, run: (e: object) => void): void {
    const at = this.listeners.findIndex((l) => l.type === type && l.run === run);
    if (at >= 0) this.listeners.splice(at, 1);
  }
  fire(type: string, e: object = {}): void {
    for (const l of this.listeners.filter((l) => l.type === type)) l.run.call(this, e);
  }
  find(name: string, value: string): Part | undefined {
    if (this.attributes.get(name) === value) return this;
    for (const c of this.children) {
      const found = c.find(name, value);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  /** HTML, with only the properties that views of the page set. */
  get html(): string {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${escapeHTML(value)}"`).join("");
    const flags = (["hidden", "disabled", "checked"] as const).map((name) => (this[name] ? ` ${name}` : "")).join("");
    const inner = this.childNodes.map((n) => (n instanceof Part ? n.html : escapeHTML(n.data))).join("");
    return `<${this.localName}${attributes}${flags}>${inner}</${this.localName}>`;
  }
}

const escapeHTML = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&#34;").replace(/'/g, "&#39;");

/** Returns one element with two types, to render a view into. */
export function rendering(): { part: Part; element: Element } {
  const part = new Part("main");
  return { part, element: part as unknown as Element };
}

let frames: (() => void)[] = [];
/** Runs all callbacks that wait for an animation frame. */
export function frame(): void {
  const now = frames;
  frames = [];
  for (const run of now) run();
}

class Sizes {
  observe(): void {
    /* In tests, sizes never change. */
  }
  disconnect(): void {
    /* In tests, sizes never change. */
  }
}

export const page = {
  visibilityState: "visible",
  activeElement: null as Part | null,
  createElement: (tag: string) => new Part(tag),
  createElementNS: (_: string, tag: string) => new Part(tag),
  createTextNode: (text: string) => new TextNode(String(text)),
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
