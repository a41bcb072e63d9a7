// Toasts are short messages about actions that have no other visible result.

import { h, setAttr, setText } from "./dom.ts";

/** Shows a short message. If isQuiet is true, the message is invisible, and only screen readers announce it. */
export function showToast(text: string, isQuiet = false): void {
  let element = document.getElementById("toast");
  if (element === null) document.body.append((element = h("p", { id: "toast", class: "toast", role: "status" })));
  const toast = element;
  setAttr(toast, "data-quiet", isQuiet ? "" : null);
  setText(toast, text);
  setTimeout(() => {
    if (toast.textContent === text) setText(toast, "");
  }, 4000);
}

export const showReloadToast = (): void => showToast("Missed changes could not be replayed. Reloading…");

const typingPause = 1000; // ms without a key press after which typing has ended
let typingTimer: ReturnType<typeof setTimeout> | undefined;

/** When the user has stopped typing, calls text() and lets screen readers announce its result, if it is not empty. */
export function showToastAfterTyping(text: () => string): void {
  clearTimeout(typingTimer);
  typingTimer = setTimeout(() => {
    const message = text();
    if (message !== "") showToast(message, true);
  }, typingPause);
}
