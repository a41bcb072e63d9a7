// Divides long computations into slices of a few milliseconds, so that the page stays responsive.

const sliceDuration = 8; // ms; an animation frame has 16 ms

export class TimeSlicer {
  private since = 0; // time in ms at which the current slice started

  /** isWanted is called after each pause. It reports whether the work must continue. */
  constructor(
    private readonly isWanted: () => boolean,
    private readonly clock: () => number = () => performance.now(),
    private readonly pause: () => Promise<void> = yieldToPage,
  ) {}

  begin(): void {
    this.since = this.clock();
  }

  /**
   * Pauses if the current slice is over. Callers await it between parts of their work, and stop if the result is
   * false.
   */
  readonly pauseIfDue = (): true | Promise<boolean> => {
    if (this.clock() - this.since < sliceDuration) return true;
    return this.pause().then(() => {
      this.since = this.clock();
      return this.isWanted();
    });
  };

  /** Runs a generator that yields at each point where a pause is possible. Returns null if the work was stopped. */
  async run<T>(work: Generator<undefined, T>): Promise<T | null> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      const proceed = this.pauseIfDue();
      if (proceed !== true && !(await proceed)) return null;
    }
  }
}

/** Runs a generator to its end without pauses, and returns its result. */
export function runToEnd<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

interface Scheduler {
  yield?: () => Promise<void>;
}

// Lets the browser do other work. Timers are used only if scheduler.yield does not exist, because browsers delay the
// timers of hidden pages.
const yieldToPage = (): Promise<void> =>
  (globalThis as { scheduler?: Scheduler }).scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));
