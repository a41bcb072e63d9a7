// Draws a diff as HTML. Lines are in blocks, so that the browser can skip the layout of invisible blocks.

import { h } from "../ui/dom.ts";
import { formatInteger } from "../text/format.ts";
import { pairLines, runs, markWords, type Pair, type MarkedText } from "./diff-lines.ts";
import { runToEnd, TimeSlicer } from "../text/time-slice.ts";
import { safeCut } from "../yaml/row.ts";

export type DiffLayout = "inline" | "split";

interface DiffOptions {
  readonly layout: DiffLayout;
  readonly numbers?: boolean;
  /** The number of line pairs that are drawn at first. Each click on "more lines" adds at least as many. */
  readonly maxPairs: number;
  /** The number of additional line pairs that the user requested. Later drawings show them too. */
  readonly more?: { pairs: number };
  /** The texts of unchanged lines that the user expanded. Later drawings show them too. */
  readonly expanded?: Set<string>;
}

const blockSize = 64;
const maxExpanded = 500; // maximum number of collapsed lines that one click expands
const maxDrawnLength = 2400; // characters; a longer line is shortened
const endLength = 400; // characters that stay visible at each end of a shortened line
const pieceLength = 2000;

export const diffView = (left: readonly string[], right: readonly string[], options: DiffOptions): HTMLElement =>
  runToEnd(drawDiffInSteps(pairLines(left, right), options));

/** Draws a diff. Yields at each point where the caller can pause. */
export function* drawDiffInSteps(pairs: readonly Pair[], options: DiffOptions): Generator<undefined, HTMLElement> {
  const view = new DiffDrawing(options);
  yield* view.draw(runs(pairs), options.maxPairs + (options.more?.pairs ?? 0));
  return view.element;
}

interface Part {
  readonly pairs: readonly Pair[];
  readonly folded: boolean;
}

class DiffDrawing {
  readonly element: HTMLElement;
  private readonly hiddenPairs = new WeakMap<Element, readonly Pair[]>();
  private readonly slices = new TimeSlicer(() => this.element.isConnected);

  constructor(private readonly options: DiffOptions) {
    this.element = h("div", {
      class: "diff",
      "data-layout": options.layout,
      "data-numbers": options.numbers === true ? true : null,
    });
    this.element.addEventListener("copy", (e) => {
      const text = this.selected();
      if (text === null || e.clipboardData === null) return;
      e.clipboardData.setData("text/plain", text);
      e.preventDefault();
    });
    this.element.addEventListener("click", (e) => {
      if (e.target instanceof Element && e.target.classList.contains("more")) showRest(e.target);
    });
    // The browser's find-in-page has found a match in the hidden characters of a long line, so show them.
    this.element.addEventListener("beforematch", (e) => showRest((e.target as Element).previousElementSibling));
  }

  *draw(parts: readonly Part[], maxPairs: number): Generator<undefined, void> {
    const remainingParts = [...parts].reverse();
    const nodes: Node[] = [];
    let remaining = maxPairs;
    for (let part = remainingParts.pop(); part !== undefined; part = remainingParts.pop()) {
      if (remaining <= 0) {
        remainingParts.push(part);
        break;
      }
      if (part.folded && !this.expanded(part.pairs.slice(0, maxExpanded))) {
        nodes.push(this.fold(part.pairs));
        remaining--;
        continue;
      }
      const size = Math.min(part.pairs.length, remaining, part.folded ? maxExpanded : remaining);
      if (part.pairs.length > size) remainingParts.push({ pairs: part.pairs.slice(size), folded: part.folded });
      nodes.push(...(yield* this.blocks(part.pairs.slice(0, size))));
      remaining -= size;
    }
    const rest = remainingParts.reverse();
    this.element.append(...nodes);
    if (rest.length === 0) return;
    const pairs = rest.flatMap((p) => p.pairs);
    const button = this.button(pairs, `${formatInteger(pairs.length)} more ${pairs.length === 1 ? "line" : "lines"}`);
    const more = (): void => {
      const count = Math.max(this.options.maxPairs, maxExpanded);
      if (this.options.more !== undefined) this.options.more.pairs += count;
      this.slices.begin();
      void this.slices.run(this.draw(rest, count)).then(() => replaceButton(button, "More lines"));
    };
    button.addEventListener("click", more, { once: true });
    this.element.append(button);
  }

  private *blocks(pairs: readonly Pair[]): Generator<undefined, HTMLElement[]> {
    const lines: HTMLElement[] = [];
    const { layout } = this.options;
    if (layout === "split") {
      for (const p of pairs) {
        yield;
        lines.push(h("div", { class: "pair" }, ...sides(p)));
      }
    } else {
      const added: HTMLElement[] = [];
      for (const p of pairs) {
        yield;
        const [left, right] = p.same ? [line("span", p.right ?? "", p.rightAt)] : sides(p);
        if (p.same) lines.push(...added.splice(0), left);
        else if (p.left !== null) lines.push(left);
        if (p.right !== null && right !== undefined) added.push(right);
      }
      lines.push(...added);
    }
    const out: HTMLElement[] = [];
    for (let at = 0; at < lines.length; at += blockSize) {
      const blockLines = lines.slice(at, at + blockSize);
      const block = h("div", { class: "block" }, ...blockLines);
      block.style.setProperty("--rows", String(blockLines.length));
      out.push(block);
    }
    return out;
  }

  private expanded(pairs: readonly Pair[]): boolean {
    return pairs.filter((p) => this.options.expanded?.has(p.left ?? "")).length * 2 > pairs.length;
  }

  private fold(pairs: readonly Pair[]): HTMLElement {
    const button = this.button(
      pairs,
      `${formatInteger(pairs.length)} unchanged ${pairs.length === 1 ? "line" : "lines"}`,
    );
    button.addEventListener("click", () => {
      const shown = pairs.slice(0, maxExpanded);
      for (const p of shown) this.options.expanded?.add(p.left ?? "");
      const blocks = runToEnd(this.blocks(shown));
      const rest = pairs.slice(maxExpanded);
      button.after(...blocks, ...(rest.length === 0 ? [] : [this.fold(rest)]));
      replaceButton(button, "Unchanged lines");
    });
    return button;
  }

  private button(pairs: readonly Pair[], label: string): HTMLButtonElement {
    const button = h("button", { type: "button", class: "fold", "data-at": String(pairs[0]?.rightAt ?? 0) }, label);
    this.hiddenPairs.set(button, pairs);
    return button;
  }

  // Returns the selected text, including the lines that are collapsed in it.
  private selected(): string | null {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
    const range = selection.getRangeAt(0);
    if (!this.element.contains(range.commonAncestorContainer)) return null;
    const split = this.options.layout === "split";
    const first = lineOf(range.startContainer);
    // In the side-by-side layout, copy only the side where the selection began.
    const side = first?.parentElement?.lastElementChild === first ? 1 : 0;
    const out: string[] = [];
    for (const e of this.element.querySelectorAll(".line, .fold")) {
      if (!range.intersectsNode(e)) continue;
      const hiddenPairs = this.hiddenPairs.get(e);
      if (hiddenPairs !== undefined)
        out.push(
          ...hiddenPairs
            .flatMap((p) => (p.same ? [p.left] : split ? [side === 0 ? p.left : p.right] : [p.left, p.right]))
            .filter((l) => l !== null),
        );
      else if (!e.classList.contains("gap") && (!split || e.parentElement?.children[side] === e))
        out.push(selectedPart(range, e));
    }
    return out.join("\n");
  }
}

const lineOf = (node: Node): Element | null =>
  (node instanceof Element ? node : node.parentElement)?.closest(".line") ?? null;

function selectedPart(range: Range, e: Element): string {
  const part = document.createRange();
  part.selectNodeContents(e);
  if (e.contains(range.startContainer)) part.setStart(range.startContainer, range.startOffset);
  if (e.contains(range.endContainer)) part.setEnd(range.endContainer, range.endOffset);
  return part.toString();
}

function showRest(more: Element | null): void {
  more?.nextElementSibling?.removeAttribute("hidden");
  if (more !== null) replaceButton(more, "More characters");
}

// Moves the keyboard focus from the button to the revealed content. The parameter `label` is for screen readers.
function replaceButton(button: Element, label: string): void {
  const next = button.nextElementSibling;
  const hadFocus = document.activeElement === button;
  button.remove();
  if (!hadFocus || !(next instanceof HTMLElement)) return;
  focusElement(next, label);
}

function focusElement(e: HTMLElement, label: string): void {
  if (!(e instanceof HTMLButtonElement)) {
    e.tabIndex = -1;
    e.role = "group";
    e.ariaLabel = label;
  }
  e.focus({ preventScroll: true });
}

/** Records the focused diff line. Returns a function that moves the focus to the nearest line after a redraw. */
export function saveFocus(container: HTMLElement): () => void {
  const focused = document.activeElement;
  const view = focused?.closest(".diff") ?? null;
  const line = focused?.closest("[data-at]") ?? focused?.querySelector("[data-at]") ?? null;
  if (!(focused instanceof HTMLElement) || line === null || !container.contains(view)) return () => undefined;
  const at = numberOf(line);
  const [side, fold, label] = [sideOf(line), line.matches(".fold"), focused.ariaLabel ?? ""];
  return () => {
    let found: Element | null = null;
    let distance = Infinity;
    for (const e of container.querySelectorAll(".diff [data-at]")) {
      if (sideOf(e) !== side) continue;
      // At equal distance, prefer a fold button if a fold button had the focus. Otherwise, prefer a line.
      const candidateDistance = Math.abs(numberOf(e) - at) + (e.matches(".fold") === fold ? 0 : 0.5);
      if (candidateDistance < distance) [found, distance] = [e, candidateDistance];
    }
    const to =
      found?.matches(".fold") === true
        ? found
        : focused.matches(".more")
          ? (found?.querySelector(".more") ?? found?.closest(".block"))
          : found?.closest(".block");
    if (to instanceof HTMLElement) focusElement(to, focused instanceof HTMLButtonElement ? "Changed lines" : label);
  };
}

const numberOf = (e: Element): number => Number(e.getAttribute("data-at"));
const sideOf = (e: Element): number =>
  e.localName === "del" || (e.nextElementSibling !== null && e.parentElement?.matches(".pair") === true) ? 0 : 1;

function sides(p: Pair): [HTMLElement, HTMLElement] {
  if (p.same) return [line("span", p.left ?? "", p.leftAt), line("span", p.right ?? "", p.rightAt)];
  const [left, right] = p.left !== null && p.right !== null ? markWords(p.left, p.right) : [null, null];
  return [
    p.left === null ? gapLine() : line("del", left ?? p.left, p.leftAt),
    p.right === null ? gapLine() : line("ins", right ?? p.right, p.rightAt),
  ];
}

const gapLine = (): HTMLElement => h("span", { class: "line gap" });

function line(tag: "span" | "del" | "ins", text: string | readonly MarkedText[], at: number): HTMLElement {
  const pieces =
    typeof text === "string"
      ? shorten(text)
      : text.flatMap((p) => (p.marked ? [h("mark", {}, ...shorten(p.text))] : shorten(p.text)));
  return h(tag, { class: "line", "data-at": String(at) }, ...pieces);
}

// Hides the middle of a very long text behind a button.
function shorten(text: string): (Node | string)[] {
  if (text.length <= maxDrawnLength) return [text];
  const [head, tail] = [safeCut(text, endLength), safeCut(text, text.length - endLength)];
  const middle = h("span", { hidden: "until-found", class: "rest" });
  for (let from = head; from < tail; ) {
    const to = Math.min(safeCut(text, from + pieceLength), tail);
    middle.append(h("span", { class: "piece" }, text.slice(from, to)));
    from = to;
  }
  const label = `${formatInteger(tail - head)} more characters`;
  return [
    text.slice(0, head),
    h("button", { type: "button", class: "more", "data-words": label, "aria-label": `Show ${label}` }),
    middle,
    text.slice(tail),
  ];
}
