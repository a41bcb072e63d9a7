/** Returns a text such as "10,020". */
export const formatInteger = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
