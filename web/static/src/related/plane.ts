// The plane on which the graph is drawn, which may be larger than its viewport. Dragging moves it, and the mouse wheel
// with Ctrl scales it.

import { h } from "../dom.ts";
import type { Point } from "./picture.ts";

const least = 0.2;
const most = 2;
const legible = 0.75; // the minimum of the initial scale
const edge = 12; // pixels of margin around a revealed part

export class Plane {
  private readonly plane = h("div", { class: "plane" });
  readonly element = h(
    "div",
    { class: "graph", role: "group", "aria-label": "Related objects as a graph. The arrow keys follow its lines." },
    this.plane,
    legend(),
  );
  private x = 0;
  private y = 0;
  private scale = 1;
  private width = 0;
  private height = 0;
  private waits: (() => void) | null = null; // runs when the viewport has a size
  private from: Point | null = null; // start of a drag
  private dragged = false;
  private readonly sizes = new ResizeObserver(() => {
    if (this.element.clientWidth === 0) return;
    this.waits?.();
    this.waits = null;
    this.move();
  });

  constructor() {
    const { element } = this;
    this.sizes.observe(element);
    element.addEventListener("pointerdown", (e) => {
      if (e.button === 0) this.from = { x: e.clientX - this.x, y: e.clientY - this.y };
      this.dragged = false;
    });
    element.addEventListener("pointermove", (e) => this.drag(e));
    element.addEventListener("pointerup", () => (this.from = null));
    element.addEventListener("pointercancel", () => (this.from = null));
    element.addEventListener("dragstart", (e) => e.preventDefault());
    // A click at the end of a drag must not open a link.
    element.addEventListener(
      "click",
      (e) => {
        if (!this.dragged || e.detail === 0) return;
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
    this.plane.replaceChildren(...children);
    this.move();
  }

  /**
   * Scales the plane to fit into the viewport. Unless all is set, it stays legible, and is centered on the point round.
   */
  fit(round: Point, all = false): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0) {
      this.waits = () => this.fit(round, all);
      return;
    }
    const whole = Math.min(1, clientWidth / this.width, clientHeight / this.height);
    // If the plane does not fit at a legible scale, and must be scrolled anyway, scale it to the viewport's width.
    this.scale = all
      ? Math.max(least, whole)
      : whole >= legible
        ? whole
        : Math.max(legible, Math.min(1, clientWidth / this.width));
    const place = (size: number, window: number, at: number): number => {
      const scaled = size * this.scale;
      return scaled <= window
        ? (window - scaled) / 2
        : Math.min(0, Math.max(window - scaled, window / 2 - at * this.scale));
    };
    this.x = place(this.width, clientWidth, round.x);
    this.y = place(this.height, clientHeight, round.y);
    // A small graph is placed at the top, where readers start.
    if (this.height * this.scale <= clientHeight) this.y = Math.min(this.y, 24);
    this.move();
  }

  /** Scales the plane around a point of the viewport; the default is its center. */
  zoom(by: number, at: Point = { x: this.element.clientWidth / 2, y: this.element.clientHeight / 2 }): void {
    const scale = Math.min(most, Math.max(least, this.scale * by));
    this.x = at.x - ((at.x - this.x) * scale) / this.scale;
    this.y = at.y - ((at.y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.move();
  }

  /** Moves the plane so that this rectangle of it is visible. */
  reveal(x: number, y: number, width: number, height: number): void {
    const into = (at: number, size: number, shift: number, window: number): number => {
      const [start, end] = [at * this.scale + shift, (at + size) * this.scale + shift];
      return start < edge ? shift + edge - start : end > window - edge ? shift - (end - window + edge) : shift;
    };
    this.x = into(x, width, this.x, this.element.clientWidth);
    this.y = into(y, height, this.y, this.element.clientHeight);
    this.move();
  }

  private move(): void {
    this.plane.style.transform = `translate(${Math.round(this.x)}px, ${Math.round(this.y)}px) scale(${this.scale})`;
  }

  private drag(e: PointerEvent): void {
    if (this.from === null) return;
    const [x, y] = [e.clientX - this.from.x, e.clientY - this.from.y];
    if (!this.dragged && Math.hypot(x - this.x, y - this.y) < 4) return;
    // Capture the pointer, so that the drag continues outside the viewport.
    if (!this.dragged) this.element.setPointerCapture(e.pointerId);
    this.dragged = true;
    this.x = x;
    this.y = y;
    this.move();
  }

  private wheel(e: WheelEvent): void {
    const box = this.element.getBoundingClientRect();
    e.preventDefault();
    if (e.ctrlKey || e.metaKey)
      return this.zoom(Math.exp(-e.deltaY / 300), { x: e.clientX - box.left, y: e.clientY - box.top });
    this.x -= e.shiftKey ? e.deltaY : e.deltaX;
    this.y -= e.shiftKey ? 0 : e.deltaY;
    this.move();
  }
}

function legend(): HTMLElement {
  const sample = (type: string): HTMLElement => h("span", { "data-type": type }, type);
  return h("p", { class: "legend-lines" }, ...["owns", "uses", "selects"].map(sample));
}
