// Runs long work in slices of a few milliseconds, so that the page stays responsive.

const slice = 8; // milliseconds; an animation frame has 16

export class Slices {
  private since = 0; // start of the current slice

  /** goes: called after each pause, returns whether the work is still wanted. */
  constructor(
    private readonly goes: () => boolean,
    private readonly clock: () => number = () => performance.now(),
    private readonly pause: () => Promise<void> = pauseOfPage,
  ) {}

  /** Starts the first slice. */
  begin(): void {
    this.since = this.clock();
  }

  /** Pauses if the current slice is over. Callers await it between parts of the work, and stop if it returns false. */
  readonly rest = (): true | Promise<boolean> => {
    if (this.clock() - this.since < slice) return true;
    return this.pause().then(() => {
      this.since = this.clock();
      return this.goes();
    });
  };

  /** Runs a generator that yields at every point where it may pause. Returns null if the work is no longer wanted. */
  async run<T>(work: Generator<undefined, T>): Promise<T | null> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      const go = this.rest();
      if (go !== true && !(await go)) return null;
    }
  }
}

/** Runs a generator to its end without pauses, and returns its result. */
export function atOnce<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

interface Scheduler {
  yield?: () => Promise<void>;
}

// Lets the browser do other work. A timer is only the fallback, because browsers delay timers of hidden pages.
const pauseOfPage = (): Promise<void> =>
  (globalThis as { scheduler?: Scheduler }).scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));
