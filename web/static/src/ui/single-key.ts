// Users of speech input can disable single-key shortcuts, because spoken words arrive as letters.

import { preferences } from "./preferences.ts";

const storageKey = "letters-off";

export const singleKeysEnabled = (): boolean => preferences.get(storageKey) === null;

export const setSingleKeysEnabled = (on: boolean): void => preferences.setFlag(storageKey, !on);

export const isCharacterKey = (key: string): boolean => key.length === 1;
