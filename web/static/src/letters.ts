// Whether letters and signs do something by themselves: a habit of the person.
// Who speaks to the computer may not want it, as words come as letters.

import { habits } from "./stored.ts";

const off = "letters-off";

export const lettersAct = (): boolean => habits.get(off) === null;

export const letLettersAct = (on: boolean): void => habits.turn(off, !on);

/** Whether a key is a letter or a sign. */
export const isSign = (key: string): boolean => key.length === 1;
