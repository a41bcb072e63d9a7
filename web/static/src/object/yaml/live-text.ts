// A live YAML text. Unchanged lines keep their HTML elements, which preserves selections, folded lines and the scroll
// position.

import { alignLists } from "../../text/list-diff.ts";
import { h } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { blockSize, maxColumns, newBlock, newRow, type Block, type Row } from "../../yaml/row.ts";
import type { Line } from "../../yaml/writer.ts";

const sameText = (a: Line | undefined, b: Line | undefined): boolean => a === b || a?.text === b?.text;

// Removes the row of metadata.resourceVersion from the rows to mark as changed, because every write changes this field.
function withoutResourceVersion(newRows: readonly Row[], all: readonly Row[]): readonly Row[] {
  const start = all.findIndex((row) => row.line.text === "metadata:");
  const end = start < 0 ? -1 : start + (all[start] as Row).line.nestedCount;
  return newRows.filter(
    ({ index, line }) => index <= start || index > end || !/^ {2}resourceVersion: /.test(line.text),
  );
}

export class LiveText {
  readonly element = h("div", { class: "yaml text", role: "region", tabindex: "0", "aria-label": "YAML" });
  /** The blocks (groups of lines) that are visible or nearly visible. */
  readonly nearBlocks = new Set<Block>();
  rows: readonly Row[] = [];
  private blocks: Block[] = [];
  private markedRows: readonly Row[] = [];
  private readonly lines = h("div", { class: "lines" });
  private readonly rowOf = new WeakMap<Element, Row>();
  private readonly blockOf = new WeakMap<Element, Block>();
  private readonly observer: IntersectionObserver;

  constructor(private readonly onChange: () => void) {
    this.element.append(this.lines);
    this.observer = new IntersectionObserver(
      (list) => {
        for (const { target, isIntersecting } of list) {
          const block = this.blockOf.get(target);
          if (block !== undefined) this.nearBlocks[isIntersecting ? "add" : "delete"](block);
        }
        this.onChange();
      },
      { root: this.element, rootMargin: "400px" },
    );
  }

  close(): void {
    this.observer.disconnect();
  }

  /** Returns the row (the line of text) that contains a node. */
  row(node: Node | null): Row | undefined {
    const line = (node instanceof Element ? node : node?.parentElement)?.closest(".line");
    return line === null || line === undefined ? undefined : this.rowOf.get(line);
  }

  /**
   * Shows `lines` instead of the old lines. Marks changed lines, and gives them the tooltip. If it is null, marks
   * no lines. Stops without any change if pauseIfDue returns false, because newer data has arrived.
   */
  async show(lines: readonly Line[], tooltip: string | null, pauseIfDue: () => Promise<boolean> | true): Promise<void> {
    const from = alignLists(
      this.rows.map((r) => r.line),
      lines,
      sameText,
    );
    const next: Row[] = [];
    for (let i = 0; i < lines.length; ) {
      const anchor = this.rows[from[i] ?? -1];
      if (anchor !== undefined) {
        next.push(anchor);
        i++;
        continue;
      }
      const start = i;
      while (i < lines.length && (from[i] ?? -1) < 0) {
        next.push(this.createRow(lines[i++] as Line));
        if (i % blockSize !== 0) continue;
        const proceed = pauseIfDue();
        if (proceed !== true && !(await proceed)) return;
      }
      if (i - start >= blockSize)
        for (let at = start; at < i; at += blockSize)
          this.fill(this.block(), next.slice(at, Math.min(i, at + blockSize)));
    }
    // All new rows exist now, so the screen changes in one step.
    this.keepScrollPosition(() => this.replaceRows(next, lines, tooltip));
  }

  refold(): void {
    let hiddenUntil = -1;
    for (const row of this.rows) {
      const { nestedCount: inner } = row.line;
      set(
        row.element,
        "data-fold",
        inner > 0 ? (row.folded ? `${formatInteger(inner)} ${inner === 1 ? "line" : "lines"}` : "") : null,
      );
      const hidden = row.index <= hiddenUntil;
      if (row.hidden !== hidden) set(row.element, "hidden", hidden ? "until-found" : null);
      row.hidden = hidden;
      if (row.folded) hiddenUntil = Math.max(hiddenUntil, row.index + inner);
    }
    for (const block of this.blocks) {
      let shown = 0;
      for (const row of block.rows) if (!row.hidden) shown++;
      if (shown !== block.shown) block.element.style.setProperty("--rows", String(shown));
      block.shown = shown;
    }
    this.onChange();
  }

  parentsOf(row: Row): Row[] {
    return this.rows.slice(0, Math.max(row.index, 0)).filter((r) => r.index + r.line.nestedCount >= row.index);
  }

  /** Keeps the first visible row at its position on the screen while the action runs. */
  keepScrollPosition(action: () => void): void {
    const top = this.element.getBoundingClientRect().top;
    const visibleRows =
      this.element.scrollTop === 0 ? [] : [...this.nearBlocks].flatMap((b) => b.rows).filter((r) => !r.hidden);
    const places = visibleRows
      .map((row) => ({ row, y: row.element.getBoundingClientRect() }))
      .filter(({ y }) => y.bottom > top && y.height > 0)
      .sort((a, b) => a.y.top - b.y.top);
    action();
    const anchor = places.find(({ row }) => row.element.isConnected && !row.hidden);
    if (anchor !== undefined) this.element.scrollTop += anchor.row.element.getBoundingClientRect().top - anchor.y.top;
  }

  private replaceRows(next: readonly Row[], lines: readonly Line[], tooltip: string | null): void {
    const newRows = next.filter((r) => r.index < 0);
    for (const row of this.rows) row.index = -1;
    next.forEach((row, i) => {
      row.index = i;
      row.line = lines[i] as Line;
    });
    for (const row of this.rows) if (row.index < 0) row.element.remove();
    for (const row of this.markedRows) setMark(row, null);
    this.markedRows = tooltip === null ? [] : withoutResourceVersion(newRows, next);
    for (const row of this.markedRows) setMark(row, tooltip);
    this.rows = next;
    for (const row of newRows) this.insert(row, next[row.index - 1]);
    this.regroup();
    this.lines.style.setProperty("--columns", String(lines.reduce((most, l) => Math.max(most, maxColumns(l)), 0)));
    this.refold();
  }

  private createRow(line: Line): Row {
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

  // Inserts a row after the row `before`, or at the start if `before` is undefined. If the row is in a block (a group
  // of lines) that the page does not contain yet, it inserts the block.
  private insert(row: Row, before: Row | undefined): void {
    if (row.block === null) {
      const targetBlock = before?.block ?? this.blocks[0] ?? this.block();
      row.block = targetBlock;
      if (before === undefined) targetBlock.element.prepend(row.element);
      else before.element.after(row.element);
      if (targetBlock.element.parentNode === null) this.lines.prepend(targetBlock.element);
    } else if (row.block.element.parentNode === null) {
      if (before === undefined) this.lines.prepend(row.block.element);
      else {
        this.split(before);
        before.block?.element.after(row.block.element);
      }
    }
  }

  // Splits a block: moves the rows that follow this row in its block to a new block.
  private split(row: Row): void {
    const after: Row[] = [];
    for (let e = row.element.nextElementSibling; e !== null; e = e.nextElementSibling)
      after.push(this.rowOf.get(e) as Row);
    if (after.length === 0) return;
    const block = this.block();
    this.fill(block, after);
    row.block?.element.after(block.element);
  }

  // Updates the list of blocks and the rows of each block after a change: drops empty blocks, and splits large ones.
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
      this.nearBlocks.delete(block);
    }
  }
}

function setMark(row: Row, tooltip: string | null): void {
  set(row.element, "data-changed", tooltip === null ? null : "");
  set(row.element, "title", tooltip);
}

function set(e: Element, name: string, value: string | null): void {
  if (e.getAttribute(name) === value) return;
  if (value === null) e.removeAttribute(name);
  else e.setAttribute(name, value);
}
