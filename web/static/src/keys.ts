// Runs commands on key presses.

import { commandOf, type Command, type Spot } from "./commands.ts";
import { lettersAct } from "./letters.ts";

export const apple = /Mac|iP(hone|ad)/.test(navigator.platform);

export function listenToKeys(commands: () => readonly Command[]): void {
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.isComposing) return;
    // An open dialog or popover has the keyboard to itself.
    const above = document.querySelector("dialog[open], :popover-open:not([popover=manual])") !== null;
    const graph = e.getModifierState("AltGraph"); // some keyboards type [ and ] with it
    const plain = graph || (!e.ctrlKey && !e.metaKey && !e.altKey);
    const mod = !plain && e.ctrlKey !== e.metaKey && !e.altKey && !e.shiftKey;
    const command = commandOf(commands(), {
      key: e.key,
      mod,
      plain,
      repeat: e.repeat,
      letters: lettersAct(),
      spot: spotOf(e.target),
    });
    if (command === undefined || (above && command.where !== "ever")) return;
    e.preventDefault();
    command.run(e.key);
  });
}

function spotOf(target: EventTarget | null): Spot {
  // An element that has just been closed keeps the focus for one frame.
  const at = target instanceof HTMLElement && target.checkVisibility() ? target : document.body;
  if (at.id === "q") return "filter";
  const typed = at instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(at.type);
  if (typed || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement || at.isContentEditable)
    return "box";
  if (at === document.body || at.id === "main") return "rows";
  if (at.closest("#rows") !== null) return at.closest("button") === null ? "rows" : "control";
  return at.closest("a, button, summary, [role=tab], [role=separator]") === null ? "page" : "control";
}
