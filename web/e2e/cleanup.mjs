// Registers cleanup functions, which run in reverse order of registration like those of t.Cleanup in Go. A page is
// thus closed before its server. node:test itself runs cleanup functions in the order of registration.

const ends = new WeakMap();

/**
 * Registers a function to run after test t. The last registered function runs first. Each runs even if others fail.
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
