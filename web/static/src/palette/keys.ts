// Runs commands when the user presses their keys.

import { findCommand, type Command, type FocusArea } from "./commands.ts";
import { singleKeysEnabled } from "../ui/single-key.ts";

export const isApple = /Mac|iP(hone|ad)/.test(navigator.platform);

export function listenToKeys(commands: () => readonly Command[]): void {
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.isComposing) return;
    // While a dialog or popover is open, only commands with the scope "everywhere" run.
    const dialogIsOpen = document.querySelector("dialog[open], :popover-open:not([popover=manual])") !== null;
    const isAltGraph = e.getModifierState("AltGraph"); // AltGr is allowed: some keyboards need it to type [ and ]
    const plain = isAltGraph || (!e.ctrlKey && !e.metaKey && !e.altKey);
    const ctrlOrCmd = !plain && e.ctrlKey !== e.metaKey && !e.altKey && !e.shiftKey;
    const command = findCommand(commands(), {
      key: e.key,
      ctrlOrCmd,
      plain,
      repeat: e.repeat,
      singleKeys: singleKeysEnabled(),
      focus: focusAreaOf(e.target),
    });
    if (command === undefined || (dialogIsOpen && command.scope !== "everywhere")) return;
    e.preventDefault();
    command.run(e.key);
  });
}

function focusAreaOf(target: EventTarget | null): FocusArea {
  // An element that was hidden a moment ago keeps the focus for one animation frame. Treat the body as focused instead.
  const at = target instanceof HTMLElement && target.checkVisibility() ? target : document.body;
  if (at.id === "q") return "filter";
  const isTextInput = at instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(at.type);
  if (isTextInput || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement || at.isContentEditable)
    return "text-field";
  if (at === document.body || at.id === "main") return "rows";
  if (at.closest("#rows") !== null) return at.closest("button") === null ? "rows" : "control";
  return at.closest("a, button, summary, [role=tab], [role=separator]") === null ? "page" : "control";
}
