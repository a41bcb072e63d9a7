/** Formats an integer with thousands separators, such as "10,020". */
export const formatInteger = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
