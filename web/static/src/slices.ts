// Runs long work in slices of a few milliseconds, so that the page stays responsive.

const slice = 8; // milliseconds; a frame has 16

export class Slices {
  private since = 0; // start of the current slice

  /** goes reports after each pause whether the work is still wanted. */
  constructor(
    private readonly goes: () => boolean,
    private readonly clock: () => number = () => performance.now(),
    private readonly pause: () => Promise<void> = pauseOfPage,
  ) {}

  /** Starts the first slice. */
  begin(): void {
    this.since = this.clock();
  }

  /** Await it between parts of the work. If it returns false, stop the work. */
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

/** Runs the same work without pauses. */
export function atOnce<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

interface Scheduler {
  yield?: () => Promise<void>;
}

// A timer is the fallback only, because browsers delay it when the page is hidden.
const pauseOfPage = (): Promise<void> =>
  (globalThis as { scheduler?: Scheduler }).scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));
