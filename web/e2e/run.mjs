// Runs the browser tests, one file at a time. The files in `waiting` run in the background meanwhile.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { run } from "node:test";
import { spec } from "node:test/reporters";

// These files mostly wait for timeouts, so they run at the same time as others. They measure no time, and change
// nothing that other files read.
const waiting = ["proxied.test.mjs"];
const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.mjs"));

// Runs the files, and adds the name of each file with a failed test to the set `failed`.
function start(names, failed) {
  const events = run({ files: names.map((name) => join(import.meta.dirname, name)), concurrency: 1 });
  events.on("test:fail", ({ file }) => failed.add(basename(file)));
  return events.compose(spec);
}

async function runAll(names) {
  const failed = new Set();
  const inBackground = names.filter((name) => waiting.includes(name));
  const report = inBackground.length > 0 ? text(start(inBackground, failed)) : "";
  const others = names.filter((name) => !waiting.includes(name));
  if (others.length > 0) for await (const part of start(others, failed)) process.stdout.write(part);
  process.stdout.write(await report);
  return [...failed];
}

// Other programs can delay a test of the page. Therefore, at most three files with a failed test run once more.
let failed = await runAll(files);
if (failed.length > 0 && failed.length <= 3) {
  process.stdout.write(`\nFailed in the first attempt: ${failed.join(", ")}. Second attempt:\n`);
  failed = await runAll(failed);
}
process.exitCode = failed.length > 0 ? 1 : 0;
