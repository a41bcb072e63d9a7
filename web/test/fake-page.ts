// A minimal document. Importing this file replaces the global document. Animation frames run only when a test calls
// frame(). The method `fire` runs only the listeners of one element. The method `dispatch` also runs those of its
// ancestors.
import { matchesSelector } from "./fake-selectors.ts";

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
  readonly dataset: Record<string, string> = new Proxy(
    {},
    {
      get: (_, name) => this.attributes.get(dataAttribute(name)),
      set: (_, name, value) => {
        this.setAttribute(dataAttribute(name), String(value));
        return true;
      },
    },
  );
  readonly classList = {
    add: (name: string) => this.setAttribute("class", `${this.getAttribute("class") ?? ""} ${name}`.trim()),
    contains: (name: string): boolean => this.classes.includes(name),
  };
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
  open = false; // whether this element is an open dialog or popover
  private returnFocusTo: Part | null = null;
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
  get lastElementChild(): Part | null {
    return this.children.at(-1) ?? null;
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
  click(): void {
    this.dispatch("click", { button: 0 });
  }
  get id(): string {
    return this.getAttribute("id") ?? "";
  }
  set id(id: string) {
    this.setAttribute("id", id);
  }
  get title(): string {
    return this.getAttribute("title") ?? "";
  }
  set title(title: string) {
    if (title === "") this.removeAttribute("title");
    else this.setAttribute("title", title);
  }
  get tabIndex(): number {
    return Number(this.getAttribute("tabindex") ?? -1);
  }
  set tabIndex(index: number) {
    this.setAttribute("tabindex", String(index));
  }
  get parentElement(): Part | null {
    return this.parentNode;
  }
  get classes(): string[] {
    return (this.getAttribute("class") ?? "").split(" ");
  }
  get tHead(): Part | null {
    return this.querySelector("thead");
  }
  get tBodies(): Part[] {
    return this.querySelectorAll("tbody");
  }
  prepend(node: Part): void {
    this.insertBefore(node, this.firstChild);
  }
  before(...nodes: Part[]): void {
    for (const node of nodes) this.parentNode?.insertBefore(node, this);
  }
  after(...nodes: Part[]): void {
    for (const node of nodes.reverse()) if (node !== this) this.parentNode?.insertBefore(node, this.nextSibling);
  }
  replaceWith(node: Part): void {
    this.before(node);
    this.remove();
  }
  compareDocumentPosition(other: Part): number {
    const all = page.documentElement.querySelectorAll("*");
    return all.indexOf(this) < all.indexOf(other) ? 4 : 2;
  }
  getBoundingClientRect(): object {
    return { top: 0, left: 0, bottom: 0, right: 0, width: 0, height: 0 };
  }
  scrollIntoView(): void {
    /* Nothing scrolls in tests. */
  }
  checkVisibility(): boolean {
    return true;
  }
  showModal(): void {
    this.returnFocusTo = page.activeElement;
    this.open = true;
  }
  close(): void {
    this.open = false;
    page.activeElement = this.returnFocusTo;
    this.fire("close");
  }
  showPopover(): void {
    this.open = true;
    this.fire("toggle", { newState: "open" });
  }
  hidePopover(): void {
    if (this.open) this.fire("toggle", { newState: "closed" });
    this.open = false;
  }
  contains(other: Part | null): boolean {
    return other !== null && (other === this || this.contains(other.parentNode));
  }
  matches(selector: string): boolean {
    return matchesSelector(this, selector);
  }
  closest(selector: string): Part | null {
    return this.matches(selector) ? this : (this.parentNode?.closest(selector) ?? null);
  }
  querySelectorAll(selector: string): Part[] {
    return this.children.flatMap((c) => [...(c.matches(selector) ? [c] : []), ...c.querySelectorAll(selector)]);
  }
  querySelector(selector: string): Part | null {
    return this.querySelectorAll(selector)[0] ?? null;
  }
  getElementsByTagName(name: string): Part[] {
    return this.querySelectorAll(name);
  }
  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
    if (name === "hidden") this.hidden = true;
    if (name === "value") this.value = String(value);
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
  /** Runs the listeners of this element, its ancestors and the document. Returns the event. */
  dispatch(type: string, properties: object = {}): FakeEvent {
    const e = new FakeEvent(type, this, properties);
    const path: Part[] = [];
    for (let at: Part | null = this; at !== null; at = at.parentNode) path.push(at);
    for (const { capture, run } of documentListeners(type)) if (capture && !e.stopped) run(e);
    for (const at of path) if (!e.stopped) at.fire(type, e);
    for (const { capture, run } of documentListeners(type)) if (!capture && !e.stopped) run(e);
    return e;
  }
  find(name: string, value: string): Part | undefined {
    if (this.attributes.get(name) === value) return this;
    for (const c of this.children) {
      const found = c.find(name, value);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  /** The element as HTML, with only the properties that views of the page set. */
  get html(): string {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${escapeHTML(value)}"`).join("");
    const flags = (["hidden", "disabled", "checked"] as const).map((name) => (this[name] ? ` ${name}` : "")).join("");
    const inner = this.childNodes.map((n) => (n instanceof Part ? n.html : escapeHTML(n.data))).join("");
    return `<${this.localName}${attributes}${flags}>${inner}</${this.localName}>`;
  }
}

export class FakeEvent {
  defaultPrevented = false;
  stopped = false;
  constructor(
    readonly type: string,
    readonly target: Part,
    properties: object,
  ) {
    Object.assign(this, properties);
  }
  preventDefault(): void {
    this.defaultPrevented = true;
  }
  stopPropagation(): void {
    this.stopped = true;
  }
  stopImmediatePropagation(): void {
    this.stopped = true;
  }
}

const dataAttribute = (name: string | symbol): string =>
  `data-${String(name).replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;

interface DocumentListener {
  readonly type: string;
  readonly capture: boolean;
  readonly run: (e: object) => void;
}
let listenersOfDocument: DocumentListener[] = [];
const documentListeners = (type: string): DocumentListener[] => listenersOfDocument.filter((l) => l.type === type);

const escapeHTML = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&#34;").replace(/'/g, "&#39;");

/** Returns one element twice: as a Part for checks of the test, and as an Element to render a view into. */
export function rendering(): { part: Part; element: Element } {
  const part = new Part("main");
  return { part, element: part as unknown as Element };
}

let frames: (() => void)[] = [];
let frameRequested = (): void => undefined;
/** Returns a promise that resolves when the page requests its next animation frame. */
export const nextFrameRequest = (): Promise<void> => new Promise((resolve) => (frameRequested = resolve));
/** Runs all callbacks that wait for an animation frame. */
export function frame(): void {
  const now = frames;
  frames = [];
  for (const run of now) run();
}

class InputPart extends Part {
  static override [Symbol.hasInstance](e: unknown): boolean {
    return e instanceof Part && e.localName === "input";
  }
}

class Sizes {
  observe(): void {
    /* Does nothing, because sizes never change in tests. */
  }
  disconnect(): void {
    /* Does nothing, because sizes never change in tests. */
  }
}

const html = new Part("html");
export const page = {
  visibilityState: "visible",
  hidden: false,
  title: "",
  activeElement: null as Part | null,
  documentElement: html,
  body: new Part("body"),
  pointed: null as Part | null, // the element under the mouse pointer
  elementFromPoint: () => page.pointed,
  getElementById: (id: string) => html.querySelector(`#${id}`),
  querySelector: (selector: string) => html.querySelector(selector),
  querySelectorAll: (selector: string) => html.querySelectorAll(selector),
  addEventListener: (type: string, run: (e: object) => void, capture?: unknown) =>
    void listenersOfDocument.push({ type, run, capture: capture === true }),
  fire: (type: string, e: object = {}) => {
    for (const l of documentListeners(type)) l.run(e);
  },
  createElement: (tag: string) => new Part(tag),
  createElementNS: (_: string, tag: string) => new Part(tag),
  createTextNode: (text: string) => new TextNode(String(text)),
};
html.append(page.body);

/** Empties the document and removes its listeners. */
export function clearPage(): void {
  page.body.replaceChildren();
  page.activeElement = page.pointed = null;
  listenersOfDocument = [];
}

// Newer versions of Node.js define navigator as a property without a setter.
Object.defineProperty(globalThis, "navigator", { value: { platform: "Linux" }, configurable: true });
const items = new Map<string, string>();
Object.assign(globalThis, {
  document: page,
  innerHeight: 900,
  Element: Part,
  HTMLElement: Part,
  HTMLInputElement: InputPart,
  HTMLTextAreaElement: class {},
  HTMLSelectElement: class {},
  Node: { DOCUMENT_POSITION_FOLLOWING: 4 },
  getComputedStyle: () => ({ getPropertyValue: () => "20px" }),
  ResizeObserver: Sizes,
  // No element becomes visible, so no chart is drawn.
  IntersectionObserver: class {
    observe(): void {}
    disconnect(): void {}
  },
  matchMedia: () => ({ matches: false }),
  getSelection: () => null,
  requestAnimationFrame: (run: () => void) => {
    frameRequested();
    return frames.push(run);
  },
  cancelAnimationFrame: () => undefined,
  localStorage: {
    getItem: (k: string) => items.get(k) ?? null,
    setItem: (k: string, v: string) => void items.set(k, v),
    removeItem: (k: string) => void items.delete(k),
  },
});
