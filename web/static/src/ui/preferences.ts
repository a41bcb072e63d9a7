// Stores preferences of the user in the browser: short lists, such as pinned resources, and single settings. They are
// not part of the URL.

// Contains the values that the browser refuses to store. They are lost when the page is closed.
const memoryFallback = new Map<string, string>();

/**
 * Reads and writes the browser's storage without throwing errors. If cookies are blocked, even reading the variable
 * localStorage throws an error.
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
      // The storage is not available, so it contains nothing to remove.
    }
  },
  /** Stores a flag that is true, and removes a flag that is false. */
  setFlag(key: string, on: boolean): void {
    if (on) preferences.set(key, "");
    else preferences.remove(key);
  },
};

const prefix = "glasshouse.";

/** Returns the list with this name. It is empty if there is no such list, or if the storage is not available. */
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

/** Calls changed after another browser tab has changed the list with this name, or has cleared the storage. */
export function onListChangedElsewhere(name: string, changed: () => void): void {
  addEventListener("storage", (e) => {
    if (e.key === null || e.key === prefix + name) changed();
  });
}

/** Returns the list with value at the front. The result contains at most most values. */
export const moveToFront = (list: readonly string[], value: string, most: number): string[] =>
  [value, ...list.filter((v) => v !== value)].slice(0, most);

/** Returns the list without value if it contains value. Otherwise, it returns the list with value at the end. */
export const toggleValue = (list: readonly string[], value: string): string[] =>
  list.includes(value) ? list.filter((v) => v !== value) : [...list, value];

/** Moves a value to the front of a list of recently used values. The list has at most 8 values. */
export const rememberRecent = (name: string, value: string): void =>
  storeList(name, moveToFront(storedList(name), value, 8));
