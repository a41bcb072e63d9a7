// Two texts as an element, one after the other or side by side.

import { digits, h } from "./dom.ts";
import { runs, wordMarks, type Pair, type Piece } from "./difflines.ts";

export type Layout = "inline" | "split";

export interface DiffOptions {
  readonly layout: Layout;
  /** Lines tell their number. */
  readonly numbers?: boolean;
  /** So many pairs at first, and as many more at each click. */
  readonly most: number;
  /** The lines that were unfolded, so that a text drawn anew has most of them again. */
  readonly unfolded?: Set<string>;
}

/** The element of a text that became another. */
export function diffView(pairs: readonly Pair[], options: DiffOptions): HTMLElement {
  const element = h("div", { class: "diff", "data-layout": options.layout, "data-numbers": options.numbers === true ? true : null });
  const parts: { readonly pairs: readonly Pair[]; readonly folded: boolean }[] = [...runs(pairs)];
  const draw = (most: number): void => {
    let room = most;
    while (room > 0 && parts.length > 0) {
      const part = parts.shift() as (typeof parts)[number];
      if (part.folded) {
        element.append(fold(part.pairs, options));
        room--;
        continue;
      }
      if (part.pairs.length > room) parts.unshift({ pairs: part.pairs.slice(room), folded: false });
      element.append(...linesOf(part.pairs.slice(0, room), options));
      room -= part.pairs.length;
    }
    const rest = parts.reduce((n, p) => n + p.pairs.length, 0);
    if (rest === 0) return;
    const button = h("button", { type: "button", class: "fold" }, `${digits(rest)} more ${rest === 1 ? "line" : "lines"}`);
    button.addEventListener("click", () => {
      button.remove();
      draw(Math.max(most, 500));
    });
    element.append(button);
  };
  draw(options.most);
  return element;
}

function fold(pairs: readonly Pair[], options: DiffOptions): HTMLElement {
  const lines = (): HTMLElement => h("div", { class: "unfolded" }, ...linesOf(pairs, options));
  const known = pairs.filter((p) => options.unfolded?.has(p.left ?? "")).length;
  if (known * 2 > pairs.length) return lines();
  const button = h("button", { type: "button", class: "fold" }, `${digits(pairs.length)} unchanged lines`);
  button.addEventListener("click", () => {
    for (const p of pairs) options.unfolded?.add(p.left ?? "");
    const shown = lines();
    button.replaceWith(shown);
    shown.tabIndex = -1;
    shown.focus({ preventScroll: true });
  });
  return button;
}

function linesOf(pairs: readonly Pair[], { layout }: DiffOptions): HTMLElement[] {
  if (layout === "split") return pairs.map((p) => h("div", { class: "pair" }, ...sides(p)));
  const out: HTMLElement[] = [];
  let added: HTMLElement[] = [];
  for (const p of pairs) {
    if (p.same) {
      out.push(...added, line("span", p.right ?? "", p.rightAt));
      added = [];
      continue;
    }
    const [left, right] = sides(p);
    if (p.left !== null) out.push(left);
    if (p.right !== null) added.push(right);
  }
  return [...out, ...added];
}

function sides(p: Pair): [HTMLElement, HTMLElement] {
  if (p.same) return [line("span", p.left ?? "", p.leftAt), line("span", p.right ?? "", p.rightAt)];
  const [left, right] = p.left !== null && p.right !== null ? wordMarks(p.left, p.right) : [null, null];
  return [p.left === null ? gap() : line("del", left ?? p.left, p.leftAt), p.right === null ? gap() : line("ins", right ?? p.right, p.rightAt)];
}

const gap = (): HTMLElement => h("span", { class: "line gap" });

function line(tag: "span" | "del" | "ins", text: string | readonly Piece[], at: number): HTMLElement {
  const pieces = typeof text === "string" ? [text] : text.map((p) => (p.marked ? h("mark", {}, p.text) : p.text));
  return h(tag, { class: "line", "data-at": String(at) }, ...pieces);
}
