// Parses and formats Kubernetes quantities.

const scale: Readonly<Record<string, number>> = {
  "": 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const quantityPattern = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?$/;
const byteUnits = ["B", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Parses a Kubernetes quantity, such as 1500m or 2Gi. Returns null if it is invalid. */
export function parseQuantity(text: string): number | null {
  const found = quantityPattern.exec(text.trim());
  if (found === null) return null;
  const n = Number(found[1]) * (found[3] === undefined ? (scale[found[2] ?? ""] ?? NaN) : 10 ** Number(found[3]));
  return Number.isFinite(n) ? n : null;
}

/** Formats a number of bytes, such as 1536 as "1.5 Ki". */
export function bytes(n: number): string {
  let step = 0;
  for (; Math.abs(n) >= 1024 && step < byteUnits.length - 1; step++) n /= 1024;
  return `${formatNumber(n)} ${byteUnits[step] ?? ""}`;
}

/** Formats a number below 100 with three significant digits, and a larger number as an integer. */
const formatNumber = (n: number): string =>
  Math.abs(n) >= 100 ? String(Math.round(n)) : String(Number(n.toPrecision(3)));

const isInBytes = (resource: string): boolean => /(^|[.-])(memory|storage)$|^hugepages-/.test(resource);

/** Formats a quantity of a resource, such as memory "36571Mi" as "35.7 Gi". Returns an invalid text unchanged. */
export function quantityText(resource: string, text: string): string {
  const n = parseQuantity(text);
  if (n === null) return text;
  if (/(^|\.)cpu$/.test(resource)) return `${formatNumber(n)} ${n === 1 ? "core" : "cores"}`;
  return isInBytes(resource) ? bytes(n) : formatNumber(n);
}
