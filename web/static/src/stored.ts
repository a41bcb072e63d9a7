// Short lists that this browser remembers: pins, what was looked at last. They
// are preferences, and no part of what an address shows.

const prefix = "glasshouse.";

/** The list of a name; empty where there is none, or none may be kept. */
export function stored(name: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(prefix + name) ?? "[]");
    return Array.isArray(value) ? value.filter((v): v is string => typeof v === "string") : [];
  } catch {
    return [];
  }
}

export function store(name: string, list: readonly string[]): void {
  try {
    if (list.length === 0) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, JSON.stringify(list));
  } catch {
    // Forbidden, or full: it is forgotten with the page.
  }
}

/** Puts a value first in a list of so many. */
export const first = (list: readonly string[], value: string, most: number): string[] => [value, ...list.filter((v) => v !== value)].slice(0, most);

/** Takes a value out of a list, or puts it at its end. */
export const toggled = (list: readonly string[], value: string): string[] => (list.includes(value) ? list.filter((v) => v !== value) : [...list, value]);

/** Remembers what was just looked at. */
export const remember = (name: string, value: string): void => store(name, first(stored(name), value, 8));
