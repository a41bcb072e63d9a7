// The only way that elements are made: text goes in as text.

export type Attributes = Readonly<Record<string, string | true | null | undefined>>;

/** An element with attributes (null or undefined: left out) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children);
  return e;
}

/** The same for what is drawn. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElementTagNameMap[K] {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children);
  return e;
}

/** The element of the page with this id, which the templates have. */
export function byId(id: string): HTMLElement {
  const e = document.getElementById(id);
  if (e === null) throw new Error(`the page has no #${id}`);
  return e;
}

export function input(id: string): HTMLInputElement | null {
  const e = document.getElementById(id);
  return e instanceof HTMLInputElement ? e : null;
}

/** 10,020 */
export const digits = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

export const setText = (e: Element, text: string): void => {
  if (e.textContent !== text) e.textContent = text;
};

/** Sets an attribute, or takes it away where the value is null. */
export function setAttr(e: Element, name: string, value: string | null): void {
  if (e.getAttribute(name) === value) return;
  if (value === null) e.removeAttribute(name);
  else e.setAttribute(name, value);
}

/** Makes the children of an element these, in this order, moving as few as can be. */
export function arrange(parent: Element, children: readonly Element[]): void {
  let next = parent.firstElementChild;
  for (const child of children) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
  while (next !== null) {
    const gone = next;
    next = next.nextElementSibling;
    gone.remove();
  }
}

/**
 * Keeps the children of an element to a list: each is made once for its key,
 * filled as often as it is told anew, and goes with its key.
 */
export function keep<T extends { readonly key: string }>(parent: Element, list: readonly T[], make: () => Element, fill: (e: Element, t: T) => void): void {
  const old = new Map([...parent.children].map((e) => [e.getAttribute("data-key"), e]));
  const children = list.map((t) => old.get(t.key) ?? make());
  arrange(parent, children);
  list.forEach((t, i) => {
    const e = children[i] as Element;
    setAttr(e, "data-key", t.key);
    fill(e, t);
  });
}
