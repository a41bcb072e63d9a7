// The only place that creates elements. Text is inserted as text, never as HTML.

import { hasInvisible, splitInvisible, escapeInvisible } from "../text/invisible-chars.ts";

export type Attributes = Readonly<Record<string, string | true | null | undefined>>;

/** Creates an element with attributes and children. Attributes that are null or undefined are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) e.setAttribute(name, value === true ? "" : attributeText(name, value));
  }
  e.append(...children.flatMap((c) => (typeof c === "string" ? textNodes(c) : [c])));
  return e;
}

/** Returns a text as nodes, with its invisible characters made visible. */
export const textNodes = (text: string): (Node | string)[] =>
  hasInvisible(text)
    ? splitInvisible(text).map((p) => (p.codePoints === null ? p.text : invisibleSpan(p.text, p.codePoints)))
    : [text];

function invisibleSpan(text: string, codePoints: string): HTMLElement {
  const e = document.createElement("span");
  e.setAttribute("class", "invisible-char");
  e.setAttribute("data-codepoints", codePoints);
  e.textContent = text;
  return e;
}

// Returns the value to set for an attribute. Values of title and aria-label cannot contain elements, so invisible
// characters are spelled out.
const attributeText = (name: string, value: string): string =>
  (name === "title" || name === "aria-label" ? escapeInvisible(value) : value);

/** Like h, but creates an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) e.setAttribute(name, value === true ? "" : attributeText(name, value));
  }
  e.append(...children.map((c) => (typeof c === "string" ? escapeInvisible(c) : c)));
  return e;
}

/** Returns the element with this id, which the templates contain. Throws if it is missing. */
export function byId(id: string): HTMLElement {
  const e = document.getElementById(id);
  if (e === null) throw new Error(`the page has no #${id}`);
  return e;
}

export function input(id: string): HTMLInputElement | null {
  const e = document.getElementById(id);
  return e instanceof HTMLInputElement ? e : null;
}

export const setText = (e: Element, text: string): void => {
  if (e.textContent === text) return;
  if (hasInvisible(text)) e.replaceChildren(...textNodes(text));
  else e.textContent = text;
};

/** Sets an attribute, or removes it if the value is null. */
export function setAttr(e: Element, name: string, value: string | null): void {
  const to = value === null ? null : attributeText(name, value);
  if (e.getAttribute(name) === to) return;
  if (to === null) e.removeAttribute(name);
  else e.setAttribute(name, to);
}

/** Makes children the only children of parent, in this order, with as few moves as possible. */
export function arrangeChildren(parent: Element, children: readonly Element[]): void {
  let next = parent.firstElementChild;
  for (const child of children) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
  while (next !== null) {
    const removed = next;
    next = next.nextElementSibling;
    removed.remove();
  }
}

/**
 * Synchronizes the children of parent with a list of values. A child is created when a key first occurs, updated on
 * every call, and removed when its key is no longer in the list.
 */
export function syncChildren<T extends { readonly key: string }>(
  parent: Element,
  list: readonly T[],
  make: () => Element,
  fill: (e: Element, t: T) => void,
): void {
  const old = new Map([...parent.children].map((e) => [e.getAttribute("data-key"), e]));
  const children = list.map((t) => old.get(t.key) ?? make());
  arrangeChildren(parent, children);
  list.forEach((t, i) => {
    const e = children[i] as Element;
    setAttr(e, "data-key", t.key);
    fill(e, t);
  });
}
