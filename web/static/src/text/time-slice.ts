// Divides long computations into slices of a few milliseconds, so that the page stays responsive.

const sliceDuration = 8; // ms per slice of work; an animation frame has 16 ms

export class TimeSlicer {
  private since = 0; // ms; start of the current slice

  /** After each pause, isWanted must return whether to continue the work. */
  constructor(
    private readonly isWanted: () => boolean,
    private readonly clock: () => number = () => performance.now(),
    private readonly pause: () => Promise<void> = yieldToPage,
  ) {}

  begin(): void {
    this.since = this.clock();
  }

  /** Pauses if the current slice is over. The caller must stop if the result is false. */
  readonly pauseIfDue = (): true | Promise<boolean> => {
    if (this.clock() - this.since < sliceDuration) return true;
    return this.pause().then(() => {
      this.since = this.clock();
      return this.isWanted();
    });
  };

  /** Runs a generator, which yields where a pause is possible. The result is null if the work was stopped. */
  async run<T>(work: Generator<undefined, T>): Promise<T | null> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      const proceed = this.pauseIfDue();
      if (proceed !== true && !(await proceed)) return null;
    }
  }
}

export function runToEnd<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

interface Scheduler {
  yield?: () => Promise<void>;
}

// Prefer scheduler.yield to a timer, because browsers delay the timers of hidden pages.
const yieldToPage = (): Promise<void> =>
  (globalThis as { scheduler?: Scheduler }).scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));
