// Measures how many events (row changes) arrive per second.

const sampleCount = 5;

export class EventRate {
  private readonly counts: number[] = [];

  /** The parameter is the total number of events at the start of the measurement. */
  constructor(private previousTotal = 0) {}

  /** Records the total number of events so far. It must be called once per second. */
  tick(total: number): void {
    // A new feed counts its events from 0, so the total can be lower than before. In that case, record 0 new events.
    this.counts.push(Math.max(0, total - this.previousTotal));
    this.previousTotal = total;
    if (this.counts.length > sampleCount) this.counts.shift();
  }

  /** The average number of events per second over the last 5 seconds, for example "2.4/s". "" before the first tick. */
  get text(): string {
    if (this.counts.length === 0) return "";
    const mean = this.counts.reduce((a, b) => a + b, 0) / this.counts.length;
    return `${mean >= 10 || mean === 0 ? Math.round(mean) : mean.toFixed(1)}/s`;
  }
}
