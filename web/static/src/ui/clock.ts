// The server's time. Ages use it, so that a client with a wrong clock shows the same ages as kubectl on the server.

export class Clock {
  private skew = 0;

  now(): number {
    return Date.now() + this.skew;
  }

  /** Sets the offset from the Date header of a response that has just arrived. */
  sync(header: string | null): void {
    const at = header === null ? NaN : Date.parse(header);
    if (Number.isNaN(at)) return;
    const skew = at - Date.now();
    // Offsets below 3 s are ignored: the header has whole seconds, and the response took some time.
    this.skew = Math.abs(skew) < 3000 ? 0 : skew;
  }
}
