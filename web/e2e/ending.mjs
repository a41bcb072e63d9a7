// What a test began ends in the order that it began in, turned round, as
// t.Cleanup of Go does it: a page before the server that it shows. node:test
// ends in the order of the asking.

const ends = new WeakMap();

/** Runs when the test has ended, before what was asked for earlier; each runs, whatever fails. */
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
