// A drawing that users move by dragging or with the wheel, and scale with Ctrl and the wheel.

import { h } from "../../ui/dom.ts";
import { visibleColumns, type Point, type Range } from "./graph-layout.ts";

const minScale = 0.2;
const maxScale = 2;
const minInitialScale = 0.75; // the first drawing is not scaled below this value, so that it stays legible
const minColumnScale = 0.65; // an exception: the scale at which the first drawing shows only complete columns
const revealMargin = 12; // pixels between a revealed part and the edge of the viewport

export class PanZoom {
  private readonly content = h("div", { class: "graph-content" });
  readonly element = h(
    "div",
    { class: "graph", role: "group", "aria-label": "Related objects as a graph. The arrow keys follow its lines." },
    this.content,
  );
  private x = 0;
  private y = 0;
  private scale = 1;
  private width = 0;
  private height = 0;
  // Fits the drawing again when the viewport gets another size. null after the user has moved or scaled the drawing.
  private refit: (() => void) | null = null;
  // The offset of the pointer from the drawing's origin at the start of a drag. null if the user does not drag.
  private dragStart: Point | null = null;
  private hasDragged = false;
  private readonly sizes = new ResizeObserver(() => {
    this.refit?.();
  });

  constructor() {
    const { element } = this;
    this.sizes.observe(element);
    element.addEventListener("pointerdown", (e) => {
      if (e.button === 0) this.dragStart = { x: e.clientX - this.x, y: e.clientY - this.y };
      this.hasDragged = false;
    });
    element.addEventListener("pointermove", (e) => this.drag(e));
    element.addEventListener("pointerup", () => (this.dragStart = null));
    element.addEventListener("pointercancel", () => (this.dragStart = null));
    element.addEventListener("dragstart", (e) => e.preventDefault());
    // The click at the end of a drag must not open a link.
    element.addEventListener(
      "click",
      (e) => {
        if (!this.hasDragged || e.detail === 0) return;
        e.preventDefault();
        e.stopPropagation();
      },
      { capture: true },
    );
    element.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
  }

  close(): void {
    this.sizes.disconnect();
  }

  show(width: number, height: number, ...children: Element[]): void {
    this.width = width;
    this.height = height;
    this.content.replaceChildren(...children);
    this.applyTransform();
  }

  /**
   * Scales the drawing to fit into the viewport. If `columns` is not empty, the drawing is not scaled below a legible
   * size. If it then is wider than the viewport, only complete columns around the point `center` are visible. If it is
   * higher, the point is in the middle of the viewport.
   */
  fit(center: Point, columns: readonly Range[] = []): void {
    const { clientWidth, clientHeight } = this.element;
    this.refit = () => this.fit(center, columns);
    if (clientWidth === 0) return;
    const fitScale = Math.min(1, clientWidth / this.width, clientHeight / this.height);
    // If the complete drawing would be too small to read, scale it to the width, so that users scroll only vertically.
    const shown =
      columns.length === 0 || fitScale >= minInitialScale
        ? null
        : visibleColumns(columns, center.x, clientWidth / minColumnScale);
    this.scale = shown === null ? Math.max(minScale, fitScale) : Math.min(1, clientWidth / (shown.right - shown.left));
    const centered = (size: number, window: number, at: number): number => {
      const scaled = size * this.scale;
      return scaled <= window
        ? (window - scaled) / 2
        : Math.min(0, Math.max(window - scaled, window / 2 - at * this.scale));
    };
    const middle = shown === null ? center.x : (shown.left + shown.right) / 2;
    this.x = centered(this.width, clientWidth, middle);
    this.y = centered(this.height, clientHeight, center.y);
    if (this.height * this.scale <= clientHeight) this.y = Math.min(this.y, 24);
    this.applyTransform();
  }

  /** Scales the drawing by a factor. The point `at` of the viewport stays at its position. */
  zoom(by: number, at: Point = { x: this.element.clientWidth / 2, y: this.element.clientHeight / 2 }): void {
    this.refit = null;
    const scale = Math.min(maxScale, Math.max(minScale, this.scale * by));
    this.x = at.x - ((at.x - this.x) * scale) / this.scale;
    this.y = at.y - ((at.y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.applyTransform();
  }

  reveal(x: number, y: number, width: number, height: number): void {
    const revealShift = (at: number, size: number, shift: number, window: number): number => {
      const [start, end] = [at * this.scale + shift, (at + size) * this.scale + shift];
      return start < revealMargin
        ? shift + revealMargin - start
        : end > window - revealMargin
          ? shift - (end - window + revealMargin)
          : shift;
    };
    this.x = revealShift(x, width, this.x, this.element.clientWidth);
    this.y = revealShift(y, height, this.y, this.element.clientHeight);
    this.applyTransform();
  }

  private applyTransform(): void {
    this.content.style.transform = `translate(${Math.round(this.x)}px, ${Math.round(this.y)}px) scale(${this.scale})`;
  }

  private drag(e: PointerEvent): void {
    if (this.dragStart === null) return;
    const [x, y] = [e.clientX - this.dragStart.x, e.clientY - this.dragStart.y];
    if (!this.hasDragged && Math.hypot(x - this.x, y - this.y) < 4) return;
    // Capture the pointer, so that the drag continues outside the viewport.
    if (!this.hasDragged) this.element.setPointerCapture(e.pointerId);
    this.hasDragged = true;
    this.refit = null;
    this.x = x;
    this.y = y;
    this.applyTransform();
  }

  private wheel(e: WheelEvent): void {
    const box = this.element.getBoundingClientRect();
    e.preventDefault();
    if (e.ctrlKey || e.metaKey)
      return this.zoom(Math.exp(-e.deltaY / 300), { x: e.clientX - box.left, y: e.clientY - box.top });
    this.refit = null;
    this.x -= e.shiftKey ? e.deltaY : e.deltaX;
    this.y -= e.shiftKey ? 0 : e.deltaY;
    this.applyTransform();
  }
}
