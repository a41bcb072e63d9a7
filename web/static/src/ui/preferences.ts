// Stores the user's preferences in the browser: short lists, such as pinned resources, and single settings.

import type { View } from "../model/view.ts";

// Values that the browser refuses to store. They are lost when the page is closed.
const memoryFallback = new Map<string, string>();

/**
 * Reads and writes single settings. Never throws. If cookies are blocked, even reading the variable localStorage throws
 * an error.
 */
export const preferences = {
  get(key: string): string | null {
    try {
      return memoryFallback.get(key) ?? localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(key, value);
      memoryFallback.delete(key);
    } catch {
      memoryFallback.set(key, value);
    }
  },
  remove(key: string): void {
    memoryFallback.delete(key);
    try {
      localStorage.removeItem(key);
    } catch {
      // If the browser blocks localStorage, it contains no value to remove.
    }
  },
  setFlag(key: string, on: boolean): void {
    if (on) preferences.set(key, "");
    else preferences.remove(key);
  },
};

const prefix = "glasshouse.";

/** Returns a stored list. It is empty if there is none, or if the storage is not available. */
export function storedList(name: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(preferences.get(prefix + name) ?? "[]");
    return Array.isArray(value) ? value.filter((v): v is string => typeof v === "string") : [];
  } catch {
    return [];
  }
}

export function storeList(name: string, list: readonly string[]): void {
  if (list.length === 0) preferences.remove(prefix + name);
  else preferences.set(prefix + name, JSON.stringify(list));
}

/** Calls `changed` after the user has changed the stored list, or cleared the storage, in another browser tab. */
export function onListChangedElsewhere(name: string, changed: () => void): void {
  addEventListener("storage", (e) => {
    if (e.key === null || e.key === prefix + name) changed();
  });
}

/** Returns the list with the value at the front. The parameter `most` limits the length of the result. */
const moveToFront = (list: readonly string[], value: string, most: number): string[] =>
  [value, ...list.filter((v) => v !== value)].slice(0, most);

/** Removes the value if the list contains it. Otherwise, it appends the value. */
export const toggleValue = (list: readonly string[], value: string): string[] =>
  list.includes(value) ? list.filter((v) => v !== value) : [...list, value];

/** Moves a value to the front of a stored list, which keeps at most 8 values. */
export const rememberRecent = (name: string, value: string): void =>
  storeList(name, moveToFront(storedList(name), value, 8));

/**
 * Adds the columns that the user last chose for the view's resource. Returns the view unchanged if it already has
 * columns, or if the screen shows this resource now (shownRef). Do not call this for the URL with which the page was
 * opened: its author chose the columns deliberately.
 */
export const withPreferredColumns = (view: View, shownRef?: string): View =>
  view.cols.length > 0 || view.ref === shownRef ? view : { ...view, cols: storedList(`columns.${view.ref}`) };
