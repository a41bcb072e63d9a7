// How much happens: events a second over the last minute, as a line of blocks
// and a number.

const seconds = 10;
const blocks = "▁▂▃▄▅▆▇█";

export class Rate {
  private readonly counts: number[] = [];
  private before = 0;

  /** Takes, once a second, how many events there were so far. One that is less than before begins anew. */
  tick(total: number): void {
    this.counts.push(Math.max(0, total - this.before));
    this.before = total;
    if (this.counts.length > seconds) this.counts.shift();
  }

  /** The line, the newest second last. */
  get line(): string {
    const most = Math.max(8, ...this.counts); // A single change is no mountain.
    return this.counts.map((n) => (n === 0 ? "▁" : (blocks[Math.ceil((n / most) * (blocks.length - 1))] ?? "█"))).join("").padStart(seconds, "▁");
  }

  /** How many a second, over the last five. */
  get words(): string {
    const last = this.counts.slice(-5);
    const mean = last.reduce((a, b) => a + b, 0) / Math.max(1, last.length);
    return `${mean >= 10 || mean === 0 ? Math.round(mean) : mean.toFixed(1)}/s`;
  }
}
