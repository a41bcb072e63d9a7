// Runs long work in slices of a few milliseconds, so that the page stays responsive.

const sliceDuration = 8; // milliseconds; an animation frame has 16

export class TimeSlicer {
  private since = 0; // start of the current slice

  /** isWanted: called after each pause, returns whether the work is still wanted. */
  constructor(
    private readonly isWanted: () => boolean,
    private readonly clock: () => number = () => performance.now(),
    private readonly pause: () => Promise<void> = yieldToPage,
  ) {}

  /** Starts the first slice. */
  begin(): void {
    this.since = this.clock();
  }

  /** Pauses if the current slice is over. Callers await it between parts of the work, and stop if it returns false. */
  readonly pauseIfDue = (): true | Promise<boolean> => {
    if (this.clock() - this.since < sliceDuration) return true;
    return this.pause().then(() => {
      this.since = this.clock();
      return this.isWanted();
    });
  };

  /** Runs a generator that yields at every point where it may pause. Returns null if the work is no longer wanted. */
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

// Lets the browser do other work. A timer is only the fallback, because browsers delay timers of hidden pages.
const yieldToPage = (): Promise<void> =>
  (globalThis as { scheduler?: Scheduler }).scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));
