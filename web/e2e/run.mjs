// Runs the browser tests, one file at a time. Files that mostly wait run at the same time as the first other files.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { run } from "node:test";
import { spec } from "node:test/reporters";

// These files mostly wait for timeouts, so they run at the same time as others. They measure no time, and change
// nothing that other files read.
const waiting = ["proxied.test.mjs"];
const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.mjs"));

function start(names) {
  const events = run({ files: names.map((name) => join(import.meta.dirname, name)), concurrency: 1 });
  events.on("test:fail", () => {
    process.exitCode = 1;
  });
  return events.compose(spec);
}

const report = text(start(files.filter((name) => waiting.includes(name))));
for await (const part of start(files.filter((name) => !waiting.includes(name)))) process.stdout.write(part);
process.stdout.write(await report);
