// Toasts: short messages about actions that have no other visible result. They appear at the bottom of the page for a
// moment, and screen readers announce them.

import { h, setText } from "./dom.ts";

export function say(words: string): void {
  let place = document.getElementById("said");
  if (place === null) document.body.append((place = h("p", { id: "said", class: "said", role: "status" })));
  const told = place;
  setText(told, words);
  setTimeout(() => {
    if (told.textContent === words) setText(told, "");
  }, 4000);
}

/** Reports that data was reset because the stream could not be resumed. */
export const sayAnew = (): void => say("Missed changes could not be replayed. Reloading…");

const pause = 1000; // ms after the last key
let typing: ReturnType<typeof setTimeout> | undefined;

/** Shows a toast when typing has paused. If words returns an empty text then, no toast is shown. */
export function sayAfterTyping(words: () => string): void {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const told = words();
    if (told !== "") say(told);
  }, pause);
}
