// Whether single-key shortcuts are enabled: a preference that the browser stores. Users of speech input may disable
// them, because spoken words arrive as letters.

import { habits } from "./stored.ts";

const off = "letters-off";

export const lettersAct = (): boolean => habits.get(off) === null;

export const letLettersAct = (on: boolean): void => habits.turn(off, !on);

/** Whether a key is a single character. */
export const isSign = (key: string): boolean => key.length === 1;
