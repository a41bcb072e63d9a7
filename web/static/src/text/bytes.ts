import { formatInteger } from "./format.ts";

/**
 * Formats a number of bytes, such as "512 B", "1.5 KiB" or "12 MiB". sizeText in internal/web/page/status.go returns
 * the same text.
 */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let unit = 1024;
  for (; units.length > 1 && bytes >= unit * 1024; unit *= 1024) units.shift();
  const tenths = Math.floor((bytes * 10 + unit / 2) / unit);
  return `${
    tenths < 100 ? `${Math.floor(tenths / 10)}.${tenths % 10}` : formatInteger(Math.floor((bytes + unit / 2) / unit))
  } ${units[0] as string}`;
}
