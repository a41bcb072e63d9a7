// Preferences in the storage of the browser: short lists, such as pins and recently used values, and single settings.
// They are not part of a URL.

// Replaces the browser's storage for values that it does not store, because storage is forbidden or full. They are lost
// when the page is closed.
const memoryFallback = new Map<string, string>();

/**
 * Access to the browser's storage. It never throws: even reading the name localStorage throws if cookies are blocked.
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
      // The storage is not available, so nothing was stored.
    }
  },
  /** Stores a flag, or removes it. */
  setFlag(key: string, on: boolean): void {
    if (on) preferences.set(key, "");
    else preferences.remove(key);
  },
};

const prefix = "glasshouse.";

/** Returns the list of this name; empty if there is none, or if storage is not available. */
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

/** Calls changed when another tab has changed the list of this name, or has cleared the storage. */
export function onListChangedElsewhere(name: string, changed: () => void): void {
  addEventListener("storage", (e) => {
    if (e.key === null || e.key === prefix + name) changed();
  });
}

/** Returns the list with value moved or added to its front, and cut to at most most values. */
export const moveToFront = (list: readonly string[], value: string, most: number): string[] =>
  [value, ...list.filter((v) => v !== value)].slice(0, most);

/** Returns the list without value if it contains value, otherwise with value appended. */
export const toggleValue = (list: readonly string[], value: string): string[] =>
  list.includes(value) ? list.filter((v) => v !== value) : [...list, value];

/** Records a value as the most recently used one. */
export const rememberRecent = (name: string, value: string): void =>
  storeList(name, moveToFront(storedList(name), value, 8));
