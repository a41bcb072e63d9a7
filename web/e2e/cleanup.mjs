// Runs cleanup functions in reverse order of registration, as t.Cleanup in Go. node:test uses the order of
// registration.

const ends = new WeakMap();

/** Registers a function that runs after test t, even if another registered function fails. */
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
