// A handle that changes the height of a part of the page, by pointer or arrow keys.

import { h } from "./dom.ts";

const least = 120; // px

/** Sets the height of an element, and returns a handle for its upper edge. */
export function grip(element: HTMLElement, label: string, height: number, done: (height: number) => void): HTMLElement {
  const most = (): number => Math.max(least, innerHeight - 220);
  let now = 0;
  const set = (to: number): void => {
    now = Math.round(Math.min(most(), Math.max(least, to)));
    element.style.height = `${now}px`;
    edge.setAttribute("aria-valuenow", String(now));
    edge.setAttribute("aria-valuemax", String(most()));
  };
  const edge = h("div", {
    class: "grip",
    role: "separator",
    "aria-orientation": "horizontal",
    "aria-label": label,
    tabindex: "0",
    "aria-valuemin": String(least),
  });
  edge.addEventListener("pointerdown", (e) => {
    e.preventDefault();
    edge.setPointerCapture(e.pointerId);
    const from = e.clientY + now;
    const move = (m: PointerEvent): void => set(from - m.clientY);
    edge.addEventListener("pointermove", move);
    edge.addEventListener("lostpointercapture", () => {
      edge.removeEventListener("pointermove", move);
      done(now);
    }, { once: true });
  });
  edge.addEventListener("keydown", (e) => {
    const step = e.key === "ArrowUp" ? 24 : e.key === "ArrowDown" ? -24 : 0;
    if (step === 0) return;
    e.preventDefault();
    e.stopPropagation();
    set(now + step);
    done(now);
  });
  set(height);
  return edge;
}
