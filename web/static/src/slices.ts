// Long work a few milliseconds at a time, so that the page does meanwhile what
// else there is.

const slice = 8; // milliseconds: a frame has 16

export class Slices {
  private since = 0; // when the slice at hand began

  /** goes tells, after each rest, whether the work is still wanted. */
  constructor(
    private readonly goes: () => boolean,
    private readonly clock: () => number = () => performance.now(),
    private readonly pause: () => Promise<void> = pauseOfPage,
  ) {}

  /** Work begins. */
  begin(): void {
    this.since = this.clock();
  }

  /** Awaited between parts of the work; false ends it. */
  readonly rest = (): true | Promise<boolean> => {
    if (this.clock() - this.since < slice) return true;
    return this.pause().then(() => {
      this.since = this.clock();
      return this.goes();
    });
  };

  /** Does work that yields wherever it may rest; null where it is not wanted any more. */
  async run<T>(work: Generator<undefined, T>): Promise<T | null> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      const go = this.rest();
      if (go !== true && !(await go)) return null;
    }
  }
}

/** Does the same work without a rest. */
export function atOnce<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

interface Scheduler {
  yield?: () => Promise<void>;
}

// A timer waits longer where the page is hidden.
const pauseOfPage = (): Promise<void> => (globalThis as { scheduler?: Scheduler }).scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));
