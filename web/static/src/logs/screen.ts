// The viewport of a log. Only the visible lines and a few around them have elements. At the end of the log, the
// viewport follows new lines. Elsewhere it keeps its position.

import { h } from "../dom.ts";
import type { LogBuffer } from "./buffer.ts";
import { Heights } from "./heights.ts";
import type { Line } from "./lines.ts";
import { most, rowOf } from "./row.ts";
import type { Search } from "./search.ts";

const lineHeight = 18;
const beside = 20; // how many lines above and below the visible ones are drawn too
const near = 4; // pixels; a scroll position this near the end counts as the end

export class Screen {
  private readonly rows = h("div", { class: "log-rows" });
  private readonly space = h("div", { class: "log-space" }, this.rows);
  readonly element = h("div", { class: "log-screen", tabindex: "0", role: "region", "aria-label": "Log" }, this.space);
  private readonly heights = new Heights();
  private readonly drawn = new Map<number, HTMLElement>();
  private readonly sizes: ResizeObserver;
  private frame = 0;
  private widest = 0; // characters
  private column = 7.2; // width of a character in pixels
  private seen = 0; // the number of the first line that has not been visible yet
  private stuck = true;
  private last = 0; // the previous scroll position
  wrap = false;
  times = false;

  constructor(
    private readonly buffer: LogBuffer,
    private readonly search: Search,
    private readonly moved: () => void,
  ) {
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.sizes = new ResizeObserver(() => this.remeasure());
    this.sizes.observe(this.element);
  }

  close(): void {
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** How many lines at the end of the log have not been visible yet. */
  get below(): number {
    return this.stuck ? 0 : Math.max(0, this.buffer.end - this.seen);
  }

  get atEnd(): boolean {
    return this.stuck;
  }

  /** The number of the first visible line. */
  get top(): number {
    return this.heights.at(this.element.scrollTop);
  }

  toEnd(): void {
    this.stuck = true;
    this.schedule();
  }

  /** Scrolls to a line. */
  to(line: number): void {
    const { element, heights } = this;
    const y = heights.above(line);
    this.stuck = false;
    this.seen = Math.max(this.seen, line + 1);
    if (y < element.scrollTop || y + 2 * lineHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = Math.max(0, y - element.clientHeight / 3);
    this.redraw();
  }

  /** Discards all heights and elements. The caller calls this before it shows another log. */
  clear(): void {
    this.heights.clear();
    this.widest = this.seen = 0;
    this.stuck = true;
    this.redraw();
  }

  /** Redraws all lines, because the matches or the timestamps have changed. */
  redraw(): void {
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.schedule();
  }

  /** Measures all lines again, because wrapping or the width has changed. */
  remeasure(): void {
    const top = this.top;
    const into = this.element.scrollTop - this.heights.above(top);
    this.element.toggleAttribute("data-wrap", this.wrap);
    this.heights.clear();
    this.heights.first = this.buffer.first;
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.take();
    if (!this.stuck) {
      this.size();
      this.element.scrollTop = this.heights.above(top) + into;
    }
    this.draw(); // Draw now, because the browser would paint once before a scheduled drawing, and show empty space.
  }

  schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private scrolled(): void {
    const { scrollTop, clientHeight, scrollHeight } = this.element;
    const rest = scrollHeight - clientHeight - scrollTop;
    // Stop following the end as soon as the user scrolls up, even by the first pixel or two of smooth scrolling.
    const stuck = scrollTop < this.last && rest > 1 ? false : this.stuck ? true : rest <= near;
    this.last = scrollTop;
    if (stuck !== this.stuck) {
      this.stuck = stuck;
      this.seen = this.buffer.end;
    }
    this.schedule();
  }

  // Whether text in the log is selected. Then the viewport does not follow new lines, so that the selection stays.
  private marked(): boolean {
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && this.rows.contains(selection.anchorNode);
  }

  // Updates the heights after lines were added to or dropped from the buffer. If the viewport does not follow the end
  // of the log, it corrects the scroll position for dropped lines, so that the visible lines do not move.
  private take(): void {
    const { buffer, heights } = this;
    const gone = heights.drop(buffer.first);
    if (heights.end < buffer.first) {
      heights.clear();
      heights.first = buffer.first;
    }
    for (let n = heights.end; n < buffer.end; n++) heights.push(this.guess(buffer.at(n) as Line));
    if (gone > 0 && !this.stuck) this.element.scrollTop -= gone;
  }

  private guess(line: Line): number {
    const length = Math.min(line.text.length, most + 40) + (this.times ? 25 : 0);
    this.widest = Math.max(this.widest, length);
    if (!this.wrap) return lineHeight;
    const columns = Math.max(20, Math.floor((this.element.clientWidth - 28) / this.column));
    return lineHeight * Math.max(1, Math.ceil(length / columns));
  }

  private size(): void {
    this.space.style.height = `${this.heights.total}px`;
    this.space.style.minWidth = this.wrap ? "" : `calc(${this.widest}ch + 28px)`;
  }

  private draw(): void {
    this.frame = 0;
    const { element, heights, buffer } = this;
    if (this.stuck && this.marked()) {
      this.stuck = false;
      this.seen = buffer.end;
    }
    this.take();
    this.size();
    if (this.stuck) element.scrollTop = heights.total;
    this.place();
    // The measured heights of wrapped lines may change which lines are visible. One more drawing is enough.
    if (this.wrap && this.measure()) {
      this.size();
      if (this.stuck) element.scrollTop = heights.total;
      this.place();
    }
    this.last = element.scrollTop;
    if (this.stuck) this.seen = buffer.end;
    this.moved();
  }

  private place(): void {
    const { element, heights, buffer } = this;
    if (buffer.size === 0) {
      this.drawn.clear();
      return this.rows.replaceChildren();
    }
    const from = Math.max(buffer.first, heights.at(element.scrollTop) - beside);
    const to = Math.min(buffer.end, heights.at(element.scrollTop + element.clientHeight) + 1 + beside);
    for (const [n, row] of this.drawn) {
      if (n >= from && n < to) continue;
      row.remove();
      this.drawn.delete(n);
    }
    // Insert new rows in order, and never move an existing row, because that would clear a selection in it.
    let next = this.rows.firstElementChild;
    for (let n = from; n < to; n++) {
      let row = this.drawn.get(n);
      if (row === undefined) {
        const { search } = this;
        row = rowOf(
          buffer.at(n) as Line,
          this.times,
          search.spans(n),
          search.current?.line === n ? search.current.nth : -1,
        );
        this.drawn.set(n, row);
        this.rows.insertBefore(row, next);
      } else next = row.nextElementSibling;
    }
    this.rows.style.transform = `translateY(${heights.above(from)}px)`;
  }

  private measure(): boolean {
    let changed = false;
    const top = this.top;
    let shift = 0;
    for (const [n, row] of this.drawn) {
      const more = this.heights.set(n, row.offsetHeight);
      if (more !== 0) changed = true;
      if (n < top) shift += more;
    }
    if (shift !== 0 && !this.stuck) {
      this.size();
      this.element.scrollTop += shift;
    }
    return changed;
  }
}
