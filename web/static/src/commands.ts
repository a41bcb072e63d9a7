// Defines commands, the actions that a key or the palette starts. The keyboard, the palette and the help use the same
// list of commands, so that they cannot disagree.

import { isSign } from "./letters.ts";

export type Where =
  /** The key works everywhere, except while the user types. */
  | "page"
  /** The key works while the rows have the focus. Letters and punctuation also work elsewhere, as with "page". */
  | "rows"
  /** The key works in the filter box of the rows. */
  | "filter"
  /** The key works in any text box of the page. */
  | "box"
  /** The key works everywhere, also while the user types. */
  | "ever";

export interface Command {
  readonly words: string;
  readonly group: string;
  /** The names of KeyboardEvent.key; "Mod+" means Ctrl or Cmd. */
  readonly keys: readonly string[];
  readonly where: Where;
  /** Whether the command repeats while the key is pressed. */
  readonly repeats?: boolean;
  /** Whether the palette offers the command. */
  readonly offered?: boolean;
  /** Whether the command applies at present. */
  readonly can?: () => boolean;
  readonly run: (key: string) => void;
}

/** Where the keyboard focus is. */
export type Spot = "rows" | "filter" | "box" | "control" | "page";

export interface Press {
  readonly key: string;
  readonly mod: boolean; // Ctrl or Cmd, without any other modifier
  readonly plain: boolean; // no modifier, or only Shift
  readonly repeat: boolean;
  readonly letters: boolean; // whether the user allows shortcuts of a single letter
  readonly spot: Spot;
}

/** Returns the command for a key press; undefined if there is none. */
export function commandOf(commands: readonly Command[], press: Press): Command | undefined {
  if (!press.mod && (!press.plain || (isSign(press.key) && !press.letters))) return undefined;
  const key = press.mod ? `Mod+${press.key.toLowerCase()}` : press.key;
  return commands.find(
    (c) =>
      c.keys.includes(key) && listens(c.where, press) && (c.repeats === true || !press.repeat) && c.can?.() !== false,
  );
}

function listens(where: Where, { key, mod, spot }: Press): boolean {
  const typing = spot === "filter" || spot === "box";
  // A focused control handles Enter and the arrow keys itself, but has no use for letters.
  const sign = key.length === 1 && key !== " ";
  switch (where) {
    case "ever":
      return true;
    case "box":
      return typing;
    case "filter":
      return spot === "filter";
    case "rows":
      return !mod && (spot === "rows" || (!typing && sign));
    case "page":
      return !mod && !typing;
  }
}

const names: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  PageUp: "PgUp",
  PageDown: "PgDn",
};

/** Returns the label of a key, as printed on a keyboard. */
export function keyWords(key: string, apple: boolean): string {
  if (key.startsWith("Mod+")) return (apple ? "⌘ " : "Ctrl ") + key.slice(4).toUpperCase();
  return names[key] ?? key;
}
