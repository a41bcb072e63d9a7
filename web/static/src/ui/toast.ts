// Toasts: short messages about actions that have no other visible result. They appear at the bottom of the page for a
// moment, and screen readers announce them.

import { h, setText } from "./dom.ts";

export function showToast(text: string): void {
  let element = document.getElementById("toast");
  if (element === null) document.body.append((element = h("p", { id: "toast", class: "toast", role: "status" })));
  const toast = element;
  setText(toast, text);
  setTimeout(() => {
    if (toast.textContent === text) setText(toast, "");
  }, 4000);
}

/** Reports that data was reset because the stream could not be resumed. */
export const showReloadToast = (): void => showToast("Missed changes could not be replayed. Reloading…");

const typingPause = 1000; // ms after the last key
let typingTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows a toast when typing has paused. If words returns an empty text then, no toast is shown. */
export function showToastAfterTyping(text: () => string): void {
  clearTimeout(typingTimer);
  typingTimer = setTimeout(() => {
    const message = text();
    if (message !== "") showToast(message);
  }, typingPause);
}
