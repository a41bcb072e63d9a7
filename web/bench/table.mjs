// Prints measurements with their limits and the results of the best other dashboard.

const short = (v) => (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2));

export const median = (list) => quantile(list, 0.5);

export function quantile(list, q) {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN;
}

export class Table {
  rows = [];

  /** Adds a row: the median of `figures`, its limit (`bar`), and the result of the best other dashboard (`others`). */
  add(what, unit, figures, bar, others = "") {
    const list = [figures].flat();
    const m = median(list);
    const off = Math.max(...list.map((v) => Math.abs(v - m)));
    const row = [
      what,
      `${short(m)} ${unit}${list.length > 1 && m > 0 ? ` ±${Math.round((100 * off) / m)}%` : ""}`,
      bar === null ? "" : `${short(bar)} ${unit}`,
      bar === null ? "" : m <= bar ? "met" : "MISSED",
      others,
    ];
    this.rows.push(row);
    console.log(row.join(" | "));
  }

  print() {
    printTable(["what", "ours", "bar", "", "best other"], this.rows);
  }
}

export function printTable(head, rows) {
  const widths = head.map((h, i) => Math.max(h.length, ...rows.map((r) => r[i].length)));
  const line = (r) =>
    r
      .map((c, i) => c.padEnd(widths[i]))
      .join("  ")
      .trimEnd();
  console.log(`\n${[head, ...rows].map(line).join("\n")}`);
}
