// The server's clock. With it, a browser with a wrong clock shows the same ages as kubectl.

export class Clock {
  private skew = 0;

  now(): number {
    return Date.now() + this.skew;
  }

  /** Sets the clock. The parameter is the Date header of a response that has just arrived. */
  sync(header: string | null): void {
    const at = header === null ? NaN : Date.parse(header);
    if (Number.isNaN(at)) return;
    const skew = at - Date.now();
    // Ignore differences below 3 s, because the header has only full seconds and the response took time to arrive.
    this.skew = Math.abs(skew) < 3000 ? 0 : skew;
  }
}
