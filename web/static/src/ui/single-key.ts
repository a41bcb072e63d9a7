// Whether single-key shortcuts are enabled: a preference that the browser stores. Users of speech input may disable
// them, because spoken words arrive as letters.

import { preferences } from "./preferences.ts";

const storageKey = "letters-off";

export const singleKeysEnabled = (): boolean => preferences.get(storageKey) === null;

export const setSingleKeysEnabled = (on: boolean): void => preferences.setFlag(storageKey, !on);

/** Whether a key is a single character. */
export const isCharacterKey = (key: string): boolean => key.length === 1;
