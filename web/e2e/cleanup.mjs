// Cleanup functions run in reverse order, as t.Cleanup does in Go: a page is closed before the server that it shows.
// node:test runs them in the order of registration.

const ends = new WeakMap();

/**
 * Registers a function to run after the test, before those registered earlier. Each function runs even if others fail.
 */
export function atEnd(t, run) {
  const known = ends.get(t);
  if (known !== undefined) return void known.push(run);
  const all = [run];
  ends.set(t, all);
  t.after(async () => {
    const failed = [];
    while (all.length > 0) {
      try {
        await all.pop()();
      } catch (err) {
        failed.push(err);
      }
    }
    if (failed.length === 1) throw failed[0];
    if (failed.length > 1) throw new AggregateError(failed, failed.map((err) => err.message).join("\n"));
  });
}
