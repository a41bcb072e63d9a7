import { isDeepStrictEqual } from "node:util";
import { setTimeout as pause } from "node:timers/promises";

/** Calls `probe` every 40 ms until it returns a truthy value. An exception counts as false. */
export async function until(what, probe, ms = 15_000) {
  const end = Date.now() + ms;
  let last;
  for (;;) {
    try {
      last = await probe();
      if (last) return last;
    } catch (err) {
      last = err;
    }
    if (Date.now() > end)
      throw new Error(
        `waited ${ms} ms for ${what}; the last result was ` +
          `${last instanceof Error ? last.message : JSON.stringify(last)}`,
      );
    await pause(40);
  }
}

/** Waits until the function `probe` returns a value that is deeply equal to `want`. */
export async function become(what, probe, want, ms = 15_000) {
  let got;
  try {
    await until(what, async () => isDeepStrictEqual((got = await probe()), want), ms);
  } catch (err) {
    throw new Error(`waited ${ms} ms for ${what} to be ${JSON.stringify(want)}; it is ${JSON.stringify(got)}`, {
      cause: err,
    });
  }
}

/** Throws if a promise is not settled after ms milliseconds. */
export async function within(what, ms, promise) {
  const stop = new AbortController();
  const late = pause(ms, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`${what} took longer than ${ms} ms`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}
