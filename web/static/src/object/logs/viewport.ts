// The scrollable view of a log. Only lines in or near the visible part have HTML elements.

import { h } from "../../ui/dom.ts";
import type { LogBuffer } from "./buffer.ts";
import { Heights } from "./heights.ts";
import type { Line } from "./lines.ts";
import type { LogFilter } from "./log-filter.ts";
import { maxDrawnLength, createLineElement } from "./row.ts";
import type { Search } from "./search.ts";

const lineHeight = 18;
const overscanLines = 20; // lines that are drawn above and below the visible ones
const endTolerance = 4; // pixels; a scroll position this close to the end counts as the end

export class LogViewport {
  private readonly rows = h("div", { class: "log-rows" });
  private readonly spacer = h("div", { class: "log-space" }, this.rows);
  readonly element = h("div", { class: "log-screen", tabindex: "0", role: "region", "aria-label": "Log" }, this.spacer);
  private readonly heights = new Heights();
  private readonly drawn = new Map<number, HTMLElement>();
  private readonly sizes: ResizeObserver;
  private frame = 0;
  private maxLineLength = 0; // characters in the longest line
  private column = 7.2; // pixels per character of the monospaced font
  private firstUnseen = 0; // number of the first line that the user has not seen, to count new lines
  private followsEnd = true;
  private lastScrollTop = 0; // pixels; the previous scroll position
  private filter: LogFilter | null = null;
  wrap = false;
  times = false;

  constructor(
    private readonly buffer: LogBuffer,
    private readonly search: Search,
    private readonly onDraw: () => void,
  ) {
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.sizes = new ResizeObserver(() => this.remeasure());
    this.sizes.observe(this.element);
  }

  close(): void {
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
  }

  get unseenCount(): number {
    return this.followsEnd ? 0 : this.heights.countShown(this.firstUnseen);
  }

  get atEnd(): boolean {
    return this.followsEnd;
  }

  get top(): number {
    return this.heights.lineAt(this.element.scrollTop);
  }

  scrollToEnd(): void {
    this.followsEnd = true;
    this.schedule();
  }

  scrollToLine(line: number): void {
    const { element, heights } = this;
    const y = heights.heightAbove(line);
    this.followsEnd = false;
    this.firstUnseen = Math.max(this.firstUnseen, line + 1);
    if (y < element.scrollTop || y + 2 * lineHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = Math.max(0, y - element.clientHeight / 3);
    this.redraw();
  }

  clear(): void {
    this.heights.clear();
    this.maxLineLength = this.firstUnseen = 0;
    this.followsEnd = true;
    this.redraw();
  }

  /** Is called after the search matches change, or after timestamps are shown or hidden. */
  redraw(): void {
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.schedule();
  }

  /** Is called after the line with this number and all following lines were replaced. */
  redrawFrom(line: number): void {
    this.heights.truncate(line);
    for (const [n, row] of this.drawn) {
      if (n < line) continue;
      row.remove();
      this.drawn.delete(n);
    }
    this.schedule();
  }

  /** Hides the lines that the filter does not show. The caller must then call remeasure. */
  setFilter(filter: LogFilter): void {
    this.filter = filter;
    this.search.setFilter(filter);
  }

  /** Measures and draws all lines again. Called after a change of the line wrapping, the filter or the width. */
  remeasure(): void {
    const top = this.top;
    const offsetInLine = this.element.scrollTop - this.heights.heightAbove(top);
    this.element.toggleAttribute("data-wrap", this.wrap);
    this.heights.clear();
    this.heights.first = this.buffer.first;
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.syncHeights();
    if (!this.followsEnd) {
      this.updateSize();
      this.element.scrollTop = this.heights.heightAbove(top) + offsetInLine;
    }
    this.draw(); // draw immediately, because otherwise the browser would paint empty space first
  }

  schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private scrolled(): void {
    const { scrollTop, clientHeight, scrollHeight } = this.element;
    const rest = scrollHeight - clientHeight - scrollTop;
    // If the user scrolls up, even by two pixels, stop scrolling to new lines automatically.
    const followsEnd =
      scrollTop < this.lastScrollTop && rest > 1 ? false : this.followsEnd ? true : rest <= endTolerance;
    this.lastScrollTop = scrollTop;
    if (followsEnd !== this.followsEnd) {
      this.followsEnd = followsEnd;
      this.firstUnseen = this.buffer.end;
    }
    this.schedule();
  }

  // Whether text in the log is selected. In this case, the viewport does not scroll to new lines, to keep the
  // selection.
  private hasSelection(): boolean {
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && this.rows.contains(selection.anchorNode);
  }

  // Removes dropped lines from `heights`, and adds new ones. Adjusts the scroll position, so that visible lines stay.
  private syncHeights(): void {
    const { buffer, heights } = this;
    const droppedHeight = heights.dropBefore(buffer.first);
    if (heights.end < buffer.first) {
      heights.clear();
      heights.first = buffer.first;
    }
    for (let n = heights.end; n < buffer.end; n++) {
      const line = buffer.at(n) as Line;
      this.filter?.arrived(line);
      heights.push(this.filter?.shows(line) === false ? 0 : this.estimateHeight(line));
    }
    this.filter?.count(heights.countShown(buffer.first), buffer.size);
    if (droppedHeight > 0 && !this.followsEnd) this.element.scrollTop -= droppedHeight;
  }

  private estimateHeight(line: Line): number {
    const length =
      Math.min(line.text.length, maxDrawnLength + 40) + (this.times ? 25 : 0) + (line.source?.label.length ?? -1) + 1;
    this.maxLineLength = Math.max(this.maxLineLength, length);
    if (!this.wrap) return lineHeight;
    const columns = Math.max(20, Math.floor((this.element.clientWidth - 28) / this.column));
    return lineHeight * Math.max(1, Math.ceil(length / columns));
  }

  private updateSize(): void {
    this.spacer.style.height = `${this.heights.total}px`;
    this.spacer.style.minWidth = this.wrap ? "" : `calc(${this.maxLineLength}ch + 28px)`;
  }

  private draw(): void {
    this.frame = 0;
    const { element, heights, buffer } = this;
    if (this.followsEnd && this.hasSelection()) {
      this.followsEnd = false;
      this.firstUnseen = buffer.end;
    }
    this.syncHeights();
    this.updateSize();
    if (this.followsEnd) element.scrollTop = heights.total;
    this.placeRows();
    // The heights of wrapped lines are known only after drawing. If they differ from the estimates, draw again.
    if (this.wrap && this.measure()) {
      this.updateSize();
      if (this.followsEnd) element.scrollTop = heights.total;
      this.placeRows();
    }
    this.lastScrollTop = element.scrollTop;
    if (this.followsEnd) this.firstUnseen = buffer.end;
    this.onDraw();
  }

  private placeRows(): void {
    const { element, heights, buffer } = this;
    if (buffer.size === 0) {
      this.drawn.clear();
      return this.rows.replaceChildren();
    }
    const from = Math.max(buffer.first, heights.lineAt(element.scrollTop) - overscanLines);
    const to = Math.min(buffer.end, heights.lineAt(element.scrollTop + element.clientHeight) + 1 + overscanLines);
    for (const [n, row] of this.drawn) {
      if (n >= from && n < to) continue;
      row.remove();
      this.drawn.delete(n);
    }
    // Never move an existing element, because that would clear a text selection in it.
    let next = this.rows.firstElementChild;
    for (let n = from; n < to; n++) {
      if (heights.isHidden(n)) continue;
      let row = this.drawn.get(n);
      if (row === undefined) {
        const { search } = this;
        row = createLineElement(
          buffer.at(n) as Line,
          this.times,
          search.spans(n),
          search.current?.line === n ? search.current.indexInLine : -1,
        );
        this.drawn.set(n, row);
        this.rows.insertBefore(row, next);
      } else next = row.nextElementSibling;
    }
    this.rows.style.transform = `translateY(${heights.heightAbove(from)}px)`;
  }

  private measure(): boolean {
    let changed = false;
    const top = this.top;
    let shift = 0;
    for (const [n, row] of this.drawn) {
      const delta = this.heights.set(n, Math.max(1, row.offsetHeight));
      if (delta !== 0) changed = true;
      if (n < top) shift += delta;
    }
    if (shift !== 0 && !this.followsEnd) {
      this.updateSize();
      this.element.scrollTop += shift;
    }
    return changed;
  }
}
