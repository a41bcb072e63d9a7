// What a person can do, as one table: the keyboard listens by it, the palette
// offers it, and the help shows it, so that none of them can say another thing.

import { isSign } from "./letters.ts";

export type Where =
  /** Wherever nothing is being typed. */
  | "page"
  /** At the rows; letters and signs as on the page. */
  | "rows"
  /** In the rows' filter. */
  | "filter"
  /** In any box of the page. */
  | "box"
  /** Everywhere, whatever is being typed. */
  | "ever";

export interface Command {
  readonly words: string;
  readonly group: string;
  /** As KeyboardEvent.key names them; "Mod+" stands for Ctrl or Cmd. */
  readonly keys: readonly string[];
  readonly where: Where;
  /** It goes on while the key is held. */
  readonly repeats?: boolean;
  /** The palette offers it. */
  readonly offered?: boolean;
  /** Whether there is something to do it to now. */
  readonly can?: () => boolean;
  readonly run: (key: string) => void;
}

/** Where the keyboard is. */
export type Spot = "rows" | "filter" | "box" | "control" | "page";

export interface Press {
  readonly key: string;
  readonly mod: boolean; // Ctrl or Cmd, and no other
  readonly plain: boolean; // no modifier, Shift apart
  readonly repeat: boolean;
  readonly letters: boolean; // letters and signs do something by themselves
  readonly spot: Spot;
}

/** The command that a press means; undefined where it means none. */
export function commandOf(commands: readonly Command[], press: Press): Command | undefined {
  if (!press.mod && (!press.plain || (isSign(press.key) && !press.letters))) return undefined;
  const key = press.mod ? `Mod+${press.key.toLowerCase()}` : press.key;
  return commands.find((c) => c.keys.includes(key) && listens(c.where, press) && (c.repeats === true || !press.repeat) && c.can?.() !== false);
}

function listens(where: Where, { key, mod, spot }: Press): boolean {
  const typing = spot === "filter" || spot === "box";
  // A control that has the keyboard takes Enter and the arrows for itself; letters it has no use for.
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

const names: Readonly<Record<string, string>> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", PageUp: "PgUp", PageDown: "PgDn" };

/** A key as it is written on a keyboard. */
export function keyWords(key: string, apple: boolean): string {
  if (key.startsWith("Mod+")) return (apple ? "⌘ " : "Ctrl ") + key.slice(4).toUpperCase();
  return names[key] ?? key;
}
