// A word on what was just done, where it shows nowhere else: for a moment at the
// foot of the page, and for who listens to it.

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

/** Says that something is read anew, as it could not be carried on from. */
export const sayAnew = (): void => say("What was missed could not be replayed: all is read anew.");

const pause = 1000; // ms after the last key
let typing: ReturnType<typeof setTimeout> | undefined;

/** Says what is so once nothing more is typed; nothing where there are no words then. */
export function sayAfterTyping(words: () => string): void {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const told = words();
    if (told !== "") say(told);
  }, pause);
}
