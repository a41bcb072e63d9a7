// Applies the label selector while the user types it.

import { byId } from "../ui/dom.ts";
import type { ListPage } from "./list.ts";

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
export function startLabelTyping(list: ListPage): void {
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
