/** Returns a member of a decoded JSON document if it is a text, otherwise "". */
export const text = (v: unknown): string => (typeof v === "string" ? v : "");
