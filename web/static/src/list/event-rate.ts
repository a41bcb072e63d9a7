// The event rate: a sparkline of the last 10 seconds, and the mean of the last 5 seconds as a number.

const sampleCount = 10;
const blocks = "▁▂▃▄▅▆▇█";

export class EventRate {
  private readonly counts: number[] = [];
  private previousTotal = 0;

  /**
   * Records the total number of events so far. Call it once a second. A total lower than the previous one counts as no
   * events.
   */
  tick(total: number): void {
    this.counts.push(Math.max(0, total - this.previousTotal));
    this.previousTotal = total;
    if (this.counts.length > sampleCount) this.counts.shift();
  }

  /** The sparkline, with the newest second last. */
  get sparkline(): string {
    // The minimum of 8 keeps a single change from filling the full height.
    const maxCount = Math.max(8, ...this.counts);
    return this.counts
      .map((n) => (n === 0 ? "▁" : (blocks[Math.ceil((n / maxCount) * (blocks.length - 1))] ?? "█")))
      .join("")
      .padStart(sampleCount, "▁");
  }

  /** Events per second, averaged over the last 5 seconds. */
  get text(): string {
    const last = this.counts.slice(-5);
    const mean = last.reduce((a, b) => a + b, 0) / Math.max(1, last.length);
    return `${mean >= 10 || mean === 0 ? Math.round(mean) : mean.toFixed(1)}/s`;
  }
}
