// A minimal DOM for table rows. Importing this file replaces the global DOM.
export class Element {
  private nodes: (Element | string)[] = [];
  private readonly attributes = new Map<string, string>();
  constructor(private readonly tag: string) {}
  static of(e: unknown): Element {
    return e as Element;
  }
  get children(): Element[] {
    return this.nodes.filter((n) => n instanceof Element);
  }
  append(...nodes: (Element | string)[]): void {
    this.nodes.push(...nodes);
  }
  replaceChildren(...nodes: (Element | string)[]): void {
    this.nodes = nodes;
  }
  get firstElementChild(): Element | null {
    return this.children[0] ?? null;
  }
  get lastElementChild(): Element | null {
    return this.children.at(-1) ?? null;
  }
  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }
  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }
  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }
  get textContent(): string {
    return this.nodes.map((n) => (typeof n === "string" ? n : n.textContent)).join("");
  }
  set textContent(text: string) {
    this.nodes = text === "" ? [] : [text];
  }
  querySelectorAll(): Element[] {
    return this.children.filter((c) => c.attributes.has("data-wire"));
  }
  get html(): string {
    // The templates render a boolean attribute without a value.
    const attributes = [...this.attributes]
      .map(([name, value]) =>
        name === "data-state" || name === "data-number" ? ` ${name}` : ` ${name}="${escapeHTML(value)}"`,
      )
      .join("");
    return `<${this.tag}${attributes}>${this.nodes
      .map((n) => (typeof n === "string" ? escapeHTML(n) : n.html))
      .join("")}</${this.tag}>`;
  }
}
const escapeHTML = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&#34;").replace(/'/g, "&#39;");
(globalThis as { document: unknown }).document = { createElement: (tag: string) => new Element(tag) };
