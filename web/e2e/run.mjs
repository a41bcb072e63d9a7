// Runs the browser tests, several files at the same time: they mostly wait for the page and the cluster.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const parallel = 3; // files
// These files run before all others. hostile.test.mjs creates objects of all kinds, which other tests would find in
// their lists. proxied.test.mjs only waits for timeouts, and reads only its own objects.
const first = ["hostile.test.mjs", "proxied.test.mjs"];
// These files take longest, so they start before all files that are not in `first`.
const longest = ["accessibility.test.mjs", "window.test.mjs", "upgrade.test.mjs"];
const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.mjs"));

// Runs files, and returns those with a failed test.
async function runAll(files) {
  const failed = [];
  const events = run({ files: files.map((name) => join(import.meta.dirname, name)), concurrency: parallel });
  events.on("test:fail", ({ file }) => failed.push(basename(file)));
  for await (const part of events.compose(spec)) process.stdout.write(part);
  return failed;
}

const others = names.filter((name) => !first.includes(name) && !longest.includes(name));
let failed = [...new Set([...(await runAll(first)), ...(await runAll([...longest, ...others]))])];
// Other programs can delay a test of the page. Therefore, files with a failed test run once more, if there are at most
// five such files.
if (failed.length > 0 && failed.length <= 5) {
  process.stdout.write(`\nFailed in the first attempt: ${failed.join(", ")}. Second attempt:\n`);
  failed = await runAll(failed);
}
process.exitCode = failed.length > 0 ? 1 : 0;
