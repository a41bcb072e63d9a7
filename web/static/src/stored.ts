// What this browser remembers: short lists, as pins and what was looked at last,
// and habits. They are preferences, and no part of what an address shows.

// What the browser refuses to keep, where storage is forbidden or full: it is
// forgotten with the page.
const forgotten = new Map<string, string>();

/** What the browser keeps for us. It never throws: even to name localStorage does, where cookies are blocked. */
export const habits = {
  get(key: string): string | null {
    try {
      return forgotten.get(key) ?? localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(key, value);
      forgotten.delete(key);
    } catch {
      forgotten.set(key, value);
    }
  },
  remove(key: string): void {
    forgotten.delete(key);
    try {
      localStorage.removeItem(key);
    } catch {
      // Nothing was kept.
    }
  },
  /** Keeps a habit that is there or is not. */
  turn(key: string, on: boolean): void {
    if (on) habits.set(key, "");
    else habits.remove(key);
  },
};

const prefix = "glasshouse.";

/** The list of a name; empty where there is none, or none may be kept. */
export function stored(name: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(habits.get(prefix + name) ?? "[]");
    return Array.isArray(value) ? value.filter((v): v is string => typeof v === "string") : [];
  } catch {
    return [];
  }
}

export function store(name: string, list: readonly string[]): void {
  if (list.length === 0) habits.remove(prefix + name);
  else habits.set(prefix + name, JSON.stringify(list));
}

/** Tells of it when another tab has changed the list of a name, or all that is remembered. */
export function storedElsewhere(name: string, changed: () => void): void {
  addEventListener("storage", (e) => {
    if (e.key === null || e.key === prefix + name) changed();
  });
}

/** Puts a value first in a list of so many. */
export const first = (list: readonly string[], value: string, most: number): string[] => [value, ...list.filter((v) => v !== value)].slice(0, most);

/** Takes a value out of a list, or puts it at its end. */
export const toggled = (list: readonly string[], value: string): string[] => (list.includes(value) ? list.filter((v) => v !== value) : [...list, value]);

/** Remembers what was just looked at. */
export const remember = (name: string, value: string): void => store(name, first(stored(name), value, 8));
