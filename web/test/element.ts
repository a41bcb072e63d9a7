// As much of a DOM as a row needs; importing it puts it in place.
export class Element {
  readonly children: Element[] = [];
  private readonly attributes = new Map<string, string>();
  private text = "";
  constructor(private readonly tag: string) {}
  static of(e: unknown): Element { return e as Element; }
  append(...children: Element[]): void { this.children.push(...children); }
  get firstElementChild(): Element | null { return this.children[0] ?? null; }
  setAttribute(name: string, value: string): void { this.attributes.set(name, value); }
  removeAttribute(name: string): void { this.attributes.delete(name); }
  getAttribute(name: string): string | null { return this.attributes.get(name) ?? null; }
  get textContent(): string { return this.text + this.children.map((c) => c.textContent).join(""); }
  set textContent(text: string) { this.text = text; }
  querySelectorAll(): Element[] { return this.children.filter((c) => c.attributes.has("data-wire")); }
  get html(): string {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${escape(value)}"`).join("");
    return `<${this.tag}${attributes}>${this.children.map((c) => c.html).join("")}${escape(this.text)}</${this.tag}>`;
  }
}
const escape = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&#34;").replace(/'/g, "&#39;");
(globalThis as { document: unknown }).document = { createElement: (tag: string) => new Element(tag) };
