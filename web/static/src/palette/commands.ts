// Defines commands, the actions that a key or the palette starts. The keyboard, the palette and the help use the same
// list of commands, so that they cannot disagree.

import { isCharacterKey } from "../ui/single-key.ts";

export type KeyScope =
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
  readonly label: string;
  readonly group: string;
  /** The names of KeyboardEvent.key; "Mod+" means Ctrl or Cmd. */
  readonly keys: readonly string[];
  readonly scope: KeyScope;
  /** Whether the command repeats while the key is pressed. */
  readonly repeats?: boolean;
  /** Whether the palette offers the command. */
  readonly inPalette?: boolean;
  /** Whether the command applies at present. */
  readonly isEnabled?: () => boolean;
  readonly run: (key: string) => void;
}

/** Where the keyboard focus is. */
export type FocusArea = "rows" | "filter" | "box" | "control" | "page";

export interface KeyPress {
  readonly key: string;
  readonly ctrlOrCmd: boolean; // Ctrl or Cmd, without any other modifier
  readonly plain: boolean; // no modifier, or only Shift
  readonly repeat: boolean;
  readonly singleKeys: boolean; // whether the user allows shortcuts of a single letter
  readonly focus: FocusArea;
}

/** Returns the command for a key press; undefined if there is none. */
export function findCommand(commands: readonly Command[], press: KeyPress): Command | undefined {
  if (!press.ctrlOrCmd && (!press.plain || (isCharacterKey(press.key) && !press.singleKeys))) return undefined;
  const key = press.ctrlOrCmd ? `Mod+${press.key.toLowerCase()}` : press.key;
  return commands.find(
    (c) =>
      c.keys.includes(key) &&
      matchesScope(c.scope, press) &&
      (c.repeats === true || !press.repeat) &&
      c.isEnabled?.() !== false,
  );
}

function matchesScope(scope: KeyScope, { key, ctrlOrCmd: mod, focus: spot }: KeyPress): boolean {
  const typing = spot === "filter" || spot === "box";
  // A focused control handles Enter and the arrow keys itself, but has no use for letters.
  const isCharacter = key.length === 1 && key !== " ";
  switch (scope) {
    case "ever":
      return true;
    case "box":
      return typing;
    case "filter":
      return spot === "filter";
    case "rows":
      return !mod && (spot === "rows" || (!typing && isCharacter));
    case "page":
      return !mod && !typing;
  }
}

const keyLabels: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  PageUp: "PgUp",
  PageDown: "PgDn",
};

/** Returns the label of a key, as printed on a keyboard. */
export function keyLabel(key: string, isApple: boolean): string {
  if (key.startsWith("Mod+")) return (isApple ? "⌘ " : "Ctrl ") + key.slice(4).toUpperCase();
  return keyLabels[key] ?? key;
}
