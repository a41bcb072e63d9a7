// Helps the user to filter a list: applies the label selector while the user types it, and explains filters that select
// nothing.

import "../shared-code.ts";
import { filterHint, labelHint } from "../model/filter-hint.ts";
import type { View } from "../model/view.ts";
import { byId, h, setText } from "../ui/dom.ts";

/** The part of the list page that applies a typed selector. */
interface LabeledList {
  readonly hasData: boolean;
  applyForm(how: "replace"): void;
}

const delay = 400; // ms between the last key press and the use of the typed selector

const key = "([a-z0-9.-]+/)?[a-zA-Z0-9]([\\w.-]*[a-zA-Z0-9])?";
const value = "([a-zA-Z0-9]([\\w.-]*[a-zA-Z0-9])?)?";
const set = `\\s+(in|notin)\\s*\\(\\s*${value}(\\s*,\\s*${value})*\\s*\\)`;
const operation = `\\s*(==?|!=)\\s*${value}|\\s*[<>]\\s*\\d+|${set}`;
const requirement = `\\s*(!\\s*${key}|${key}|${key}(${operation}))\\s*`;
const selector = new RegExp(`^(${requirement}(,${requirement})*)?$`);

/** Whether a text is a complete label selector in the syntax of kubectl. Only the server checks all details. */
export const isSelector = (text: string): boolean => selector.test(text);

/**
 * Handles the typing in the label field, from the first key press on. After each pause, applies the selector to the
 * list if the selector is complete. Otherwise, the previous selector stays in use. Enter submits any text.
 */
export function startLabelTyping(list: LabeledList): void {
  const field = byId("labels") as HTMLInputElement;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const typed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (list.hasData && isSelector(field.value)) list.applyForm("replace");
    }, delay);
  };
  field.addEventListener("input", typed);
  typed();
}

/**
 * Shows a hint in the note of an empty list, if the filters have a form that is not supported. The parameter `isHidden`
 * is whether the text filter hides all rows, so that the label selector is not the cause.
 */
export function showHint(note: Element, { q, labels }: Pick<View, "q" | "labels">, isHidden: boolean): void {
  const text = isHidden ? filterHint(q) : labelHint(labels);
  const shown = note.querySelector(".hint");
  if (text === "") shown?.remove();
  else if (shown !== null) setText(shown, text);
  else note.lastElementChild?.before(h("p", { class: "hint" }, text)); // before the link that clears the filters
}
