// The server's time. Ages are counted by it, so that a laptop whose clock is
// off shows what kubectl beside the server would.

export class Clock {
  private skew = 0;

  now(): number {
    return Date.now() + this.skew;
  }

  /** Learns from the Date header of an answer that has just come. */
  learn(header: string | null): void {
    const at = header === null ? NaN : Date.parse(header);
    if (Number.isNaN(at)) return;
    const skew = at - Date.now();
    // The header has whole seconds, and the way back took some time.
    this.skew = Math.abs(skew) < 3000 ? 0 : skew;
  }
}
