// A handle that changes the height of a part of the page with the pointer or the arrow keys.

import { h } from "./dom.ts";

const minHeight = 120; // minimum height in pixels

/** Sets the height of an element. Returns a handle for the upper edge of the element. */
export function heightResizer(
  element: HTMLElement,
  label: string,
  height: number,
  onResized: (height: number) => void,
): HTMLElement {
  const maxHeight = (): number => Math.max(minHeight, innerHeight - 220);
  let current = 0;
  const set = (to: number): void => {
    current = Math.round(Math.min(maxHeight(), Math.max(minHeight, to)));
    element.style.height = `${current}px`;
    handle.setAttribute("aria-valuenow", String(current));
    handle.setAttribute("aria-valuemax", String(maxHeight()));
  };
  const handle = h("div", {
    class: "height-handle",
    role: "separator",
    "aria-orientation": "horizontal",
    "aria-label": label,
    tabindex: "0",
    "aria-valuemin": String(minHeight),
  });
  handle.addEventListener("pointerdown", (e) => {
    e.preventDefault();
    handle.setPointerCapture(e.pointerId);
    const startY = e.clientY + current;
    const move = (m: PointerEvent): void => set(startY - m.clientY);
    handle.addEventListener("pointermove", move);
    handle.addEventListener(
      "lostpointercapture",
      () => {
        handle.removeEventListener("pointermove", move);
        onResized(current);
      },
      { once: true },
    );
  });
  handle.addEventListener("keydown", (e) => {
    const step = e.key === "ArrowUp" ? 24 : e.key === "ArrowDown" ? -24 : 0;
    if (step === 0) return;
    e.preventDefault();
    e.stopPropagation();
    set(current + step);
    onResized(current);
  });
  set(height);
  return handle;
}
