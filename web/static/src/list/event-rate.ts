// Measures how many events (row changes) arrive per second, for a sparkline of 10 s and an average over 5 s.

const sampleCount = 10;
const blocks = "▁▂▃▄▅▆▇█";

export class EventRate {
  private readonly counts: number[] = [];
  private previousTotal = 0;

  /** Records the total number of events so far. It must be called once per second. */
  tick(total: number): void {
    // A new feed counts its events from 0, so the total can be lower than before. In that case, record 0 new events.
    this.counts.push(Math.max(0, total - this.previousTotal));
    this.previousTotal = total;
    if (this.counts.length > sampleCount) this.counts.shift();
  }

  /** The sparkline as text, with the newest second at the end. */
  get sparkline(): string {
    // Scale to at least 8 events per second, so that a single event does not fill the height.
    const maxCount = Math.max(8, ...this.counts);
    return this.counts
      .map((n) => (n === 0 ? "▁" : (blocks[Math.ceil((n / maxCount) * (blocks.length - 1))] ?? "█")))
      .join("")
      .padStart(sampleCount, "▁");
  }

  /** The average number of events per second over the last 5 seconds, for example "2.4/s". */
  get text(): string {
    const last = this.counts.slice(-5);
    const mean = last.reduce((a, b) => a + b, 0) / Math.max(1, last.length);
    return `${mean >= 10 || mean === 0 ? Math.round(mean) : mean.toFixed(1)}/s`;
  }
}
