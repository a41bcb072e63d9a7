// The difference of two texts as an element, inline or side by side. Lines are grouped in blocks, so that the browser
// can skip the layout of blocks outside the viewport.

import { digits, h } from "./dom.ts";
import { pairLines, runs, wordMarks, type Pair, type Piece } from "./difflines.ts";
import { atOnce, Slices } from "./slices.ts";
import { cut } from "./yaml/row.ts";

export type Layout = "inline" | "split";

export interface DiffOptions {
  readonly layout: Layout;
  /** Whether to show line numbers. */
  readonly numbers?: boolean;
  /** How many pairs of lines are drawn at first, and how many each click on "more" adds. */
  readonly most: number;
  /** How many additional pairs of lines the user requested. A later drawing with these options includes them. */
  readonly more?: { pairs: number };
  /** The collapsed lines that the user expanded. A later drawing with these options expands most of them again. */
  readonly unfolded?: Set<string>;
}

const blockSize = 64; // lines
const mostUnfolded = 500; // lines that one click expands
const longest = 2400; // characters; a text up to this length is drawn completely
const ends = 400; // how many characters of a longer text are shown at each end
const piece = 2000;

/** Returns the diff element of two texts, without pauses. */
export const diffView = (left: readonly string[], right: readonly string[], options: DiffOptions): HTMLElement =>
  atOnce(drawing(pairLines(left, right), options));

/** Returns the diff element of paired lines. Yields at each point where the caller may pause. */
export function* drawing(pairs: readonly Pair[], options: DiffOptions): Generator<undefined, HTMLElement> {
  const view = new View(options);
  yield* view.draw(runs(pairs), options.most + (options.more?.pairs ?? 0));
  return view.element;
}

interface Part {
  readonly pairs: readonly Pair[];
  readonly folded: boolean;
}

class View {
  readonly element: HTMLElement;
  // For each button that expands lines: the lines that it hides.
  private readonly behind = new WeakMap<Element, readonly Pair[]>();
  private readonly slices = new Slices(() => this.element.isConnected);

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
      if (e.target instanceof Element && e.target.classList.contains("more")) open(e.target);
    });
    // The browser's own search found a match in collapsed lines, and is about to reveal it.
    this.element.addEventListener("beforematch", (e) => open((e.target as Element).previousElementSibling));
  }

  /** Draws at most most lines of the parts, and a button that shows the rest. */
  *draw(parts: readonly Part[], most: number): Generator<undefined, void> {
    const left = [...parts].reverse();
    const made: Node[] = [];
    let room = most;
    for (let part = left.pop(); part !== undefined; part = left.pop()) {
      if (room <= 0) {
        left.push(part);
        break;
      }
      if (part.folded && !this.unfolded(part.pairs.slice(0, mostUnfolded))) {
        made.push(this.fold(part.pairs));
        room--;
        continue;
      }
      const size = Math.min(part.pairs.length, room, part.folded ? mostUnfolded : room);
      if (part.pairs.length > size) left.push({ pairs: part.pairs.slice(size), folded: part.folded });
      made.push(...(yield* this.blocks(part.pairs.slice(0, size))));
      room -= size;
    }
    const rest = left.reverse();
    this.element.append(...made);
    if (rest.length === 0) return;
    const pairs = rest.flatMap((p) => p.pairs);
    const button = this.button(pairs, `${digits(pairs.length)} more ${pairs.length === 1 ? "line" : "lines"}`);
    const more = (): void => {
      const some = Math.max(this.options.most, mostUnfolded);
      if (this.options.more !== undefined) this.options.more.pairs += some;
      this.slices.begin();
      void this.slices.run(this.draw(rest, some)).then(() => giveWay(button, "More lines"));
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
      let added: HTMLElement[] = [];
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
      const some = lines.slice(at, at + blockSize);
      const block = h("div", { class: "block" }, ...some);
      block.style.setProperty("--rows", String(some.length));
      out.push(block);
    }
    return out;
  }

  // Whether the user has expanded most of these lines before, so that they are not collapsed again.
  private unfolded(pairs: readonly Pair[]): boolean {
    return pairs.filter((p) => this.options.unfolded?.has(p.left ?? "")).length * 2 > pairs.length;
  }

  private fold(pairs: readonly Pair[]): HTMLElement {
    const button = this.button(pairs, `${digits(pairs.length)} unchanged lines`);
    button.addEventListener("click", () => {
      const shown = pairs.slice(0, mostUnfolded);
      for (const p of shown) this.options.unfolded?.add(p.left ?? "");
      const blocks = atOnce(this.blocks(shown));
      const rest = pairs.slice(mostUnfolded);
      button.after(...blocks, ...(rest.length === 0 ? [] : [this.fold(rest)]));
      giveWay(button, "Unchanged lines");
    });
    return button;
  }

  private button(pairs: readonly Pair[], words: string): HTMLButtonElement {
    const button = h("button", { type: "button", class: "fold", "data-at": String(pairs[0]?.rightAt ?? 0) }, words);
    this.behind.set(button, pairs);
    return button;
  }

  // Returns the selected text, including collapsed lines. In the side-by-side layout, it is the text of the side where
  // the selection began. Returns null if nothing is selected, or if the selection extends beyond this element.
  private selected(): string | null {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
    const range = selection.getRangeAt(0);
    if (!this.element.contains(range.commonAncestorContainer)) return null;
    const split = this.options.layout === "split";
    const first = lineOf(range.startContainer);
    const side = first?.parentElement?.lastElementChild === first ? 1 : 0;
    const out: string[] = [];
    for (const e of this.element.querySelectorAll(".line, .fold")) {
      if (!range.intersectsNode(e)) continue;
      const behind = this.behind.get(e);
      if (behind !== undefined)
        out.push(
          ...behind
            .flatMap((p) => (p.same ? [p.left] : split ? [side === 0 ? p.left : p.right] : [p.left, p.right]))
            .filter((l) => l !== null),
        );
      else if (!e.classList.contains("gap") && (!split || e.parentElement?.children[side] === e))
        out.push(within(range, e));
    }
    return out.join("\n");
  }
}

const lineOf = (node: Node): Element | null =>
  (node instanceof Element ? node : node.parentElement)?.closest(".line") ?? null;

// Returns the part of an element's text that is within a range.
function within(range: Range, e: Element): string {
  const part = document.createRange();
  part.selectNodeContents(e);
  if (e.contains(range.startContainer)) part.setStart(range.startContainer, range.startOffset);
  if (e.contains(range.endContainer)) part.setEnd(range.endContainer, range.endOffset);
  return part.toString();
}

function open(more: Element | null): void {
  more?.nextElementSibling?.removeAttribute("hidden");
  if (more !== null) giveWay(more, "More characters");
}

// Removes a button after the lines that it hid were inserted behind it. If it had the focus, they receive it.
function giveWay(button: Element, words: string): void {
  const came = button.nextElementSibling;
  const had = document.activeElement === button;
  button.remove();
  if (!had || !(came instanceof HTMLElement)) return;
  take(came, words);
}

function take(e: HTMLElement, words: string): void {
  if (!(e instanceof HTMLButtonElement)) {
    e.tabIndex = -1;
    e.role = "group";
    e.ariaLabel = words;
  }
  e.focus({ preventScroll: true });
}

/**
  * Records which line has the keyboard focus. The caller then redraws the diff, and calls the returned function, which
  * moves the focus to the same line or the nearest one.
 */
export function keepFocus(place: HTMLElement): () => void {
  const had = document.activeElement;
  const view = had?.closest(".diff") ?? null;
  const line = had?.closest("[data-at]") ?? had?.querySelector("[data-at]") ?? null;
  if (!(had instanceof HTMLElement) || line === null || !place.contains(view)) return () => undefined;
  const at = numberOf(line);
  const [side, fold, words] = [sideOf(line), line.matches(".fold"), had.ariaLabel ?? ""];
  return () => {
    let found: Element | null = null;
    let far = Infinity;
    for (const e of place.querySelectorAll(".diff [data-at]")) {
      if (sideOf(e) !== side) continue;
      // Of two lines at the same distance, prefer a button if the focus was on a button.
      const now = Math.abs(numberOf(e) - at) + (e.matches(".fold") === fold ? 0 : 0.5);
      if (now < far) [found, far] = [e, now];
    }
    const to =
      found?.matches(".fold") === true
        ? found
        : had.matches(".more")
          ? found?.querySelector(".more") ?? found?.closest(".block")
          : found?.closest(".block");
    if (to instanceof HTMLElement) take(to, had instanceof HTMLButtonElement ? "Redrawn lines" : words);
  };
}

const numberOf = (e: Element): number => Number(e.getAttribute("data-at"));
const sideOf = (e: Element): number =>
  (e.localName === "del" || (e.nextElementSibling !== null && e.parentElement?.matches(".pair") === true) ? 0 : 1);

function sides(p: Pair): [HTMLElement, HTMLElement] {
  if (p.same) return [line("span", p.left ?? "", p.leftAt), line("span", p.right ?? "", p.rightAt)];
  const [left, right] = p.left !== null && p.right !== null ? wordMarks(p.left, p.right) : [null, null];
  return [
    p.left === null ? gap() : line("del", left ?? p.left, p.leftAt),
    p.right === null ? gap() : line("ins", right ?? p.right, p.rightAt),
  ];
}

const gap = (): HTMLElement => h("span", { class: "line gap" });

function line(tag: "span" | "del" | "ins", text: string | readonly Piece[], at: number): HTMLElement {
  const pieces =
    typeof text === "string"
      ? brief(text)
      : text.flatMap((p) => (p.marked ? [h("mark", {}, ...brief(p.text))] : brief(p.text)));
  return h(tag, { class: "line", "data-at": String(at) }, ...pieces);
}

// Shows both ends of a very long text. The middle is shown on request.
function brief(text: string): (Node | string)[] {
  if (text.length <= longest) return [text];
  const [head, tail] = [cut(text, ends), cut(text, text.length - ends)];
  const middle = h("span", { hidden: "until-found", class: "rest" });
  for (let from = head; from < tail; ) {
    const to = Math.min(cut(text, from + piece), tail);
    middle.append(h("span", { class: "piece" }, text.slice(from, to)));
    from = to;
  }
  const words = `${digits(tail - head)} more characters`;
  return [
    text.slice(0, head),
    h("button", { type: "button", class: "more", "data-words": words, "aria-label": `Show ${words}` }),
    middle,
    text.slice(tail),
  ];
}
