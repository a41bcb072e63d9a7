// Speech input enters words as letters, which would start single-key shortcuts. So users can disable these shortcuts.

import { preferences } from "./preferences.ts";

const storageKey = "letters-off";

export const singleKeysEnabled = (): boolean => preferences.get(storageKey) === null;

export const setSingleKeysEnabled = (on: boolean): void => preferences.setFlag(storageKey, !on);

export const isCharacterKey = (key: string): boolean => key.length === 1;
