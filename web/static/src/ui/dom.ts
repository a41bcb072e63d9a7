// All HTML elements are created in this file. Text is inserted as text and never as HTML.

import { hasInvisible, splitInvisible, escapeInvisible } from "../text/invisible-chars.ts";

export type Attributes = Readonly<Record<string, string | true | null | undefined>>;

/** Creates an HTML element. Attributes that are null or undefined are omitted. */
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

/** Converts a text to nodes, in which invisible characters are visible as code points. */
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

// Replaces invisible characters with the text of their code points, because an attribute cannot contain elements.
const attributeText = (name: string, value: string): string =>
  name === "title" || name === "aria-label" ? escapeInvisible(value) : value;

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

/** Throws an error if the element is missing, because the server's templates must contain it. */
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

export function setAttr(e: Element, name: string, value: string | null): void {
  const to = value === null ? null : attributeText(name, value);
  if (e.getAttribute(name) === to) return;
  if (to === null) e.removeAttribute(name);
  else e.setAttribute(name, to);
}

/** Makes these elements the only children of the parent, in this order. It moves as few elements as possible. */
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
