// A YAML text on the screen that is updated when the object changes. Unchanged lines keep their elements, so that
// selections, folds and the scroll position survive an update.

import { aligned } from "../diff.ts";
import { digits, h } from "../dom.ts";
import { blockSize, columns, newBlock, newRow, type Block, type Row } from "./row.ts";
import type { Line } from "./write.ts";

const same = (a: Line | undefined, b: Line | undefined): boolean => a === b || a?.text === b?.text;

export class LiveText {
  readonly element = h("div", { class: "yaml text", role: "region", tabindex: "0", "aria-label": "YAML" });
  /** The blocks that are visible or nearly visible. */
  readonly near = new Set<Block>();
  rows: readonly Row[] = [];
  private blocks: Block[] = [];
  private marked: readonly Row[] = []; // the rows that are marked as changed by the last update
  private readonly lines = h("div", { class: "lines" });
  private readonly rowOf = new WeakMap<Element, Row>();
  private readonly blockOf = new WeakMap<Element, Block>();
  private readonly observer: IntersectionObserver;

  constructor(private readonly moved: () => void) {
    this.element.append(this.lines);
    this.observer = new IntersectionObserver((list) => {
      for (const { target, isIntersecting } of list) {
        const block = this.blockOf.get(target);
        if (block !== undefined) this.near[isIntersecting ? "add" : "delete"](block);
      }
      this.moved();
    }, { root: this.element, rootMargin: "400px" });
  }

  close(): void {
    this.observer.disconnect();
  }

  /** Returns the row that contains a node. */
  row(node: Node | null): Row | undefined {
    const line = (node instanceof Element ? node : node?.parentElement)?.closest(".line");
    return line === null || line === undefined ? undefined : this.rowOf.get(line);
  }

  /**
    * Replaces the text by new lines. Changed lines are marked, with words as their tooltip; if words is null, none are.
    * Between parts of the work, it awaits rest, and stops if that returns false. The text on the screen changes only
    * when all rows are ready.
   */
  async show(lines: readonly Line[], words: string | null, rest: () => Promise<boolean> | true): Promise<void> {
    const from = aligned(this.rows.map((r) => r.line), lines, same);
    const next: Row[] = [];
    for (let i = 0; i < lines.length; ) {
      const kept = this.rows[from[i] ?? -1];
      if (kept !== undefined) {
        next.push(kept);
        i++;
        continue;
      }
      const start = i;
      while (i < lines.length && (from[i] ?? -1) < 0) {
        next.push(this.make(lines[i++] as Line));
        if (i % blockSize !== 0) continue;
        const go = rest();
        if (go !== true && !(await go)) return;
      }
      if (i - start >= blockSize)
        for (let at = start; at < i; at += blockSize)
          this.fill(this.block(), next.slice(at, Math.min(i, at + blockSize)));
    }
    this.hold(() => this.put(next, lines, words));
  }

  /** Hides and shows rows after the fold state of some row has changed. */
  refold(): void {
    let until = -1;
    for (const row of this.rows) {
      const { inner } = row.line;
      set(
        row.element,
        "data-fold",
        inner > 0 ? (row.folded ? `${digits(inner)} ${inner === 1 ? "line" : "lines"}` : "") : null,
      );
      const hidden = row.index <= until;
      if (row.hidden !== hidden) set(row.element, "hidden", hidden ? "until-found" : null);
      row.hidden = hidden;
      if (row.folded) until = Math.max(until, row.index + inner);
    }
    for (const block of this.blocks) {
      let shown = 0;
      for (const row of block.rows) if (!row.hidden) shown++;
      if (shown !== block.shown) block.element.style.setProperty("--rows", String(shown));
      block.shown = shown;
    }
    this.moved();
  }

  /** Returns the parents of a row, which are the rows whose folding hides it, the outermost first. */
  around(row: Row): Row[] {
    return this.rows.slice(0, Math.max(row.index, 0)).filter((r) => r.index + r.line.inner >= row.index);
  }

  /** Runs an action and keeps the first visible row at its position. */
  hold(act: () => void): void {
    const top = this.element.getBoundingClientRect().top;
    const seen = this.element.scrollTop === 0 ? [] : [...this.near].flatMap((b) => b.rows).filter((r) => !r.hidden);
    const places = seen
      .map((row) => ({ row, y: row.element.getBoundingClientRect() }))
      .filter(({ y }) => y.bottom > top && y.height > 0)
      .sort((a, b) => a.y.top - b.y.top);
    act();
    const kept = places.find(({ row }) => row.element.isConnected && !row.hidden);
    if (kept !== undefined) this.element.scrollTop += kept.row.element.getBoundingClientRect().top - kept.y.top;
  }

  private put(next: readonly Row[], lines: readonly Line[], words: string | null): void {
    const fresh = next.filter((r) => r.index < 0);
    for (const row of this.rows) row.index = -1;
    next.forEach((row, i) => {
      row.index = i;
      row.line = lines[i] as Line;
    });
    for (const row of this.rows) if (row.index < 0) row.element.remove();
    for (const row of this.marked) mark(row, null);
    this.marked = words === null ? [] : fresh;
    for (const row of this.marked) mark(row, words);
    this.rows = next;
    for (const row of fresh) this.insert(row, next[row.index - 1]);
    this.regroup();
    this.lines.style.setProperty("--columns", String(lines.reduce((most, l) => Math.max(most, columns(l)), 0)));
    this.refold();
  }

  private make(line: Line): Row {
    const row = newRow(line);
    this.rowOf.set(row.element, row);
    return row;
  }

  private block(): Block {
    const block = newBlock();
    this.blockOf.set(block.element, block);
    return block;
  }

  private fill(block: Block, rows: readonly Row[]): void {
    for (const row of rows) {
      row.block = block;
      block.element.append(row.element);
    }
  }

  // Inserts a row after the row before; at the start if that is undefined. If the row has a block of its own already,
  // the block is inserted.
  private insert(row: Row, before: Row | undefined): void {
    if (row.block === null) {
      const into = before?.block ?? this.blocks[0] ?? this.block();
      row.block = into;
      if (before === undefined) into.element.prepend(row.element);
      else before.element.after(row.element);
      if (into.element.parentNode === null) this.lines.prepend(into.element);
    } else if (row.block.element.parentNode === null) {
      if (before === undefined) this.lines.prepend(row.block.element);
      else {
        this.split(before);
        before.block?.element.after(row.block.element);
      }
    }
  }

  // Moves the rows after this row in its block to a new block.
  private split(row: Row): void {
    const after: Row[] = [];
    for (let e = row.element.nextElementSibling; e !== null; e = e.nextElementSibling)
      after.push(this.rowOf.get(e) as Row);
    if (after.length === 0) return;
    const block = this.block();
    this.fill(block, after);
    row.block?.element.after(block.element);
  }

  // Updates the blocks, which group the elements of rows. Empty blocks are removed, and large ones are split.
  private regroup(): void {
    const old = new Set(this.blocks);
    this.blocks = [];
    let size = 0;
    for (const row of this.rows) {
      if (size >= 3 * blockSize && row.block === this.blocks.at(-1)) this.split(this.rows[row.index - 1] as Row);
      let block = this.blocks.at(-1);
      if (row.block !== block) {
        block = row.block as Block;
        this.blocks.push(block);
        block.rows = [];
        size = 0;
        if (!old.delete(block)) this.observer.observe(block.element);
      }
      block?.rows.push(row);
      size++;
    }
    for (const block of old) {
      block.element.remove();
      this.observer.unobserve(block.element);
      this.near.delete(block);
    }
  }
}

function mark(row: Row, words: string | null): void {
  set(row.element, "data-changed", words === null ? null : "");
  set(row.element, "title", words);
}

function set(e: Element, name: string, value: string | null): void {
  if (e.getAttribute(name) === value) return;
  if (value === null) e.removeAttribute(name);
  else e.setAttribute(name, value);
}
