// Defines commands, the actions that keys and palette entries start. Keyboard, palette and help use the same commands.

import { isCharacterKey } from "../ui/single-key.ts";

export type KeyScope =
  /** The key works everywhere on the page, except in text fields. */
  | "page"
  /** The key works while the rows have the focus. Letters and punctuation also work elsewhere except in text fields. */
  | "rows"
  /** The key works in the filter field above the rows. */
  | "filter"
  /** The key works in any text field. */
  | "text-field"
  /** The key works everywhere, including in text fields. */
  | "everywhere";

export interface Command {
  readonly label: string;
  readonly group: string;
  /** The keys that start the command, as in KeyboardEvent.key. "Mod+" means Ctrl or Cmd. */
  readonly keys: readonly string[];
  readonly scope: KeyScope;
  /** Whether the command runs repeatedly while the key is pressed. */
  readonly repeats?: boolean;
  readonly inPalette?: boolean;
  /** Whether the command can be used now. */
  readonly isEnabled?: () => boolean;
  readonly run: (key: string) => void;
}

/** The part of the page that has the keyboard focus. */
export type FocusArea = "rows" | "filter" | "text-field" | "control" | "page";

export interface KeyPress {
  readonly key: string;
  readonly ctrlOrCmd: boolean; // Ctrl or Cmd is pressed, and no other modifier key
  readonly plain: boolean; // no modifier key is pressed, except Shift
  readonly repeat: boolean;
  readonly singleKeys: boolean; // whether the user has enabled shortcuts of a single character
  readonly focus: FocusArea;
}

/** Returns the command that a key press starts, or undefined. */
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

function matchesScope(scope: KeyScope, { key, ctrlOrCmd: mod, focus }: KeyPress): boolean {
  const typing = focus === "filter" || focus === "text-field";
  // A focused control (such as a button) handles Enter and the arrow keys itself, but not letters.
  const isCharacter = key.length === 1 && key !== " ";
  switch (scope) {
    case "everywhere":
      return true;
    case "text-field":
      return typing;
    case "filter":
      return focus === "filter";
    case "rows":
      return !mod && (focus === "rows" || (!typing && isCharacter));
    case "page":
      return !mod && !typing;
  }
}

const keyLabels: Readonly<Record<string, string>> = {
  " ": "Space",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  PageUp: "PgUp",
  PageDown: "PgDn",
};

/** Returns the label of a key as printed on a keyboard. */
export function keyLabel(key: string, isApple: boolean): string {
  if (key.startsWith("Mod+")) return (isApple ? "⌘ " : "Ctrl ") + key.slice(4).toUpperCase();
  return keyLabels[key] ?? key;
}
